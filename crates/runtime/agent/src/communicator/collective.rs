//! One collective that this node's ranks have called, as the agent carries it out: from its ranks, over
//! the network, to its ranks.

use crate::exchange::run::{Combining, Instance, Sent};
use crate::exchange::schedule::{Key, Plans};
use crate::position::Position;
use bytes::Bytes;
use evenkeel_engine::across::agent_member::{Seat, Turn};
use evenkeel_engine::collective::call::{Combine, Kind};
use evenkeel_engine::reduction::kernels;
use evenkeel_schedule::Rank;
use evenkeel_schedule::algorithms::exscan::RESULT;
use evenkeel_spanning::PieceDescription as Description;
use evenkeel_spanning::exchange::{padded, without_padding};
use evenkeel_spanning::stages::{NodeInput, Stages, stages};

enum Stage {
    /// The ranks here have to hand in first.
    TakingIn,
    Exchanging(Instance),
    /// What has come of it is for the ranks here.
    Exchanged(Bytes),
    Done,
}

/// A message that came before the exchange had begun here: flag, turn, place, data.
pub type Early = (u32, u16, u32, Bytes);

pub struct Running {
    pub number: u64,
    pub description: Description,
    /// Of the one or two collectives among the ranks here: those that have been claimed so far.
    turns: Vec<Turn>,
    stage: Stage,
    early: Vec<Early>,
    before: Before,
}

/// Of a scan: what the nodes before this one have, which is all that the ranks here wait for. It is
/// handed out when it comes, whether or not they have handed in: who is late among them is above
/// somebody who is not to wait.
#[derive(Debug, PartialEq, Eq)]
enum Before {
    Awaited,
    Came(Bytes),
    /// Or there is nothing to hand out.
    HandedOut,
}

impl Running {
    pub fn new(number: u64, description: Description, early: Vec<Early>) -> Running {
        let mut running = Running {
            number,
            description,
            turns: Vec::new(),
            stage: Stage::TakingIn,
            early: Vec::new(),
            before: Before::Awaited,
        };
        if !running.scans() {
            running.before = Before::HandedOut;
        }
        early.iter().for_each(|(slot, _, _, data)| running.notice(*slot, data));
        Running { early, ..running }
    }

    fn scans(&self) -> bool {
        matches!(self.description.kind, Kind::Scan | Kind::Exscan)
    }

    /// Keeps what a scan's ranks wait for, when it comes.
    fn notice(&mut self, slot: u32, data: &Bytes) {
        if slot == RESULT.0 && self.before == Before::Awaited {
            self.before = Before::Came(data.clone());
        }
    }

    fn has_root_here(&self, position: &Position) -> bool {
        self.description.root.node as usize == position.me
    }

    fn stages(&self, position: &Position) -> Stages {
        stages(&self.description, position.of_node())
    }

    /// Claims its turns, in order; true when it has all. Until then no later collective may claim any.
    pub fn claim(&mut self, seat: &Seat, position: &Position) -> bool {
        let Stages { up, down, .. } = self.stages(position);
        while let Some(collective) = [up, down].into_iter().flatten().nth(self.turns.len()) {
            match seat.claim(collective) {
                Some(turn) => self.turns.push(turn),
                None => return false,
            }
        }
        true
    }

    pub fn is_done(&self) -> bool {
        matches!(self.stage, Stage::Done)
    }

    /// Whether other nodes are waited for.
    pub fn waits_for_others(&self, position: &Position) -> bool {
        matches!(self.stage, Stage::Exchanging(_)) || (self.before == Before::Awaited && position.me > 0)
    }

    /// Takes a message of another node in.
    pub fn take_in(&mut self, slot: u32, turn: u16, at: u32, data: Bytes) -> Result<(), String> {
        self.notice(slot, &data);
        match &mut self.stage {
            Stage::Exchanging(instance) => instance.take_in(slot, turn, at, data),
            Stage::TakingIn => {
                self.early.push((slot, turn, at, data));
                Ok(())
            }
            Stage::Exchanged(_) | Stage::Done => Ok(()),
        }
    }

    /// Moves on as far as possible; whether anything happened. Messages are for nodes by their position.
    pub fn advance(
        &mut self,
        seat: &Seat,
        position: &Position,
        plans: &mut Plans,
        send: impl FnMut(Sent<'_>),
    ) -> Result<bool, String> {
        let mut moved = self.hand_out_before(seat);
        if let Stage::TakingIn = self.stage {
            let Some(input) = self.input(seat, position) else { return Ok(moved) };
            self.begin(position, plans, input)?;
            moved = true;
        }
        moved |= self.go_on(position, send);
        if let Stage::Exchanged(output) = &mut self.stage {
            let output = std::mem::take(output);
            self.stage = Stage::Done;
            self.hand_out(seat, position, &output);
            moved = true;
        }
        Ok(moved)
    }

    /// Gives the ranks here what a scan has of the nodes before; whether it did.
    fn hand_out_before(&mut self, seat: &Seat) -> bool {
        if !matches!(self.before, Before::Came(_)) {
            return false;
        }
        let Before::Came(before) = std::mem::replace(&mut self.before, Before::HandedOut) else {
            unreachable!("just seen")
        };
        seat.hand_in(self.turns.last().expect("every collective has a turn"), &before);
        true
    }

    /// Moves on with what wants nothing of the ranks here, who need not have called it: a broadcast from
    /// another node. Whether anything happened.
    pub fn exchange(
        &mut self,
        position: &Position,
        plans: &mut Plans,
        send: impl FnMut(Sent<'_>),
    ) -> Result<bool, String> {
        if self.description.kind != Kind::Bcast || self.has_root_here(position) {
            return Ok(false);
        }
        let begins = matches!(self.stage, Stage::TakingIn);
        if begins {
            self.begin(position, plans, Vec::new())?;
        }
        Ok(self.go_on(position, send) || begins)
    }

    fn begin(&mut self, position: &Position, plans: &mut Plans, input: Vec<u8>) -> Result<(), String> {
        let mut instance = self.instance(position, plans, input);
        for (slot, turn, at, data) in std::mem::take(&mut self.early) {
            instance.take_in(slot, turn, at, data)?;
        }
        self.stage = Stage::Exchanging(instance);
        Ok(())
    }

    /// The exchange; true if it has come to its end.
    fn go_on(&mut self, position: &Position, mut send: impl FnMut(Sent<'_>)) -> bool {
        let (nodes, shift, is_bcast) = (position.nodes(), self.shift(), self.description.kind == Kind::Bcast);
        let Stage::Exchanging(instance) = &mut self.stage else { return false };
        let done = instance.advance(|sent| {
            send(Sent {
                to: ((sent.to as usize + shift) % nodes) as u32,
                passed_on: sent.passed_on && is_bcast,
                ..sent
            })
        });
        if done {
            let Stage::Exchanging(instance) = std::mem::replace(&mut self.stage, Stage::Done) else {
                unreachable!("just seen")
            };
            self.stage = Stage::Exchanged(instance.into_output());
        }
        done
    }

    /// What has come of the exchange, and is not handed out yet.
    #[cfg(test)]
    pub fn into_result(self) -> Option<Bytes> {
        if let Stage::Exchanged(output) = self.stage { Some(output) } else { None }
    }

    /// By how much the nodes' numbers are shifted in the schedule: a reduction's root is its node 0, so
    /// that what the root's agent does not have is what nobody sends.
    fn shift(&self) -> usize {
        if self.description.kind == Kind::Reduce { self.description.root.node as usize } else { 0 }
    }

    fn operator(&self) -> Option<(Combine, usize)> {
        kernels::numbered(self.description.operator)
    }

    fn instance(&self, position: &Position, plans: &mut Plans, input: Vec<u8>) -> Instance {
        let (exchange, operator, nodes) = (self.stages(position).exchange, self.operator(), position.nodes());
        let unit = operator.map_or(1, |(_, width)| width);
        let key = Key { kind: exchange.kind, root: exchange.root, elements: exchange.bytes / unit, unit };
        let combining = operator.map(|(combine, _)| Combining {
            combine,
            input_is_missing: exchange.kind == Kind::Reduce && exchange.input == NodeInput::Placeholder,
        });
        let me = (position.me + nodes - exchange.first_node) % nodes;
        Instance::new(plans.plan(key, nodes, position.share_cores), Rank(me as u32), unit, combining, input)
    }

    /// What this node brings into the exchange, once its ranks have handed it in.
    fn input(&self, seat: &Seat, position: &Position) -> Option<Vec<u8>> {
        let Stages { up, exchange, .. } = self.stages(position);
        match exchange.input {
            NodeInput::Contributions => {
                let turn = &self.turns[0];
                seat.is_ready(turn).then_some(())?;
                let contributed = seat.collect(turn, self.operator(), exchange.input_bytes);
                Some(padded(&self.description, position.of_node(), contributed, exchange.input_bytes))
            }
            NodeInput::Placeholder => {
                if up.is_some() {
                    seat.pass(&self.turns[0]);
                }
                Some(vec![0; exchange.input_bytes])
            }
            NodeInput::Nothing => Some(Vec::new()),
        }
    }

    /// Gives the ranks here what has come of the exchange; of a scan, that was when it came.
    fn hand_out(&self, seat: &Seat, position: &Position, output: &[u8]) {
        if self.stages(position).down.is_some() && !self.scans() {
            let last = self.turns.last().expect("every collective has a turn");
            seat.hand_in(last, &without_padding(&self.description, position.of_node(), output));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_spanning::{Location, NodeCounts};

    fn scan() -> Description {
        Description { kind: Kind::Scan, root: Location { node: 0, local_rank: 0 }, bytes: 8, operator: 4 }
    }

    /// What a scan's ranks wait for is there with the message, before they have handed in and before the
    /// collective has been called.
    #[test]
    fn a_scan_does_not_wait_for_its_own_ranks() {
        let position = Position { counts: NodeCounts::new(vec![2, 2, 2]), me: 1, share_cores: true };
        let came = Bytes::from_static(&[7; 8]);
        let mut running = Running::new(3, scan(), Vec::new());
        assert!(running.before == Before::Awaited && running.waits_for_others(&position));
        running.take_in(RESULT.0 + 2, 1, 0, Bytes::from_static(&[9; 8])).unwrap();
        assert_eq!(running.before, Before::Awaited, "a part of it is not the result");
        running.take_in(RESULT.0, 1, 0, came.clone()).unwrap();
        running.take_in(RESULT.0, 1, 0, Bytes::from_static(&[0; 8])).unwrap(); // twice
        assert_eq!(running.before, Before::Came(came.clone()));
        assert!(matches!(running.stage, Stage::TakingIn) && !running.waits_for_others(&position));
        let early = Running::new(3, scan(), vec![(RESULT.0, 1, 0, came.clone())]);
        assert_eq!(early.before, Before::Came(came));
        let other = Running::new(
            3,
            Description { kind: Kind::Allreduce, ..scan() },
            vec![(RESULT.0, 1, 0, Bytes::from_static(&[7; 8]))],
        );
        assert_eq!(other.before, Before::HandedOut, "only scans have such");
    }
}

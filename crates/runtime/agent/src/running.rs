//! One collective that this node's ranks have called, as the agent carries it out: from its ranks, over
//! the network, to its ranks.

use crate::choice::{Key, Plans};
use crate::instance::{Combining, Instance, Sent};
use crate::position::Position;
use bytes::Bytes;
use evenkeel_engine::across::description::Description;
use evenkeel_engine::across::seat::{Member, Seat, Turn};
use evenkeel_engine::collective::call::Kind;
use evenkeel_schedule::Rank;
use evenkeel_schedule::algorithms::exscan::RESULT;

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

/// A collective among the ranks here: kind, root, bytes that all know, bytes that the agent hands in.
type Wanted = (Kind, Member, usize, usize);

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

    fn root_here(&self, position: &Position) -> Option<usize> {
        let (node, seat) = self.description.root;
        (node as usize == position.me).then_some(seat as usize)
    }

    /// The collectives among the ranks here; the ranks' side is `operation` in [`evenkeel_engine::across`].
    fn wanted(&self, position: &Position) -> Vec<Wanted> {
        let bytes = self.description.bytes;
        let (here, ranks) = (position.here(), position.ranks());
        let (agent, root) = (Member::Agent, self.root_here(position).map(Member::Rank));
        match (self.description.kind, root) {
            (Kind::Barrier, _) => vec![(Kind::Gather, agent, 0, 0), (Kind::Bcast, agent, 0, 0)],
            (Kind::Bcast, Some(root)) => vec![(Kind::Bcast, root, bytes, 0)],
            (Kind::Bcast, None) => vec![(Kind::Bcast, agent, bytes, bytes)],
            (Kind::Reduce, Some(root)) => vec![(Kind::Reduce, root, bytes, bytes)],
            (Kind::Reduce, None) => vec![(Kind::Reduce, agent, bytes, 0)],
            (Kind::Allreduce, _) => vec![(Kind::Reduce, agent, bytes, 0), (Kind::Bcast, agent, bytes, bytes)],
            (Kind::ReduceScatterBlock, _) => {
                let block = bytes * position.most();
                vec![(Kind::Reduce, agent, block * position.nodes(), 0), (Kind::Bcast, agent, block, block)]
            }
            (kind @ (Kind::Scan | Kind::Exscan), _) => {
                let up = (kind, agent, bytes, 0);
                if position.me == 0 { vec![up] } else { vec![up, (Kind::Bcast, agent, bytes, bytes)] }
            }
            (Kind::Gather, Some(root)) => vec![(Kind::Gatherv, root, 0, bytes * (ranks - here))],
            (Kind::Gather, None) => vec![(Kind::Gather, agent, bytes, 0)],
            (Kind::Scatter, Some(root)) => vec![(Kind::Scatterv, root, 0, 0)],
            (Kind::Scatter, None) => vec![(Kind::Scatter, agent, bytes, bytes * (here + 1))],
            (Kind::Allgather, _) => {
                vec![(Kind::Gather, agent, bytes, 0), (Kind::Bcast, agent, bytes * ranks, bytes * ranks)]
            }
            (Kind::Allgatherv, _) => vec![
                (Kind::Gather, agent, 0, 0),
                (Kind::Bcast, agent, bytes * position.nodes(), bytes * position.nodes()),
            ],
            (Kind::Alltoall, _) => vec![
                (Kind::Gather, agent, bytes * ranks, 0),
                (Kind::Scatter, agent, bytes * ranks, bytes * ranks * (here + 1)),
            ],
            (other, _) => unreachable!("{other:?} is not taken"),
        }
    }

    /// Claims its turns, in order; true when it has all. Until then no later collective may claim any.
    pub fn claim(&mut self, seat: &Seat, position: &Position) -> bool {
        let wanted = self.wanted(position);
        while let Some((kind, root, bytes, handed_in)) = wanted.get(self.turns.len()).copied() {
            match seat.claim(kind, root, bytes, handed_in) {
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
        if self.description.kind != Kind::Bcast || self.root_here(position).is_some() {
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
        if self.description.kind == Kind::Reduce { self.description.root.0 as usize } else { 0 }
    }

    fn instance(&self, position: &Position, plans: &mut Plans, input: Vec<u8>) -> Instance {
        let Description { kind, root, bytes, .. } = self.description;
        let (most, nodes) = (position.most(), position.nodes());
        let operator = self.description.operator();
        let (elements, unit) = match kind {
            Kind::Barrier => (0, 1),
            Kind::Bcast | Kind::Allgatherv => (bytes, 1),
            Kind::Reduce | Kind::Allreduce | Kind::Scan | Kind::Exscan => {
                let width = operator.map_or(1, |(_, width)| width);
                (bytes / width, width)
            }
            Kind::ReduceScatterBlock => {
                let width = operator.map_or(1, |(_, width)| width);
                (bytes / width * most, width)
            }
            Kind::Alltoall => (bytes * most * most, 1),
            _ => (bytes * most, 1),
        };
        let rooted = matches!(kind, Kind::Bcast | Kind::Gather | Kind::Scatter);
        let key = Key { kind, root: if rooted { root.0 as usize } else { 0 }, elements, unit };
        let combining = operator.map(|(combine, _)| Combining {
            combine,
            input_is_missing: kind == Kind::Reduce && self.root_here(position).is_some(),
        });
        let me = (position.me + nodes - self.shift()) % nodes;
        Instance::new(plans.plan(key, nodes, position.share_cores), Rank(me as u32), unit, combining, input)
    }

    /// What this node brings into the exchange, once its ranks have handed it in.
    fn input(&self, seat: &Seat, position: &Position) -> Option<Vec<u8>> {
        let Description { kind, bytes, .. } = self.description;
        let (here, ranks, most, nodes) =
            (position.here(), position.ranks(), position.most(), position.nodes());
        let first = &self.turns[0];
        let full = || seat.is_full(first).then_some(());
        match (kind, self.root_here(position)) {
            (Kind::Barrier, _) => {
                full()?;
                seat.take_all(first, 0, &mut []);
                Some(Vec::new())
            }
            (Kind::Bcast, Some(root)) => {
                seat.has_from(first, root).then(|| seat.take_broadcast(first, root, bytes))
            }
            (Kind::Bcast | Kind::Scatter, None) => Some(Vec::new()),
            // Its ranks' part goes to the root without the agent.
            (Kind::Reduce, Some(_)) => Some(vec![0; bytes]),
            (Kind::Gather, Some(_)) => Some(vec![0; bytes * most]),
            (Kind::Reduce, None) | (Kind::Allreduce | Kind::ReduceScatterBlock, _) => {
                full()?;
                let (combine, width) =
                    self.description.operator().expect("reductions have an operator that all know");
                let mut input =
                    vec![0; if kind == Kind::ReduceScatterBlock { bytes * most * nodes } else { bytes }];
                seat.take_combined(first, combine, width, &mut input);
                Some(input)
            }
            // Nobody waits for the last node.
            (Kind::Scan | Kind::Exscan, _) if position.me + 1 == nodes => {
                seat.pass(first);
                Some(vec![0; bytes])
            }
            (Kind::Scan | Kind::Exscan, _) => {
                (0..here).all(|rank| seat.has_from(first, rank)).then_some(())?;
                let (combine, width) =
                    self.description.operator().expect("scans have an operator that all know");
                let mut input = vec![0; bytes];
                seat.take_combined(first, combine, width, &mut input);
                Some(input)
            }
            (Kind::Gather, None) | (Kind::Allgather, _) => {
                full()?;
                let mut input = vec![0; bytes * most];
                seat.take_all(first, bytes, &mut input[..bytes * here]);
                Some(input)
            }
            (Kind::Allgatherv, _) => {
                full()?;
                let mut input = vec![0; bytes];
                seat.take_each(first, &mut input);
                Some(input)
            }
            (Kind::Scatter, Some(root)) => {
                seat.has_from(first, root).then_some(())?;
                let mut packed = vec![0; bytes * (ranks - here)];
                seat.take_part(first, root, &mut packed);
                let mut input = vec![0; bytes * most * nodes];
                let mut from = 0;
                for node in (0..nodes).filter(|node| *node != position.me) {
                    let length = bytes * position.counts[node];
                    input[node * bytes * most..][..length].copy_from_slice(&packed[from..from + length]);
                    from += length;
                }
                Some(input)
            }
            (Kind::Alltoall, _) => {
                full()?;
                let row = bytes * ranks;
                let mut rows = vec![0; row * here];
                seat.take_all(first, row, &mut rows);
                let mut input = vec![0; bytes * most * most * nodes];
                for node in 0..nodes {
                    for rank in 0..here {
                        let length = bytes * position.counts[node];
                        let from = rank * row + bytes * position.start(node);
                        input[bytes * most * (node * most + rank)..][..length]
                            .copy_from_slice(&rows[from..from + length]);
                    }
                }
                Some(input)
            }
            (other, _) => unreachable!("{other:?} is not taken"),
        }
    }

    /// Gives the ranks here what has come of the exchange.
    fn hand_out(&self, seat: &Seat, position: &Position, output: &[u8]) {
        let Description { kind, bytes, .. } = self.description;
        let (here, ranks, most, nodes) =
            (position.here(), position.ranks(), position.most(), position.nodes());
        let last = self.turns.last().expect("every collective has a turn");
        let packed = |nodes: &mut dyn Iterator<Item = usize>| -> Vec<u8> {
            nodes
                .flat_map(|node| {
                    output[node * bytes * most..][..bytes * position.counts[node]].iter().copied()
                })
                .collect()
        };
        match (kind, self.root_here(position)) {
            (Kind::Bcast | Kind::Scatter, Some(_)) | (Kind::Reduce | Kind::Gather, None) => {}
            // That was when it came.
            (Kind::Scan | Kind::Exscan, _) => {}
            (Kind::Barrier, _) => seat.hand_in(last, &[]),
            (Kind::Bcast, None)
            | (Kind::Reduce, Some(_))
            | (Kind::Allreduce | Kind::ReduceScatterBlock | Kind::Allgatherv, _) => {
                seat.hand_in(last, output)
            }
            (Kind::Gather, Some(_)) => {
                seat.hand_in(last, &packed(&mut (0..nodes).filter(|node| *node != position.me)))
            }
            (Kind::Allgather, _) => seat.hand_in(last, &packed(&mut (0..nodes))),
            (Kind::Scatter, None) => {
                let mut blocks = output[..bytes * here].to_vec();
                blocks.resize(bytes * (here + 1), 0); // one for the agent, which all scatters have
                seat.hand_in(last, &blocks);
            }
            (Kind::Alltoall, _) => {
                let row = bytes * ranks;
                let mut rows = vec![0; row * (here + 1)];
                for node in 0..nodes {
                    for from in 0..position.counts[node] {
                        for to in 0..here {
                            let block = &output[bytes * ((node * most + from) * most + to)..][..bytes];
                            rows[to * row + bytes * (position.start(node) + from)..][..bytes]
                                .copy_from_slice(block);
                        }
                    }
                }
                seat.hand_in(last, &rows);
            }
            (other, _) => unreachable!("{other:?} is not taken"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan() -> Description {
        Description { kind: Kind::Scan, root: (0, 0), bytes: 8, operator: 4 }
    }

    /// What a scan's ranks wait for is there with the message, before they have handed in and before the
    /// collective has been called.
    #[test]
    fn a_scan_does_not_wait_for_its_own_ranks() {
        let position = Position { counts: vec![2, 2, 2], me: 1, share_cores: true };
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

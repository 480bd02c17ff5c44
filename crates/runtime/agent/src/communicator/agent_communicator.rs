//! A communicator's part on this node, with all that the agent does for it.

use crate::communicator::call_stream::Lane;
use crate::communicator::global_minimum::{Told, Watermark, Way};
use crate::exchange::run::Sent;
use crate::message::{Head, Message, What, described};
use crate::position::Position;
use bytes::Bytes;
use evenkeel_engine::across::agent_member::Seat;
use evenkeel_engine::across::commands::NewComm;
use evenkeel_engine::job::node::World;
use evenkeel_fabric::NodeId;
use evenkeel_spanning::NodeCounts;

pub struct Party {
    pub id: u64,
    job: u64,
    /// The job's node at each position.
    pub nodes: Vec<NodeId>,
    position: Position,
    lanes: [Lane; 2],
    barriers: Watermark,
    /// Ranks here that have not freed it.
    attached: usize,
}

/// What is to be sent: to which node, and the message.
pub type Letter = (NodeId, Message);

impl Party {
    /// `share_cores`: whether "nodes" are virtual hosts of one machine. None: there is no room for it.
    pub fn new(world: &'static World, told: &NewComm, job: u64, share_cores: bool) -> Option<Party> {
        let [blocking, nonblocking] = Seat::take(world, told)?;
        let (me, nodes) = (told.mine as usize, told.nodes.len());
        let way = if share_cores && nodes > 2 { Way::Tree } else { Way::Dissemination };
        Some(Party {
            id: told.id,
            job,
            nodes: told.nodes.iter().map(|(node, _)| NodeId(*node)).collect(),
            position: Position {
                counts: NodeCounts::new(told.nodes.iter().map(|(_, count)| *count).collect()),
                me,
                share_cores,
            },
            lanes: [blocking, nonblocking].map(|seat| Lane::new(seat, Watermark::new(me, nodes, way))),
            barriers: Watermark::new(me, nodes, way),
            attached: told.members.len(),
        })
    }

    /// Moves everything on; whether anything happened.
    pub fn advance(&mut self, letters: &mut Vec<Letter>) -> Result<bool, String> {
        let before = letters.len();
        let mut moved = false;
        let (id, nodes, job) = (self.id, &self.nodes, self.job);
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            let head = Head { comm: id, lane: number as u8, ..Head::new(job, What::Step) };
            let mut told = Vec::new();
            moved |= lane.advance(
                &self.position,
                |number, description, sent: Sent<'_>| {
                    let head = Head { number, slot: sent.slot, turn: sent.turn, at: sent.at, ..head };
                    let message = if sent.passed_on {
                        head.with_described(description, sent.data)
                    } else {
                        head.with(sent.data)
                    };
                    letters.push((nodes[sent.to as usize], message));
                },
                |how_far| told.push(how_far),
            )?;
            letters
                .extend(told.into_iter().map(|told| letter(Head { what: What::Taken, ..head }, nodes, told)));
        }
        let entered = self.lanes[0].seat.entered_here();
        let known = self.barriers.all();
        let head = Head { comm: id, ..Head::new(job, What::Barriers) };
        self.barriers.enter(entered, |told| letters.push(letter(head, nodes, told)));
        self.tell_barriers(known);
        Ok(moved || letters.len() > before || self.barriers.all() > known)
    }

    /// Tells the ranks here of barriers that everybody has entered.
    fn tell_barriers(&self, known: u64) {
        if self.barriers.all() > known {
            self.lanes[0].seat.enter_barriers(self.barriers.all());
        }
    }

    /// Takes a message of another node in.
    pub fn take_in(
        &mut self,
        from: NodeId,
        head: &Head,
        data: Bytes,
        letters: &mut Vec<Letter>,
    ) -> Result<(), String> {
        match head.what {
            What::Barriers | What::Taken => {
                let Some(from) = self.nodes.iter().position(|node| *node == from) else { return Ok(()) };
                let (known, nodes) = (self.barriers.all(), &self.nodes);
                let tell = |told| letters.push(letter(*head, nodes, told));
                if head.what == What::Barriers {
                    self.barriers.hear(from, head.slot, head.number, tell);
                    self.tell_barriers(known);
                } else {
                    self.lanes[usize::from(head.lane)].hear(
                        from,
                        Told { to: 0, slot: head.slot, count: head.number },
                        tell,
                    );
                }
                Ok(())
            }
            What::Revoked => {
                self.lanes[0].seat.revoke();
                Ok(())
            }
            What::Forward => {
                let (description, data) = described(&data).ok_or(
                    "another node has sent a part of it knows not what: do all nodes have the same evenkeel?",
                )?;
                self.lanes[usize::from(head.lane)].take_in(
                    head.number,
                    Some(description),
                    (head.slot, head.turn, head.at, data),
                    &self.position,
                )
            }
            _ => self.lanes[usize::from(head.lane)].take_in(
                head.number,
                None,
                (head.slot, head.turn, head.at, data),
                &self.position,
            ),
        }
    }

    /// A rank here has freed it.
    pub fn detach(&mut self) {
        self.attached -= 1;
    }

    /// The ranks here are through with it, and the agent too.
    pub fn is_over(&self) -> bool {
        self.attached == 0 && self.is_idle()
    }

    pub fn is_idle(&self) -> bool {
        self.lanes.iter().all(Lane::is_idle)
    }

    pub fn waits_for_others(&self) -> bool {
        self.barriers.waits() || self.lanes.iter().any(|lane| lane.waits_for_others(&self.position))
    }

    /// Says to the other nodes, and the ranks here, that it has been revoked.
    pub fn revoke(&self, letters: &mut Vec<Letter>) {
        self.lanes[0].seat.revoke();
        let head = Head { comm: self.id, ..Head::new(self.job, What::Revoked) };
        let others = self.nodes.iter().enumerate().filter(|(position, _)| *position != self.position.me);
        letters.extend(others.map(|(_, node)| (*node, head.alone())));
    }

    /// Wakes the ranks here that sleep for what has been done; to be called when everything for other nodes
    /// has been sent.
    pub fn announce(&self) {
        self.lanes.iter().for_each(|lane| lane.seat.announce());
    }

    pub fn give_up(self) {
        self.lanes.into_iter().for_each(|lane| lane.seat.give_up());
    }
}

fn letter(head: Head, nodes: &[NodeId], told: Told) -> Letter {
    (nodes[told.to], Head { slot: told.slot, number: told.count, ..head }.alone())
}

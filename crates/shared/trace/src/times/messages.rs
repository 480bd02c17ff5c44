//! Which receive took which message.
//!
//! MPI says that messages do not overtake each other: of those with the same communicator, sender, receiver
//! and tag, the k-th that was sent is taken by the k-th of the receives that took one of them, in the order
//! in which these were posted. ("Why this is enough" in docs/src/decisions/replay.md proves it.)

use super::communicators::Communicators;
use super::file::{Remark, Times};
use super::shape::{Envelope, FAILED, Role};
use std::collections::HashMap;

/// A call of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The rank.
    pub rank: u32,
    /// Which of its calls.
    pub call: u32,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The call that has sent it, or has started to.
    pub sent: Place,
    /// The call in which the receiver learned that it had come.
    pub taken: Place,
}

/// Communicator, sender and receiver (world ranks), tag.
type Class = (u32, i32, i32, i32);

/// The messages of one class.
#[derive(Default)]
struct Queue {
    sent: Vec<Place>,
    /// With the order of posting.
    taken: Vec<(u64, Place)>,
}

/// All messages that were sent and taken, class by class. `ranks` are those of a whole run, in order.
pub fn messages(ranks: &[Times], communicators: &Communicators) -> Vec<Message> {
    let mut queues: HashMap<Class, Queue> = HashMap::new();
    for (rank, times) in ranks.iter().enumerate() {
        Reading { rank, times, communicators, queues: &mut queues, posted: Vec::new(), order: 0 }.read();
    }
    let mut classes: Vec<_> = queues.into_iter().collect();
    classes.sort_by_key(|(class, _)| *class);
    let mut messages = Vec::new();
    for (_, mut queue) in classes {
        queue.taken.sort_by_key(|(order, _)| *order);
        let pairs = queue.sent.iter().zip(&queue.taken);
        messages.extend(pairs.map(|(&sent, &(_, taken))| Message { sent, taken }));
    }
    messages
}

/// The calls of one rank.
struct Reading<'a> {
    rank: usize,
    times: &'a Times,
    communicators: &'a Communicators,
    queues: &'a mut HashMap<Class, Queue>,
    /// Of each posted receive: its communicator, and its place in the order of all receives.
    posted: Vec<(Option<u32>, u64)>,
    order: u64,
}

impl Reading<'_> {
    fn read(&mut self) {
        for (number, call) in self.times.calls.iter().enumerate() {
            let place = Place { rank: self.rank as u32, call: number as u32 };
            for remark in self.times.remarks_of(number) {
                match remark {
                    Remark::Took(receive, message) => {
                        if let Some(&(comm, order)) = self.posted.get(*receive as usize) {
                            self.taken(comm, message, order, place);
                        }
                    }
                    Remark::StartedSend(comm, message) => self.sent(Some(*comm), message, place),
                    Remark::Posted(comm, _) => self.post(Some(*comm)),
                }
            }
            let shape = self.times.shape(call);
            if shape.marks & FAILED != 0 {
                continue;
            }
            if shape.role.sends() {
                self.sent(shape.comm, &shape.first, place);
            }
            match (shape.role, shape.received()) {
                (Role::Receive | Role::SendReceive, Some(message)) => {
                    self.order += 1;
                    self.taken(shape.comm, message, self.order, place);
                }
                (Role::Post | Role::SendPost, _) => self.post(shape.comm),
                _ => {}
            }
        }
    }

    fn post(&mut self, comm: Option<u32>) {
        self.order += 1;
        self.posted.push((comm, self.order));
    }

    /// The world rank of a peer; `None` if there is none, or in another world.
    fn world_rank(&self, comm: u32, peer: i32) -> Option<i32> {
        let comm = &self.times.comms[comm as usize];
        let group = if comm.remote.is_empty() { &comm.members } else { &comm.remote };
        let rank = *group.get(usize::try_from(peer).ok()?)?;
        (rank >= 0).then_some(rank)
    }

    fn queue(&mut self, comm: Option<u32>, message: &Envelope, sends: bool) -> Option<&mut Queue> {
        let comm = comm?;
        let peer = self.world_rank(comm, message.peer)?;
        let own = self.rank as i32;
        let (from, to) = if sends { (own, peer) } else { (peer, own) };
        let class = (self.communicators.number(self.rank, comm), from, to, message.tag);
        Some(self.queues.entry(class).or_default())
    }

    fn sent(&mut self, comm: Option<u32>, message: &Envelope, place: Place) {
        if let Some(queue) = self.queue(comm, message, true) {
            queue.sent.push(place);
        }
    }

    fn taken(&mut self, comm: Option<u32>, message: &Envelope, order: u64, place: Place) {
        if let Some(queue) = self.queue(comm, message, false) {
            queue.taken.push((order, place));
        }
    }
}

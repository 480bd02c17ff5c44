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
    /// The call that has posted its receive: a blocking receive is both this and `taken`.
    pub posted: Place,
    /// The call in which the receiver learned that it had come.
    pub taken: Place,
    /// Its length, as its sender said, as far as this number goes; [`NO_BYTES`]: not known.
    pub bytes: u32,
}

/// The length of a message is not known.
pub const NO_BYTES: u32 = u32::MAX;

/// Communicator, sender and receiver (world ranks), tag.
type Class = (u32, i32, i32, i32);

/// A receive that took a message.
struct Taken {
    /// Its place in the order of posting.
    order: u32,
    /// The calls that posted it and that took the message.
    posted: u32,
    taken: u32,
}

/// The messages of one class.
#[derive(Default)]
struct Queue {
    /// The call, and the bytes.
    sent: Vec<(u32, u32)>,
    taken: Vec<Taken>,
}

/// Pairs messages of ranks that are read one after the other, so that their calls need not all be in memory.
#[derive(Default)]
pub struct Matching {
    queues: HashMap<Class, Queue>,
}

impl Matching {
    /// Reads the calls of a rank. `communicators` must know those of this rank.
    pub fn read(&mut self, rank: usize, times: &Times, communicators: &Communicators) {
        let queues = &mut self.queues;
        Reading { rank, times, communicators, queues, posted: Vec::new(), order: 0 }.read();
    }

    /// How many messages there are.
    pub fn count(&self) -> usize {
        self.queues.values().map(|queue| queue.sent.len().min(queue.taken.len())).sum()
    }

    /// Hands out all messages that were sent and taken, class by class.
    pub fn pairs(self, mut each: impl FnMut(Message)) {
        let mut classes: Vec<_> = self.queues.into_iter().collect();
        classes.sort_by_key(|(class, _)| *class);
        for ((_, from, to, _), mut queue) in classes {
            queue.taken.sort_by_key(|receive| receive.order);
            for (&(sent, bytes), receive) in queue.sent.iter().zip(&queue.taken) {
                let at = |rank: i32, call: u32| Place { rank: rank as u32, call };
                let (posted, taken) = (at(to, receive.posted), at(to, receive.taken));
                each(Message { sent: at(from, sent), posted, taken, bytes });
            }
        }
    }
}

/// All messages that were sent and taken, class by class. `ranks` are those of a whole run, in order.
pub fn messages(ranks: &[Times], communicators: &Communicators) -> Vec<Message> {
    let mut matching = Matching::default();
    for (rank, times) in ranks.iter().enumerate() {
        matching.read(rank, times, communicators);
    }
    let mut messages = Vec::with_capacity(matching.count());
    matching.pairs(|message| messages.push(message));
    messages
}

/// The calls of one rank.
struct Reading<'a> {
    rank: usize,
    times: &'a Times,
    communicators: &'a Communicators,
    queues: &'a mut HashMap<Class, Queue>,
    /// Of each posted receive: its communicator, its place in the order of all receives, and the call.
    posted: Vec<(Option<u32>, u32, u32)>,
    order: u32,
}

impl Reading<'_> {
    fn read(&mut self) {
        for (number, call) in self.times.calls.iter().enumerate() {
            let place = number as u32;
            for remark in self.times.remarks_of(number) {
                match remark {
                    Remark::Took(receive, message) => {
                        if let Some(&(comm, order, posted)) = self.posted.get(*receive as usize) {
                            self.taken(comm, message, Taken { order, posted, taken: place });
                        }
                    }
                    Remark::StartedSend(comm, message) => self.sent(Some(*comm), message, place),
                    Remark::Posted(comm, _) => self.post(Some(*comm), place),
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
                    let receive = Taken { order: self.order, posted: place, taken: place };
                    self.taken(shape.comm, message, receive);
                }
                (Role::Post | Role::SendPost, _) => self.post(shape.comm, place),
                _ => {}
            }
        }
    }

    fn post(&mut self, comm: Option<u32>, call: u32) {
        self.order += 1;
        self.posted.push((comm, self.order, call));
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

    fn sent(&mut self, comm: Option<u32>, message: &Envelope, call: u32) {
        if let Some(queue) = self.queue(comm, message, true) {
            let bytes = message.bytes.map_or(NO_BYTES, |bytes| bytes.min(u64::from(NO_BYTES - 1)) as u32);
            queue.sent.push((call, bytes));
        }
    }

    fn taken(&mut self, comm: Option<u32>, message: &Envelope, receive: Taken) {
        if let Some(queue) = self.queue(comm, message, false) {
            queue.taken.push(receive);
        }
    }
}

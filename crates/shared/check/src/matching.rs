//! Which receive took which message.
//!
//! MPI says that messages do not overtake each other: of those with the same communicator, sender, receiver
//! and tag, the k-th that was sent is taken by the k-th of the receives that took one of them, in the order
//! in which these were posted. ("Why this is enough" in docs/src/decisions/replay.md proves it.) By the same
//! rules receives that name source and tag, and have not got their message yet, get the next ones.

use crate::communicators::Communicators;
use crate::history::{History, Receive};
use std::collections::{HashMap, HashSet};

/// Communicator, sender, receiver, tag.
type Class = (u32, u32, u32, i32);

/// No partner.
pub const NO_PARTNER: u32 = u32::MAX;

/// Partners of sends and receives.
#[derive(Clone, Debug, Default)]
pub struct Matching {
    /// By rank and send: the receiver's receive; [`NO_PARTNER`]: none is known.
    pub of_sends: Vec<Vec<u32>>,
    /// By rank and receive: the sender's send.
    pub of_receives: Vec<Vec<u32>>,
    /// By rank and receive that is not complete: which message it gets cannot be said.
    pub is_open: Vec<Vec<bool>>,
    /// Communicators and receivers whose messages cannot be paired.
    pub vague: HashSet<(u32, u32)>,
}

#[derive(Default)]
struct Queue {
    sends: Vec<u32>,
    receives: Vec<u32>,
}

/// Whether a call that has failed had room for less than this, so that it has taken the message and failed.
fn was_truncated(receive: &Receive, bytes: Option<u64>) -> bool {
    let room = receive.data.and_then(|data| data.bytes());
    matches!((room, bytes), (Some(room), Some(bytes)) if bytes > room)
}

impl Matching {
    /// Pairs the messages of a run.
    pub fn new(ranks: &[History], communicators: &Communicators) -> Matching {
        let mut queues: HashMap<Class, Queue> = HashMap::new();
        let mut matching = Matching {
            of_sends: ranks.iter().map(|h| vec![NO_PARTNER; h.sends.len()]).collect(),
            of_receives: ranks.iter().map(|h| vec![NO_PARTNER; h.receives.len()]).collect(),
            is_open: ranks.iter().map(|h| vec![false; h.receives.len()]).collect(),
            vague: HashSet::new(),
        };
        for history in ranks {
            let of = |&(comm, dest): &(u32, u32)| (communicators.number(history.rank, comm), dest);
            matching.vague.extend(history.vague.iter().map(of));
        }
        for history in ranks {
            for (number, send) in history.sends.iter().enumerate().filter(|(_, send)| !send.is_cancelled) {
                let comm = communicators.number(history.rank, send.comm);
                let class = (comm, history.rank, send.dest, send.tag);
                queues.entry(class).or_default().sends.push(number as u32);
            }
            matching.receives_of(history, communicators, &mut queues);
        }
        for ((comm, sender, receiver, _), queue) in queues {
            if matching.vague.contains(&(comm, receiver)) {
                continue;
            }
            let (sender, receiver) = (sender as usize, receiver as usize);
            let mut sends = queue.sends.iter().copied().peekable();
            for number in queue.receives {
                let receive = &ranks[receiver].receives[number as usize];
                let Some(&send) = sends.peek() else { break };
                let bytes = ranks.get(sender).and_then(|h| h.sends[send as usize].data.bytes());
                if receive.is_ignored && !was_truncated(receive, bytes) {
                    continue; // it has failed, and has taken nothing
                }
                sends.next();
                matching.of_sends[sender][send as usize] = number;
                matching.of_receives[receiver][number as usize] = send;
            }
        }
        matching
    }

    fn receives_of(
        &mut self,
        history: &History,
        communicators: &Communicators,
        queues: &mut HashMap<Class, Queue>,
    ) {
        // Communicators on which a receive of anything has not got its message yet.
        let mut open: HashMap<u32, ()> = HashMap::new();
        for (number, receive) in history.receives.iter().enumerate() {
            let has_failed = receive.completed.is_some() && receive.is_ignored;
            let is_cancelled = has_failed && !history.calls[receive.call as usize].has_failed;
            if is_cancelled {
                continue;
            }
            let is_complete = receive.completed.is_some() && !has_failed;
            if !is_complete {
                let is_wild = receive.source.is_none() || receive.tag.is_none();
                if is_wild || open.contains_key(&receive.comm) {
                    self.is_open[history.rank as usize][number] = true;
                    if !has_failed {
                        open.insert(receive.comm, ());
                    }
                    continue;
                }
            }
            let (Some(source), Some(tag)) = (receive.source, receive.tag) else { continue };
            let comm = communicators.number(history.rank, receive.comm);
            let class = (comm, source, history.rank, tag);
            queues.entry(class).or_default().receives.push(number as u32);
        }
    }
}

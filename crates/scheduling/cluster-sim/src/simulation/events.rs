//! What happens next. May use: std.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What happens. Events with a version are void if that of their subject has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A job is submitted.
    Arrival(u32),
    /// A quantum begins.
    Boundary,
    /// A gang has done its work.
    GangDone { job: u32, version: u32 },
    /// The classes of a gang's ranks change.
    GangLoosens { job: u32, version: u32 },
    /// The rank on a core has computed or spun long enough, or has had its share.
    Core { core: u32, version: u32 },
    /// A rank gets the message that it waits for.
    Message(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    time_ns: u64,
    number: u64,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        // The heap has its greatest entry on top: the earliest time, then the first that was added.
        (other.time_ns, other.number).cmp(&(self.time_ns, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Events in the order of time; those of equal times in the order in which they were added.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Entry>,
    added: u64,
}

impl EventQueue {
    /// Adds an event.
    pub fn push(&mut self, time_ns: u64, event: Event) {
        self.heap.push(Entry { time_ns, number: self.added, event });
        self.added += 1;
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(u64, Event)> {
        self.heap.pop().map(|entry| (entry.time_ns, entry.event))
    }
}

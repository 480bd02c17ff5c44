//! Which receive took which message, in 24 bytes each.

use crate::place::Place;
use crate::search::gallop;
pub use evenkeel_trace::times::messages::NO_BYTES;
use std::ops::Range;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The call that has sent it, or has started to.
    pub sent: Place,
    /// The call that has taken it.
    pub taken: Place,
    /// The call of the same lane that has posted its receive; [`OTHER_LANE`]: one of another thread.
    pub posted: u32,
    /// Its length; [`NO_BYTES`]: not known. What is longer than this number says is shown as this long.
    pub bytes: u32,
}

/// Another thread has posted the receive.
pub const OTHER_LANE: u32 = u32::MAX;
impl Message {
    /// The call that has posted the receive.
    pub fn posted(&self) -> Option<Place> {
        (self.posted != OTHER_LANE).then_some(Place { lane: self.taken.lane, call: self.posted })
    }

    /// Its length, if it is known.
    pub fn length(&self) -> Option<u64> {
        (self.bytes != NO_BYTES).then_some(self.bytes.into())
    }
}

/// All messages of a run.
#[derive(Clone, Debug, Default)]
pub struct Messages {
    /// In the order of the calls that took them.
    pub all: Vec<Message>,
    /// Where those of each lane begin; one more than there are lanes.
    taken: Vec<u32>,
    /// Numbers of messages in the order of the calls that sent them.
    by_sender: Vec<u32>,
    /// Where those of each lane begin.
    sent: Vec<u32>,
}

impl Messages {
    /// Sorts them.
    pub fn new(mut all: Vec<Message>, lanes: usize) -> Messages {
        all.sort_unstable_by_key(|message| (message.taken, message.sent));
        let mut by_sender: Vec<u32> = (0..all.len() as u32).collect();
        by_sender.sort_unstable_by_key(|&number| (all[number as usize].sent, number));
        let begins = |lane_of: &dyn Fn(usize) -> u32| {
            let mut begins = vec![0; lanes + 1];
            for number in 0..all.len() {
                begins[lane_of(number) as usize + 1] += 1;
            }
            for lane in 0..lanes {
                begins[lane + 1] += begins[lane];
            }
            begins
        };
        let taken = begins(&|number| all[number].taken.lane);
        let sent = begins(&|number| all[by_sender[number] as usize].sent.lane);
        Messages { all, taken, by_sender, sent }
    }

    /// The range of those that these calls of a lane took, in [`Messages::all`].
    pub fn taken_range(&self, lane: u32, calls: Range<u32>) -> Range<usize> {
        let lane = lane as usize;
        let (first, last) = (self.taken[lane] as usize, self.taken[lane + 1] as usize);
        let mine = &self.all[first..last];
        let at = |call: u32| first + mine.partition_point(|message| message.taken.call < call);
        at(calls.start)..at(calls.end)
    }

    /// Where the messages that a lane took with this call or a later one begin, in [`Messages::all`]; they do
    /// not begin before `known`, which is an answer for an earlier call, or 0.
    pub fn taken_from(&self, lane: u32, call: u32, known: usize) -> usize {
        let lane = lane as usize;
        let (first, last) = (self.taken[lane] as usize, self.taken[lane + 1] as usize);
        gallop(&self.all[..last], known.max(first), |message| message.taken.call < call)
    }

    /// Those that these calls of a lane took.
    pub fn taken(&self, lane: u32, calls: Range<u32>) -> &[Message] {
        &self.all[self.taken_range(lane, calls)]
    }

    /// Those that these calls of a lane sent.
    pub fn sent(&self, lane: u32, calls: Range<u32>) -> impl Iterator<Item = &Message> {
        let lane = lane as usize;
        let (first, last) = (self.sent[lane] as usize, self.sent[lane + 1] as usize);
        let mine = &self.by_sender[first..last];
        let at = |call: u32| mine.partition_point(|&number| self.all[number as usize].sent.call < call);
        let range = at(calls.start)..at(calls.end).max(at(calls.start));
        mine[range].iter().map(|&number| &self.all[number as usize])
    }
}

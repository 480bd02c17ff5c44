//! Where the calls of two runs differ first.
//!
//! Polls that found nothing (`MPI_Test`, `MPI_Iprobe`) are left out: how many there are depends on time.

use crate::run::{Place, Run};
use evenkeel_trace::times::shape::{Envelope, FAILED, NO_TAG, Role};

/// The first difference of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The rank, and its thread.
    pub rank: u32,
    /// Its thread.
    pub thread: u32,
    /// How many calls are the same before it.
    pub same: u64,
    /// The call in the first run; `None`: there are no more.
    pub one: Option<Place>,
    /// The call in the second run.
    pub other: Option<Place>,
}

/// The first difference of each rank that has one. Ranks that only one run has differ at their first call.
pub fn differences(one: &Run, other: &Run) -> Vec<Difference> {
    let key = |run: &Run, lane: usize| (run.lanes[lane].rank, run.lanes[lane].thread);
    let lanes = |run: &Run| -> Vec<((u32, u32), u32)> {
        (0..run.lanes.len()).map(|lane| (key(run, lane), lane as u32)).collect()
    };
    let (ours, theirs) = (lanes(one), lanes(other));
    let mut all: Vec<(u32, u32)> = ours.iter().chain(&theirs).map(|it| it.0).collect();
    all.sort_unstable();
    all.dedup();
    let found =
        |lanes: &[((u32, u32), u32)], key: (u32, u32)| lanes.iter().find(|it| it.0 == key).map(|it| it.1);
    let first = |key: (u32, u32)| {
        let mut calls = Relevant::new(one, found(&ours, key));
        let mut others = Relevant::new(other, found(&theirs, key));
        let mut same = 0;
        loop {
            match (calls.next(), others.next()) {
                (None, None) => return None,
                (Some(a), Some(b)) if is_same(one, a, other, b) => same += 1,
                (one, other) => return Some(Difference { rank: key.0, thread: key.1, same, one, other }),
            }
        }
    };
    all.into_iter().filter_map(first).collect()
}

/// The calls of a lane that are compared.
struct Relevant<'a> {
    run: &'a Run,
    lane: Option<u32>,
    next: u32,
}

impl<'a> Relevant<'a> {
    fn new(run: &'a Run, lane: Option<u32>) -> Relevant<'a> {
        Relevant { run, lane, next: 0 }
    }
}

impl Iterator for Relevant<'_> {
    type Item = Place;

    fn next(&mut self) -> Option<Place> {
        loop {
            let place = self.run.place(self.lane?, self.next)?;
            self.next += 1;
            let took = || self.run.messages.taken_range(place.lane, place.call..place.call + 1).len();
            if !self.run.function(place).is_poll || took() > 0 {
                return Some(place);
            }
        }
    }
}

/// Whether two calls have the same function, place and arguments, and took as many messages.
fn is_same(one: &Run, a: Place, other: &Run, b: Place) -> bool {
    let (ours, theirs) = (one.shape(a), other.shape(b));
    let took =
        |run: &Run, place: Place| run.messages.taken_range(place.lane, place.call..place.call + 1).len();
    one.name(a) == other.name(b)
        && (ours.role, ours.marks & FAILED) == (theirs.role, theirs.marks & FAILED)
        && ours.first == theirs.first
        && ours.second == theirs.second
        && ours.comm.map(|comm| &one.communicators[comm as usize].members)
            == theirs.comm.map(|comm| &other.communicators[comm as usize].members)
        && took(one, a) == took(other, b)
        && is_same_site(one, a, other, b)
}

/// Places that were not looked up, or of programs that were built anew, do not count as different.
fn is_same_site(one: &Run, a: Place, other: &Run, b: Place) -> bool {
    let (ours, theirs) = (one.site(a), other.site(b));
    ours == theirs
        || !ours.contains(".")
        || !theirs.contains(".")
        || !ours.contains(':')
        || !theirs.contains(':')
}

/// What differs in two calls, in words: `tag 5, not 6`.
pub fn words(one: &Run, a: Place, other: &Run, b: Place) -> String {
    let (ours, theirs) = (one.shape(a), other.shape(b));
    let mut words = Vec::new();
    if one.name(a) != other.name(b) {
        return format!("{}, not {}", other.name(b), one.name(a));
    }
    let mut compare = |prefix: &str, ours: &Envelope, theirs: &Envelope| {
        if ours.peer != theirs.peer {
            words.push(format!("{prefix}peer {}, not {}", theirs.peer, ours.peer));
        }
        if ours.tag != theirs.tag && ours.tag != NO_TAG && theirs.tag != NO_TAG {
            words.push(format!("{prefix}tag {}, not {}", theirs.tag, ours.tag));
        }
        if let (Some(ours), Some(theirs)) = (ours.bytes, theirs.bytes) {
            if ours != theirs {
                words.push(format!("{prefix}{theirs} bytes, not {ours}"));
            }
        }
    };
    compare("", &ours.first, &theirs.first);
    if ours.role != Role::Collective {
        compare("received ", &ours.second.unwrap_or_default(), &theirs.second.unwrap_or_default());
    }
    if !is_same_site(one, a, other, b) {
        words.push(format!("at {}, not {}", other.site(b), one.site(a)));
    }
    if words.is_empty() {
        words.push("another communicator, outcome, or number of messages".into());
    }
    words.join(", ")
}

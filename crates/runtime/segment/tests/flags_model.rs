//! The flags and counters of schedules under loom. Run as `board_model.rs`.
#![cfg(loom)]

mod loom_memory;

use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::{FlagGeometry, Flags};
use loom::cell::UnsafeCell;
use loom::thread;
use loom_memory::{Model, every_interleaving};

/// Flags with a payload cell for each rank.
struct Signals {
    flags: Flags<Model>,
    geometry: FlagGeometry,
    payload: Vec<UnsafeCell<u64>>,
}

// SAFETY: the payload cells are what the protocol under test must protect; loom checks each access.
unsafe impl Sync for Signals {}
// SAFETY: as above.
unsafe impl Send for Signals {}

impl Signals {
    fn flag(&self, rank: usize, flag: usize) -> usize {
        self.geometry.flag(rank, flag)
    }

    fn put(&self, me: usize) {
        // SAFETY: the access is what is under test; loom checks it.
        self.payload[me].with_mut(|p| unsafe { *p = 7 });
    }

    /// The checker itself objects to a read that is not ordered behind the write.
    fn take_all(&self) {
        // SAFETY: as above.
        self.payload.iter().for_each(|cell| assert_eq!(cell.with(|p| unsafe { *p }), 7));
    }

    fn until(&self, at: usize, value: u64) {
        while !self.flags.has_reached(at, value) {
            thread::yield_now();
        }
    }

    fn sleep_until(&self, me: usize, at: usize, value: u64) {
        while !self.flags.has_reached(at, value) {
            self.flags.sleep_unless(me, u64::MAX, || self.flags.has_reached(at, value));
        }
    }
}

fn signal(ranks: usize, body: impl Fn(&Signals, usize) + Send + Sync + 'static) {
    let make = move || {
        let geometry = FlagGeometry::new(ranks, 2, 1);
        let eventcounts = (0..ranks).map(|_| Model::new(256)).collect();
        let flags =
            Flags { memory: Model::new(geometry.eventcount(ranks)), eventcounts, fencing: Fencing::Both };
        Signals { flags, geometry, payload: (0..ranks).map(|_| UnsafeCell::new(0)).collect() }
    };
    every_interleaving(ranks, make, body);
}

/// Two ranks exchange flags, twice: neither leaves before both have entered, and the second epoch needs
/// nothing cleared.
#[test]
fn exchanged_flags_are_a_barrier() {
    signal(2, |s, me| {
        for epoch in 1..=2 {
            if epoch == 1 {
                s.put(me);
            }
            s.flags.raise_last(s.flag(1 - me, 0), epoch);
            s.until(s.flag(me, 0), epoch);
            s.take_all();
        }
    });
}

/// Rank 0 signals rank 1, which signals rank 2. So rank 2 knows that rank 0 has entered; plain raises are
/// enough for that.
#[test]
fn a_signal_carries_what_its_sender_knows() {
    signal(3, |s, me| {
        s.put(me);
        if me > 0 {
            s.until(s.flag(me, 0), 1);
        }
        if me < 2 {
            s.flags.raise(s.flag(me + 1, 0), 1);
        } else {
            s.take_all();
        }
    });
}

/// The rank that completes a count has seen what all ranks did that counted, and so has a rank that it then
/// signals.
#[test]
fn a_complete_count_stands_for_all_ranks() {
    signal(3, |s, me| {
        s.put(me);
        if s.flags.add(s.geometry.counter(0, 0)) == 3 {
            s.take_all();
            s.flags.raise_last(s.flag(0, 1), 1);
        } else if s.flags.has_reached(s.flag(0, 1), 1) {
            s.take_all();
        }
    });
}

/// The last rank raises a flag for each of the others, which sleep. `last`: the last of these raises is a
/// `raise_last`. `wake`: it then wakes the ranks that it sees asleep.
fn sleepers_at_flags(ranks: usize, last: bool, wake: bool) {
    signal(ranks, move |s, me| {
        let sleepers = ranks - 1;
        if me < sleepers {
            return s.sleep_until(me, s.flag(me, 0), 1);
        }
        for rank in 0..sleepers {
            if last && rank + 1 == sleepers {
                s.flags.raise_last(s.flag(rank, 0), 1);
            } else {
                s.flags.raise(s.flag(rank, 0), 1);
            }
        }
        if wake && s.flags.has_sleepers() {
            (0..sleepers).for_each(|rank| s.flags.wake(rank));
        }
    });
}

#[test]
fn sleepers_are_woken_by_the_last_of_several_raises() {
    sleepers_at_flags(2, true, true);
    sleepers_at_flags(3, true, true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_a_fence_a_rank_sleeps_on() {
    sleepers_at_flags(2, false, true);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_a_look_at_sleepers_a_rank_sleeps_on() {
    sleepers_at_flags(2, true, false);
}

#[test]
fn a_rank_that_sleeps_for_a_counter_is_woken() {
    signal(3, |s, me| {
        let counter = s.geometry.counter(0, 0);
        if me == 0 {
            return s.sleep_until(0, counter, 2);
        }
        s.flags.add(counter);
        if s.flags.has_sleepers() {
            s.flags.wake(0);
        }
    });
}

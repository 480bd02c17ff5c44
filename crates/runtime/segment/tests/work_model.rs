//! The notes of work before deferred barriers under loom.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p evenkeel-segment --test work_model --release`.
#![cfg(loom)]

mod loom_memory;

use evenkeel_segment::board::work::{Noted, Spread, WorkPlace};
use evenkeel_segment::sync::{AtomicU64, Ordering};
use loom_memory::every_interleaving;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

struct Place {
    words: [AtomicU64; 3],
}

impl Place {
    fn new() -> Place {
        Place { words: [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)] }
    }

    fn place(&self) -> WorkPlace<'_> {
        WorkPlace { most: &self.words[0], least: &self.words[1] }
    }

    /// How many ranks have entered the barrier; a rank enters after it has noted its work.
    fn entered(&self) -> &AtomicU64 {
        &self.words[2]
    }
}

/// Both ranks note their work before one barrier, and then before the next one that uses the place, if
/// `waits` only when the other has entered the first one. Returns whether some rank took a part of the first
/// barrier out.
fn is_taken_in_parts(waits: bool) -> bool {
    let in_parts = Arc::new(AtomicBool::new(false));
    let found = in_parts.clone();
    every_interleaving(2, Place::new, move |place, me| {
        let first = place.place().note(me, 0, Noted::Work, 10 + me as u64);
        place.entered().fetch_add(1, Ordering::AcqRel);
        if waits && place.entered().load(Ordering::Acquire) < 2 {
            return; // the window is full
        }
        let second = place.place().note(me, 1, Noted::Work, 20);
        let whole = Spread { last: 1, most: 11, least: 10, ranks: 2, noted: Noted::Work };
        if first.is_some() || second.is_some_and(|spread| spread != whole) {
            found.store(true, std::sync::atomic::Ordering::Relaxed);
        }
    });
    in_parts.load(std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn what_was_noted_is_taken_out_whole() {
    assert!(!is_taken_in_parts(true));
}

/// The twin: a rank that does not wait for the other one takes out too little.
#[test]
fn without_the_window_it_is_taken_out_in_parts() {
    assert!(is_taken_in_parts(false));
}

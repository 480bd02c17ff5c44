//! Sums up deferred barriers: how many there were, how far ranks ran ahead, and what completed the barriers.

use super::saturating::add;
use crate::digest::{DeferralDigest, Note, Observer};
use evenkeel_record::{OpRecord, RankRecord};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Sums up the deferred barriers of all ranks. `notes` are all notes of the run.
pub(super) fn deferral(ranks: &[RankRecord], notes: &[Note]) -> DeferralDigest {
    let mut d = DeferralDigest::default();
    let mut observers: BTreeMap<&str, Observer> = BTreeMap::new();
    for r in ranks {
        for op in r.comms.iter().flat_map(|c| &c.ops).filter(|o| is_barrier(o)) {
            add(&mut d.barriers, op.calls);
            add(&mut d.deferred, op.deferred);
            add(&mut d.overlapped_ns, op.overlapped_ns);
            d.ahead = d.ahead.max(op.ahead);
        }
        for (name, times) in r.observers.iter().filter(|o| o.1 > 0) {
            let o = observers.entry(name).or_default();
            add(&mut o.times, *times);
            o.ranks += 1;
        }
    }
    d.observers = observers.into_iter().map(|(name, o)| Observer { name: name.to_string(), ..o }).collect();
    // The sort is stable, so that observers with equal counts stay in the order of their names.
    d.observers.sort_by_key(|o| Reverse(o.times));
    d.strict = notes.iter().filter(|n| says_that_barriers_are_strict(&n.text)).cloned().collect();
    d
}

fn is_barrier(op: &OpRecord) -> bool {
    op.op == "barrier"
}

/// The engine writes such notes as sentences; they begin with "barriers" or have the word further on.
fn says_that_barriers_are_strict(note: &str) -> bool {
    let note = note.to_lowercase();
    note.contains("barriers") && note.contains("strict")
}

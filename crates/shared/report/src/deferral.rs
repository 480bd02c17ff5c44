//! Barriers that returned before all ranks had entered them: how many, how far ranks ran ahead, and
//! what ended that.

use crate::digest::{Note, add};
use evenkeel_record::{OpRecord, RankRecord};
use serde::Serialize;
use std::collections::BTreeMap;

/// Deferred barriers of all ranks and communicators; nothing but `barriers` and `strict` if there were none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeferralDigest {
    /// Blocking barriers that evenkeel carried out, calls of all ranks.
    pub barriers: u64,
    /// How many of them returned before they were complete.
    pub deferred: u64,
    /// By how many barriers of one communicator a rank was ahead at most.
    pub ahead: u64,
    /// How long ranks went on with their work where they would have waited, sum of all ranks; a lower bound.
    pub overlapped_ns: u64,
    /// What completed pending barriers, most often first.
    pub observers: Vec<Observer>,
    /// Why barriers were strict, for a time or to the end: these are among [`crate::Digest::notes`] too.
    pub strict: Vec<Note>,
}

/// Something that the program did for which pending barriers had to be complete.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Observer {
    /// An MPI function, a system call as "write()", or a cause in words.
    pub name: String,
    /// How often, all ranks together.
    pub times: u64,
    /// On how many ranks.
    pub ranks: u64,
}

/// Boils down what the ranks say of their barriers; `notes` are all that were made in the run.
pub fn deferral(ranks: &[RankRecord], notes: &[Note]) -> DeferralDigest {
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
    d.observers.sort_by(|a, b| b.times.cmp(&a.times)); // stable: by name where equal
    d.strict =
        notes.iter().filter(|n| n.text.contains("barriers") && n.text.contains("strict")).cloned().collect();
    d
}

fn is_barrier(op: &OpRecord) -> bool {
    op.op == "barrier"
}

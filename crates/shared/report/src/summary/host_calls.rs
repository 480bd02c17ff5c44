//! What evenkeel did not carry out: whole communicators, and single calls of communicators that it serves.

use super::output::SummaryText;
use crate::digest::Digest;
use evenkeel_text::units::{count, plain, plural};

/// Adds the calls that were left to the MPI library, and why.
pub(super) fn host_calls(d: &Digest, out: &mut SummaryText) {
    for (reason, comms, calls) in communicators_by_reason(d) {
        out.paragraph(&format!(
            "Left to the MPI library: {} with {}, because: {}",
            plural(comms, "communicator", "communicators"),
            plural(calls, "call", "calls"),
            plain(reason, 400)
        ));
    }
    let calls = calls_by_operation(d);
    if !calls.is_empty() {
        let list: Vec<String> =
            calls.iter().map(|(op, n)| format!("{} {}", count(*n), plain(op, 24))).collect();
        out.paragraph(&format!("Left to the MPI library, calls of all ranks: {}.", list.join(", ")));
    }
}

/// Communicators that evenkeel does not serve: the reason, how many there are, and their calls.
fn communicators_by_reason(d: &Digest) -> Vec<(&str, u64, u64)> {
    let mut reasons: Vec<(&str, u64, u64)> = Vec::new();
    for c in d.comms.iter().filter(|c| !c.host_reason.is_empty()) {
        match reasons.iter_mut().find(|r| r.0 == c.host_reason) {
            Some(r) => (r.1, r.2) = (r.1 + 1, r.2.saturating_add(c.host_calls)),
            None => reasons.push((&c.host_reason, 1, c.host_calls)),
        }
    }
    reasons
}

/// Calls left to the MPI library on communicators that evenkeel serves, by operation.
fn calls_by_operation(d: &Digest) -> Vec<(&str, u64)> {
    let mut calls: Vec<(&str, u64)> = Vec::new();
    for o in &d.comm_ops {
        let served = o.comm.is_none_or(|c| d.comms[c].host_reason.is_empty());
        if served && o.host_calls > 0 {
            match calls.iter_mut().find(|s| s.0 == o.op) {
                Some(s) => s.1 = s.1.saturating_add(o.host_calls),
                None => calls.push((&o.op, o.host_calls)),
            }
        }
    }
    calls
}

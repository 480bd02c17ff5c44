//! The first sentences: what ran, how long it waited, and which rank delayed the others.

use crate::aggregate::arrives_last_most;
use crate::aggregate::saturating::total;
use crate::digest::{Digest, RankDigest};
use evenkeel_text::paragraph::firm;
use evenkeel_text::units::{duration, percent, plain, plural};

/// The headline of the summary.
pub(super) fn headline(d: &Digest) -> String {
    let ranks = d.ranks.len() as u64;
    let program = if d.program.trim().is_empty() { "a program".into() } else { plain(d.program.trim(), 48) };
    let mpi = plain(d.mpi.trim(), 48);
    let under = if mpi.is_empty() { String::new() } else { format!(" under {mpi}") };
    let ran = format!(
        "evenkeel: {} of {program} ran {}{under}",
        plural(ranks, "rank", "ranks"),
        time(d.elapsed_ns)
    );
    let share = percent(d.wait_ns, d.rank_time_ns);
    if ranks == 1 && d.ops.is_empty() {
        // What is left to the library on communicators of one rank is not counted.
        return format!("{ran}; the collective calls of a single rank are left to the MPI library.");
    }
    if d.calls == 0 && d.wait_ns > 0 {
        let none = d.ops.is_empty();
        let calls =
            if none { "made no collective calls" } else { "left every collective call to the MPI library" };
        format!("{ran}, {calls} and spent {share} of it waiting for messages. {}", latest_rank(d))
    } else if d.ops.is_empty() {
        format!("{ran} and made no collective calls.")
    } else if d.calls == 0 {
        format!("{ran}; every collective call was left to the MPI library.")
    } else if ranks == 1 {
        format!("{ran}; a single rank has no others to wait for.")
    } else if d.wait_ns == 0 && d.deferral.deferred == 0 {
        format!("{ran} and did not wait for each other.")
    } else {
        format!("{ran} and spent {share} of it waiting for each other. {}", latest_rank(d))
    }
}

/// A duration that stays on one line.
pub(super) fn time(ns: u64) -> String {
    firm(duration(ns))
}

/// A sentence about the rank that delayed the others most.
fn latest_rank(d: &Digest) -> String {
    match d.latest.map(|latest| &d.ranks[latest]) {
        None if d.ranks.iter().all(|r| r.last == 0) => {
            "Which rank arrived last was not recorded in any call.".into()
        }
        // There were so few calls that none of them was timed in full.
        None => "How late the last ranks arrived was not measured.".into(),
        Some(r) if is_ordinary(d, r) => "No rank delayed the others much more than the rest did.".into(),
        Some(r) => format!(
            "Rank {} delayed the others most: {} in {}.",
            r.rank,
            time(r.late_ns),
            firm(plural(r.last, "call", "calls"))
        ),
    }
}

/// Whether the latest rank is nothing special: no rank arrived last unusually often, and this one was not
/// much later than an equal share and waited itself. In a chain of ranks that wait for each other all are
/// nearly as late as the first one, which does not wait.
fn is_ordinary(d: &Digest, latest: &RankDigest) -> bool {
    let late = total(d.ranks.iter().map(|r| r.late_ns));
    let counts: Vec<(u32, u64)> = d.ranks.iter().map(|r| (r.rank, r.last)).collect();
    let equal = late as f64 / d.ranks.len().max(1) as f64;
    let waits_like_others = 2.0 * latest.wait_ns as f64 >= d.wait_ns as f64 / d.ranks.len().max(1) as f64;
    arrives_last_most(&counts).is_none() && (latest.late_ns as f64) < 1.5 * equal && waits_like_others
}

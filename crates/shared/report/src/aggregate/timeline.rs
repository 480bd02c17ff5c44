//! Brings the timelines of all ranks to common slices.

use super::saturating::add;
use crate::digest::TimelineDigest;
use evenkeel_record::RankRecord;

/// The timelines of all ranks on slices of the same length.
///
/// Ranks double their slices at different times. The longest slice of any rank is used for all of them.
pub(super) fn timeline(ranks: &[RankRecord]) -> TimelineDigest {
    let slice_ns = ranks.iter().map(|r| r.timeline.slice_ns).max().unwrap_or(0);
    if slice_ns == 0 {
        return TimelineDigest { slice_ns: 0, share: vec![Vec::new(); ranks.len()] };
    }
    let share = |r: &RankRecord| {
        let mut wait: Vec<u64> = Vec::new();
        for (i, ns) in r.timeline.wait_ns.iter().enumerate() {
            let at = (i as u128 * u128::from(r.timeline.slice_ns) / u128::from(slice_ns)) as usize;
            if wait.len() <= at {
                wait.resize(at + 1, 0);
            }
            add(&mut wait[at], *ns);
        }
        // The run ended within the last slice, so that slice is shorter.
        let length =
            |i: usize| slice_ns.min(r.elapsed_ns.saturating_sub((i as u64).saturating_mul(slice_ns))).max(1);
        wait.iter()
            .enumerate()
            .map(|(i, ns)| (*ns as f64 / length(i) as f64 * 10_000.0).round().min(10_000.0) as u32)
            .collect()
    };
    TimelineDigest { slice_ns, share: ranks.iter().map(share).collect() }
}

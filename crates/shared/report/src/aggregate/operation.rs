//! Sums up one operation, and finds the rank that is usually the last to arrive in it.

use super::histogram::WeightedHistogram;
use super::saturating::{add, total};
use crate::digest::{OpDigest, TimesLast};
use evenkeel_record::OpRecord;
use std::collections::BTreeMap;

/// The sums of one operation: over the ranks of a communicator, then over communicators.
#[derive(Default)]
pub(super) struct OperationSum {
    calls: u64,
    host_calls: u64,
    pub(super) instances: u64,
    deferred: u64,
    bytes: u64,
    time_ns: u64,
    wait_ns: u64,
    late_ns: u64,
    /// How often each rank that called arrived last.
    last: BTreeMap<u32, u64>,
    latency: WeightedHistogram,
}

impl OperationSum {
    pub(super) fn add_rank(&mut self, rank: u32, op: &OpRecord) {
        add(&mut self.calls, op.calls);
        add(&mut self.host_calls, op.host_calls);
        self.instances = self.instances.max(op.calls);
        add(&mut self.deferred, op.deferred);
        add(&mut self.bytes, op.bytes);
        add(&mut self.time_ns, op.time_ns);
        add(&mut self.wait_ns, op.wait_ns);
        add(&mut self.late_ns, op.late_ns);
        add(self.last.entry(rank).or_default(), op.last);
        self.latency.add(op);
    }

    pub(super) fn add_comm(&mut self, other: &OperationSum) {
        add(&mut self.calls, other.calls);
        add(&mut self.host_calls, other.host_calls);
        add(&mut self.instances, other.instances);
        add(&mut self.deferred, other.deferred);
        add(&mut self.bytes, other.bytes);
        add(&mut self.time_ns, other.time_ns);
        add(&mut self.wait_ns, other.wait_ns);
        add(&mut self.late_ns, other.late_ns);
        for (rank, n) in &other.last {
            add(self.last.entry(*rank).or_default(), *n);
        }
        self.latency.merge(&other.latency);
    }

    pub(super) fn finish(self, op: String, comm: Option<usize>) -> OpDigest {
        let counts: Vec<(u32, u64)> = self.last.iter().map(|(r, n)| (*r, *n)).collect();
        OpDigest {
            op,
            comm,
            callers: self.last.len() as u64,
            calls: self.calls,
            host_calls: self.host_calls,
            instances: self.instances,
            deferred: self.deferred,
            bytes: self.bytes,
            time_ns: self.time_ns,
            wait_ns: self.wait_ns,
            last: total(counts.iter().map(|c| c.1)),
            last_most: arrives_last_most(&counts),
            late_ns: self.late_ns,
            mean_ns: self.time_ns.checked_div(self.calls),
            median_ns: self.latency.quantile_ns(0.5),
            p99_ns: self.latency.quantile_ns(0.99),
            latency: self.latency.rounded(),
        }
    }
}

/// The rank that arrived last so often that chance does not explain it; `None` if there is none.
///
/// Such a rank arrived last a fifth more often than an equal share, and five standard deviations more often
/// (of the binomial distribution that counts have if any rank may be last by chance).
pub(crate) fn arrives_last_most(times_last: &[(u32, u64)]) -> Option<TimesLast> {
    let all = total(times_last.iter().map(|t| t.1)) as f64;
    let chance = 1.0 / times_last.len().max(1) as f64;
    let equal = all * chance;
    let deviation = (all * chance * (1.0 - chance)).sqrt();
    let (rank, most) = times_last.iter().copied().max_by_key(|(rank, n)| (*n, std::cmp::Reverse(*rank)))?;
    (times_last.len() > 1 && most as f64 > 1.2 * equal && most as f64 > equal + 5.0 * deviation)
        .then_some(TimesLast { rank, times: most })
}

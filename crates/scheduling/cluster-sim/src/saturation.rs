//! Whether a cluster keeps up with a workload. May use: outcome.

use crate::outcome::{JobOutcome, Outcome};

impl Outcome {
    /// The work that is left when the last job is submitted, beyond what would be left if each job had had
    /// cores of its own from its submission on: what waiting and sharing have put off. As a share of what
    /// the cluster can do from the first submission to the last. A job is taken to progress evenly from its
    /// start to its end.
    pub fn deferred_load(&self) -> f64 {
        let last_ns = self.jobs.iter().map(|job| job.arrival_ns).max().unwrap_or(0);
        let first_ns = self.jobs.iter().map(|job| job.arrival_ns).min().unwrap_or(0);
        let deferred = |job: &JobOutcome| {
            let share_left = |start_ns: u64, end_ns: u64| {
                let runs_ns = end_ns.saturating_sub(start_ns).max(1) as f64;
                (end_ns.saturating_sub(last_ns) as f64 / runs_ns).min(1.0)
            };
            let alone = share_left(job.arrival_ns, job.arrival_ns + job.dedicated_ns);
            let whole = job.dedicated_ns as f64 * job.ranks as f64;
            whole * (share_left(job.start_ns, job.end_ns) - alone)
        };
        let capacity = self.cores.max(1) as f64 * (last_ns - first_ns).max(1) as f64;
        self.jobs.iter().map(deferred).sum::<f64>() / capacity
    }

    /// Whether the cluster keeps up: it has put off no more than this share.
    pub fn keeps_up(&self, share: f64) -> bool {
        self.deferred_load() <= share
    }
}

/// The load up to which a cluster keeps up: the largest of the loads, in ascending order, at which and below
/// which it does; 0 if there is none.
///
/// ```
/// use evenkeel_cluster_sim::saturation;
/// assert_eq!(saturation(&[(0.7, true), (0.8, true), (0.9, false), (1.0, true)]), 0.8);
/// ```
pub fn saturation(loads: &[(f64, bool)]) -> f64 {
    loads.iter().take_while(|(_, keeps_up)| *keeps_up).last().map_or(0.0, |(load, _)| *load)
}

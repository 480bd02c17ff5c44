//! Jobs that arrive over time. May use: lublin, job.

use crate::job::{Communication, SyntheticJob};
use crate::lublin::lublin_feitelson;
use evenkeel_random::Random;

/// Computations between messages, of which each job has one: fine, coarse and very coarse.
const GRAINS_NS: [u64; 3] = [5_000_000, 50_000_000, 500_000_000];
/// Estimates are up to so many times too long.
const LOOSEST_ESTIMATE: f64 = 5.0;

/// Jobs of the Lublin-Feitelson model as synthetic jobs. Their ranks form a ring; each job computes 5, 50 or
/// 500 ms between messages, with equal probability; its estimate is 1 to 5 times its run time. All times of
/// the model are divided by `faster`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// The cores of the cluster.
    pub cores: usize,
    /// How many jobs.
    pub jobs: usize,
    /// By how much all times are divided.
    pub faster: f64,
    /// The share of the cores that the jobs need from the first to the last submission: run times are
    /// stretched to it. None: that of the model.
    pub load: Option<f64>,
    /// Another seed gives other jobs.
    pub seed: u64,
}

impl Workload {
    /// The workload of the published measurements: 1,000 jobs, 100 times faster.
    pub fn published(cores: usize, load: Option<f64>, seed: u64) -> Workload {
        Workload { cores, jobs: 1000, faster: 100.0, load, seed }
    }

    /// The jobs. Messages take `latency_ns`.
    pub fn jobs(&self, latency_ns: u64) -> Vec<SyntheticJob> {
        let model = lublin_feitelson(self.cores, self.jobs, self.seed);
        let first_s = model.first().map_or(0.0, |job| job.arrival_s);
        let span_s = model.last().map_or(0.0, |job| job.arrival_s - first_s);
        let work_s: f64 = model.iter().map(|job| job.run_time_s * job.ranks as f64).sum();
        let raw_load = work_s / (span_s.max(1.0) * self.cores as f64);
        let stretch = self.load.map_or(1.0, |load| load / raw_load) / self.faster;
        // Streams of their own: the same jobs have the same grains at every load.
        let mut random = Random::stream(self.seed, 1);
        let job = |model: &crate::lublin::ModelJob| {
            let run_time_ns = (model.run_time_s * stretch * 1e9).max(1e6) as u64;
            let grain_ns = GRAINS_NS[random.below(GRAINS_NS.len())];
            let looseness = 1.0 + (LOOSEST_ESTIMATE - 1.0) * random.unit();
            let mut job = SyntheticJob {
                arrival_ns: ((model.arrival_s - first_s) / self.faster * 1e9) as u64,
                compute_ns: vec![grain_ns.min(run_time_ns); model.ranks],
                iterations: 1,
                communication: Communication::Ring,
                estimate_ns: 0,
                has_priority: false,
                within: None,
            };
            let iterations = (run_time_ns as f64 / job.period_ns(latency_ns) as f64).round();
            job.iterations = iterations.clamp(1.0, f64::from(u32::MAX)) as u32;
            job.estimate_ns = (job.dedicated_ns(latency_ns) as f64 * looseness) as u64;
            job
        };
        model.iter().map(job).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_the_load_that_was_asked_for() {
        for load in [0.5, 0.9] {
            let jobs = Workload::published(32, Some(load), 3).jobs(5_000);
            let work: f64 = jobs.iter().map(|job| job.dedicated_ns(5_000) as f64 * job.ranks() as f64).sum();
            let span = (jobs[999].arrival_ns - jobs[0].arrival_ns) as f64;
            assert!((work / (span * 32.0) / load - 1.0).abs() < 0.01, "{load}");
            assert!(jobs.iter().all(|job| job.estimate_ns >= job.dedicated_ns(5_000)));
        }
    }

    #[test]
    fn each_grain_is_as_frequent() {
        let jobs = Workload { jobs: 6000, ..Workload::published(32, None, 1) }.jobs(5_000);
        for grain_ns in GRAINS_NS {
            let whole = jobs.iter().filter(|job| job.compute_ns[0] == grain_ns).count();
            // Jobs that are shorter than their grain have a shorter one.
            assert!((800..2200).contains(&whole), "{grain_ns}: {whole}");
        }
    }
}

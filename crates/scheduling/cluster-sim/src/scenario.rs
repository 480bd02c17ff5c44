//! Four small workloads whose results are published. May use: job, policy, cluster.

use crate::cluster::Cluster;
use crate::job::{Communication, SyntheticJob};
use crate::policy::Policy;
use evenkeel_gang::{Core, QueuePolicy};

/// Four workloads on four cores (Frachtenberg 2003, section 6.3, tables 6.1 to 6.5). Ranks compute 3 ms
/// between messages, and a job takes 60 s on cores of its own, if nothing else is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scenario {
    /// Two equal jobs of four ranks.
    Balanced,
    /// Two jobs of four ranks. Two ranks of each compute twice as long: the others of the other job. Each job
    /// takes 120 s.
    Imbalanced,
    /// Three jobs of two ranks that do not communicate, all on the same two cores, and then one of four
    /// ranks that computes four times as long on the other two cores: 240 s.
    Complementing,
    /// A balanced job, then the two of the imbalanced scenario.
    Mixed,
}

/// A published result in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Published {
    /// From the start to the last end.
    pub turnaround_s: f64,
    /// The mean of all jobs.
    pub mean_response_s: f64,
}

const COMPUTE_NS: u64 = 3_000_000;
const ALONE_NS: u64 = 60_000_000_000;

impl Scenario {
    /// All scenarios.
    pub const ALL: [Scenario; 4] =
        [Scenario::Balanced, Scenario::Imbalanced, Scenario::Complementing, Scenario::Mixed];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scenario::Balanced => "balanced",
            Scenario::Imbalanced => "imbalanced",
            Scenario::Complementing => "complementing",
            Scenario::Mixed => "mixed",
        }
    }

    /// The cluster of the published measurements: four cores, quanta of 25 ms. Jobs start in their order.
    pub fn cluster() -> Cluster {
        Cluster { quantum_ns: 25_000_000, queue: QueuePolicy::Fcfs, ..Cluster::with_cores(4) }
    }

    /// The jobs, all of which arrive at time 0.
    pub fn jobs(self, cluster: &Cluster, communication: Communication) -> Vec<SyntheticJob> {
        let job = |factors: &[u64]| {
            let longest = factors.iter().copied().max().unwrap_or(1);
            let mut job = SyntheticJob {
                arrival_ns: 0,
                compute_ns: factors.iter().map(|factor| factor * COMPUTE_NS).collect(),
                iterations: 1,
                communication,
                estimate_ns: 0,
                has_priority: false,
                within: None,
            };
            job.iterations = (longest * ALONE_NS / job.period_ns(cluster.latency_ns)) as u32;
            job.estimate_ns = job.dedicated_ns(cluster.latency_ns);
            job
        };
        // Rank 0 and 1 compute twice as long in one job, rank 2 and 3 in the other.
        let mirrored = [job(&[2, 2, 1, 1]), job(&[1, 1, 2, 2])];
        // The jobs that the published measurements prefer: the fine-grained ones that others would hold up.
        let preferred = |job| SyntheticJob { has_priority: true, ..job };
        match self {
            Scenario::Balanced => vec![job(&[1; 4]), job(&[1; 4])],
            Scenario::Imbalanced => mirrored.to_vec(),
            Scenario::Complementing => {
                let within = Some((Core(2), Core(3)));
                let small = SyntheticJob { communication: Communication::None, within, ..job(&[1; 2]) };
                vec![small.clone(), small.clone(), small, preferred(job(&[4, 4, 1, 1]))]
            }
            Scenario::Mixed => [preferred(job(&[1; 4]))].into_iter().chain(mirrored).collect(),
        }
    }

    /// The shortest possible turnaround in seconds: the work of the busiest core.
    pub fn optimum_s(self) -> f64 {
        [120.0, 180.0, 240.0, 240.0][self as usize]
    }

    /// The published result of a policy, with receives that block or overlapped ones.
    pub fn published(self, policy: Policy, communication: Communication) -> Option<Published> {
        let row: [Option<(f64, f64)>; 4] = match (policy, communication) {
            (Policy::Bcs, Communication::OverlappedRing) => {
                [(122.65, 122.65), (188.92, 188.76), (252.00, 248.23), (252.82, 220.62)].map(Some)
            }
            (_, Communication::OverlappedRing) => [None; 4],
            (Policy::Fcfs, _) => {
                [(120.12, 90.08), (239.91, 179.90), (420.67, 195.91), (299.12, 179.68)].map(Some)
            }
            (Policy::Gs, _) => {
                [(120.08, 120.04), (240.60, 240.59), (423.30, 286.73), (298.75, 259.19)].map(Some)
            }
            (Policy::Sb, _) => {
                [(124.09, 124.09), (183.43, 183.38), (271.09, 242.07), (277.31, 248.52)].map(Some)
            }
            (Policy::Fcs, _) => {
                [(120.35, 120.35), (183.62, 183.56), (250.15, 246.61), (250.32, 217.03)].map(Some)
            }
            (Policy::Bcs, _) => {
                [(131.72, 131.71), (193.84, 193.77), (343.39, 253.57), (270.97, 242.67)].map(Some)
            }
            (Policy::Pbcs, _) => [None, None, Some((270.17, 247.83)), Some((275.71, 218.53))],
            (Policy::Easy, _) => [None; 4],
        };
        row[self as usize].map(|(turnaround_s, mean_response_s)| Published { turnaround_s, mean_response_s })
    }
}

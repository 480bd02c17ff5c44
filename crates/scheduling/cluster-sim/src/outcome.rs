//! What came of a simulation. May use: std.

use evenkeel_gang::Class;
use evenkeel_statistics::median;

/// What came of a job. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct JobOutcome {
    /// When it was submitted.
    pub arrival_ns: u64,
    /// When it started.
    pub start_ns: u64,
    /// When its last rank ended.
    pub end_ns: u64,
    /// Its run time on cores of its own.
    pub dedicated_ns: u64,
    /// The ranks.
    pub ranks: usize,
    /// The last class of each rank; CS under policies that have no classes.
    pub classes: Vec<Class>,
}

impl JobOutcome {
    /// From submission to end.
    pub fn response_ns(&self) -> u64 {
        self.end_ns - self.arrival_ns
    }

    /// The response over the dedicated run time, or over `floor_ns` for shorter jobs; at least 1.
    pub fn bounded_slowdown(&self, floor_ns: u64) -> f64 {
        (self.response_ns() as f64 / self.dedicated_ns.max(floor_ns).max(1) as f64).max(1.0)
    }
}

/// What came of a workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The jobs in the order in which they were given.
    pub jobs: Vec<JobOutcome>,
    /// The cores of the cluster.
    pub cores: usize,
    /// The events that were simulated.
    pub events: u64,
}

impl Outcome {
    /// From the first submission to the last end, in ns.
    pub fn turnaround_ns(&self) -> u64 {
        let first = self.jobs.iter().map(|job| job.arrival_ns).min().unwrap_or(0);
        self.jobs.iter().map(|job| job.end_ns).max().unwrap_or(0) - first
    }

    /// The mean of the responses in ns.
    pub fn mean_response_ns(&self) -> f64 {
        mean(self.jobs.iter().map(|job| job.response_ns() as f64))
    }

    /// The median of the responses in ns.
    pub fn median_response_ns(&self) -> f64 {
        median(self.jobs.iter().map(|job| job.response_ns() as f64).collect())
    }

    /// The mean bounded slowdown.
    pub fn mean_slowdown(&self, floor_ns: u64) -> f64 {
        mean(self.jobs.iter().map(|job| job.bounded_slowdown(floor_ns)))
    }

    /// The median bounded slowdown.
    pub fn median_slowdown(&self, floor_ns: u64) -> f64 {
        median(self.jobs.iter().map(|job| job.bounded_slowdown(floor_ns)).collect())
    }

    /// The dedicated work of all jobs over the cores until the last end, from 0 to 1.
    pub fn utilisation(&self) -> f64 {
        self.work_ns() / (self.cores as f64 * (self.turnaround_ns().max(1)) as f64)
    }

    /// The dedicated work of all jobs over the cores until the last submission.
    pub fn offered_load(&self) -> f64 {
        let first = self.jobs.iter().map(|job| job.arrival_ns).min().unwrap_or(0);
        let last = self.jobs.iter().map(|job| job.arrival_ns).max().unwrap_or(0);
        self.work_ns() / (self.cores as f64 * (last - first).max(1) as f64)
    }

    fn work_ns(&self) -> f64 {
        self.jobs.iter().map(|job| job.dedicated_ns as f64 * job.ranks as f64).sum()
    }
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1);
    values.sum::<f64>() / count as f64
}

//! Samples of what a machine takes, in passes, and their summaries.

use evenkeel_statistics::{median, quantile};
use serde::{Deserialize, Serialize};

/// What was timed. Rank 0 is the single rank of 1:n and n:1. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// RTT(p): rank 0 signals p peers, each answers; until all answers have arrived, per peer.
    RoundTrip,
    /// o_s(p): rank 0 signals p peers; per signal.
    SendOverhead,
    /// o_r(p): rank 0 takes p signals that have arrived already; per signal.
    ReceiveOverhead,
    /// From the first signal of rank 0 until the last of p peers has seen its own; in total.
    OneToMany,
    /// From the signal of the last of p peers until rank 0 has seen all signals; in total.
    ManyToOne,
    /// g: from one signal to the next of many consecutive ones; one peer.
    Gap,
    /// A message of some bytes: half of a round trip; one peer.
    Message,
    /// A switch of a core to another rank, which then sees a signal: half of a round trip between two
    /// ranks on one core.
    Switch,
}

/// Samples of one quantity at one number of peers and bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What was timed.
    pub quantity: Quantity,
    /// The number of peers.
    pub peers: u32,
    /// The bytes of a message.
    pub bytes: u64,
    /// Whether there were more ranks than cores, so that switches of cores are part of the time.
    pub oversubscribed: bool,
    /// Nanoseconds, pass by pass. Passes are separated in time. Samples of one pass are not independent.
    pub passes: Vec<Vec<f64>>,
}

/// The summary of a series. Times are nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesSummary {
    /// What was timed.
    pub quantity: Quantity,
    /// The number of peers.
    pub peers: u32,
    /// The bytes of a message.
    pub bytes: u64,
    /// Whether there were more ranks than cores.
    pub oversubscribed: bool,
    /// The number of samples.
    pub samples: u64,
    /// The minimum.
    pub min_ns: f64,
    /// The first quartile.
    pub p25_ns: f64,
    /// The median.
    pub median_ns: f64,
    /// The lower end of the 95% interval of the median, by resampling passes.
    pub median_low_ns: f64,
    /// The upper end of the 95% interval of the median.
    pub median_high_ns: f64,
    /// The third quartile.
    pub p75_ns: f64,
    /// The 99th percentile.
    pub p99_ns: f64,
    /// The maximum.
    pub max_ns: f64,
}

impl Series {
    /// The median of all samples, in nanoseconds.
    pub fn median_ns(&self) -> f64 {
        median(self.passes.iter().flatten().copied().collect())
    }

    /// The median of a bootstrap sample: as many passes as there are, drawn at random with replacement.
    ///
    /// Whole passes are drawn instead of single samples, because what disturbs one sample disturbs its
    /// neighbours too.
    pub fn resampled_median_ns(&self, random: &mut fastrand::Rng) -> f64 {
        if self.passes.is_empty() {
            return 0.0;
        }
        let drawn = (0..self.passes.len()).flat_map(|_| &self.passes[random.usize(..self.passes.len())]);
        median(drawn.copied().collect())
    }

    /// The summary, with an interval from so many bootstrap samples.
    pub fn summary(&self, resamples: u32, random: &mut fastrand::Rng) -> SeriesSummary {
        let mut all: Vec<f64> = self.passes.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let mut medians: Vec<f64> = (0..resamples).map(|_| self.resampled_median_ns(random)).collect();
        medians.sort_by(f64::total_cmp);
        let of = |share| quantile(&all, share);
        SeriesSummary {
            quantity: self.quantity,
            peers: self.peers,
            bytes: self.bytes,
            oversubscribed: self.oversubscribed,
            samples: all.len() as u64,
            min_ns: of(0.0),
            p25_ns: of(0.25),
            median_ns: of(0.5),
            median_low_ns: quantile(&medians, 0.025),
            median_high_ns: quantile(&medians, 0.975),
            p75_ns: of(0.75),
            p99_ns: of(0.99),
            max_ns: of(1.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(passes: Vec<Vec<f64>>) -> Series {
        Series { quantity: Quantity::RoundTrip, peers: 1, bytes: 0, oversubscribed: false, passes }
    }

    #[test]
    fn the_median_of_nothing_is_zero() {
        assert_eq!(series(Vec::new()).median_ns(), 0.0);
    }

    #[test]
    fn intervals_contain_the_true_median_as_often_as_they_claim() {
        let mut random = fastrand::Rng::with_seed(11);
        let (mut by_passes, mut by_samples) = (0, 0);
        for _ in 0..200 {
            let passes: Vec<Vec<f64>> = (0..20)
                .map(|_| {
                    let pass = 100.0 + 10.0 * (random.f64() - 0.5);
                    (0..30).map(|_| pass + random.f64() - 0.5).collect()
                })
                .collect();
            let contains_truth =
                |point: &SeriesSummary| (point.median_low_ns..=point.median_high_ns).contains(&100.0);
            let singles = passes.iter().flatten().map(|s| vec![*s]).collect();
            by_passes += u32::from(contains_truth(&series(passes).summary(200, &mut random)));
            by_samples += u32::from(contains_truth(&series(singles).summary(60, &mut random)));
        }
        assert!((176..=200).contains(&by_passes), "{by_passes} of 200");
        assert!(by_samples < 140, "{by_samples} of 200: samples of one pass were treated as independent");
    }
}

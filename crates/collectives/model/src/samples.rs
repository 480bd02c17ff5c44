//! What a machine was seen to take: samples in passes, and their summaries.

use evenkeel_statistics::{median, quantile};
use serde::{Deserialize, Serialize};

/// What was timed. Rank 0 is the one of 1:n and n:1; times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// RTT(p): rank 0 signals p peers, each answers, until all answers are there; per peer.
    RoundTrip,
    /// o_s(p): rank 0 signals p peers; per signal.
    SendOverhead,
    /// o_r(p): rank 0 takes p signals that are there already; per signal.
    ReceiveOverhead,
    /// From the first signal of rank 0 until the last of p peers has seen its own; in sum.
    OneToMany,
    /// From the moment the last of p peers signals until rank 0 has seen all; in sum.
    ManyToOne,
    /// g: from one signal to the next of many that follow each other; one peer.
    Gap,
    /// A message of some bytes, half of a round trip; one peer.
    Message,
    /// Handing a core to another rank and being seen there: half of a round trip between two ranks on one
    /// core.
    Switch,
}

/// Samples of one quantity at one number of peers and bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub quantity: Quantity,
    pub peers: u32,
    pub bytes: u64,
    /// There were more ranks than cores: handing over a core is part of the time.
    pub oversubscribed: bool,
    /// Nanoseconds, pass by pass. Passes are apart in time; samples within one are not independent.
    pub passes: Vec<Vec<f64>>,
}

/// A series in a few numbers; nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesSummary {
    pub quantity: Quantity,
    pub peers: u32,
    pub bytes: u64,
    pub oversubscribed: bool,
    pub samples: u64,
    pub min_ns: f64,
    pub p25_ns: f64,
    pub median_ns: f64,
    /// 95% interval of the median, from passes drawn again.
    pub median_low_ns: f64,
    pub median_high_ns: f64,
    pub p75_ns: f64,
    pub p99_ns: f64,
    pub max_ns: f64,
}

impl Series {
    /// Median of all samples.
    pub fn median_ns(&self) -> f64 {
        median(self.passes.iter().flatten().copied().collect())
    }

    /// Median of as many passes as there are, drawn at random with repetition.
    ///
    /// Whole passes are drawn and not single samples, because what disturbs one sample disturbs its
    /// neighbours too.
    pub fn median_of_redrawn_ns(&self, random: &mut fastrand::Rng) -> f64 {
        if self.passes.is_empty() {
            return 0.0;
        }
        let drawn = (0..self.passes.len()).flat_map(|_| &self.passes[random.usize(..self.passes.len())]);
        median(drawn.copied().collect())
    }

    /// The summary; its interval from `redraws` draws.
    pub fn point(&self, redraws: u32, random: &mut fastrand::Rng) -> SeriesSummary {
        let mut all: Vec<f64> = self.passes.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let mut medians: Vec<f64> = (0..redraws).map(|_| self.median_of_redrawn_ns(random)).collect();
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
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = fastrand::Rng::with_seed(11);
        let (mut held, mut held_by_samples) = (0, 0);
        for _ in 0..200 {
            let passes: Vec<Vec<f64>> = (0..20)
                .map(|_| {
                    let pass = 100.0 + 10.0 * (random.f64() - 0.5);
                    (0..30).map(|_| pass + random.f64() - 0.5).collect()
                })
                .collect();
            let holds = |point: &SeriesSummary| (point.median_low_ns..=point.median_high_ns).contains(&100.0);
            let singles = passes.iter().flatten().map(|s| vec![*s]).collect();
            held += u32::from(holds(&series(passes).point(200, &mut random)));
            held_by_samples += u32::from(holds(&series(singles).point(60, &mut random)));
        }
        assert!((176..=200).contains(&held), "{held} of 200");
        assert!(
            held_by_samples < 140,
            "{held_by_samples} of 200: samples of one pass were taken to be independent"
        );
    }
}

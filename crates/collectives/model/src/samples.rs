//! What a machine was seen to take: samples in passes, and their summaries.

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
pub struct Point {
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

/// The value below which a share of sorted values lies, interpolated; 0 of nothing.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

impl Series {
    /// Median of all samples.
    pub fn median_ns(&self) -> f64 {
        middle(self.passes.iter().flatten().copied().collect())
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
        middle(drawn.copied().collect())
    }

    /// The summary; its interval from `redraws` draws.
    pub fn point(&self, redraws: u32, random: &mut fastrand::Rng) -> Point {
        let mut all: Vec<f64> = self.passes.iter().flatten().copied().collect();
        all.sort_by(f64::total_cmp);
        let mut medians: Vec<f64> = (0..redraws).map(|_| self.median_of_redrawn_ns(random)).collect();
        medians.sort_by(f64::total_cmp);
        let of = |share| quantile(&all, share);
        Point {
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

/// The median; 0 of nothing.
fn middle(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let even = values.len() % 2 == 0;
    let at = values.len() / 2;
    let (below, upper, _) = values.select_nth_unstable_by(at, f64::total_cmp);
    let upper = *upper;
    if even { (below.iter().copied().fold(f64::NEG_INFINITY, f64::max) + upper) / 2.0 } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(passes: Vec<Vec<f64>>) -> Series {
        Series { quantity: Quantity::RoundTrip, peers: 1, bytes: 0, oversubscribed: false, passes }
    }

    #[test]
    fn quantiles_interpolate_and_medians_agree_with_them() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!([0.0, 0.5, 1.0, 0.25].map(|share| quantile(&sorted, share)), [1.0, 3.0, 8.0, 1.75]);
        assert_eq!((quantile(&[], 0.5), quantile(&[7.0], 0.99)), (0.0, 7.0));
        let mut random = fastrand::Rng::with_seed(3);
        for length in 1..60 {
            let mut values: Vec<f64> = (0..length).map(|_| random.f64()).collect();
            let found = middle(values.clone());
            values.sort_by(f64::total_cmp);
            assert!((found - quantile(&values, 0.5)).abs() < 1e-12, "{length}");
        }
        assert_eq!(series(Vec::new()).median_ns(), 0.0);
    }

    /// The interval holds the true median in about 95 of 100 measurements, also where all samples of a pass
    /// are disturbed alike; drawing single samples would not see that.
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
            let holds = |point: &Point| (point.median_low_ns..=point.median_high_ns).contains(&100.0);
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

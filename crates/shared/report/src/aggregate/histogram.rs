//! Merges the latency histograms of many ranks. Ranks sample at different rates, so buckets become weights.

use evenkeel_record::{Histogram, OpRecord};

/// Calls per bucket, estimated from the samples of every rank.
#[derive(Clone, Debug, Default)]
pub(super) struct WeightedHistogram(Vec<f64>);

impl WeightedHistogram {
    /// Adds a rank's samples, scaled up to the number of its calls.
    pub(super) fn add(&mut self, op: &OpRecord) {
        let samples: u64 = op.latency.counts.iter().fold(0, |sum, n| sum.saturating_add(*n));
        if samples == 0 {
            return;
        }
        let weight = op.calls.max(1) as f64 / samples as f64;
        // A record from a file may have more buckets than there are. They count as the last one.
        for (bucket, n) in op.latency.counts.iter().enumerate() {
            let bucket = bucket.min(Histogram::BUCKETS - 1);
            if self.0.len() <= bucket {
                self.0.resize(bucket + 1, 0.0);
            }
            self.0[bucket] += *n as f64 * weight;
        }
    }

    /// Adds the calls of another histogram.
    pub(super) fn merge(&mut self, other: &WeightedHistogram) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0.0);
        }
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs;
        }
    }

    /// The duration below which the share `q` (0..=1) of the calls lies, interpolated within its bucket;
    /// `None` without calls.
    pub(super) fn quantile_ns(&self, q: f64) -> Option<u64> {
        let total: f64 = self.0.iter().sum();
        if total <= 0.0 {
            return None;
        }
        let wanted = q * total;
        let mut below = 0.0;
        for (bucket, n) in self.0.iter().enumerate() {
            if *n > 0.0 && below + n >= wanted {
                let low = Histogram::lower_edge_ns(bucket) as f64;
                let high = upper_edge_ns(bucket) as f64;
                return Some((low + (high - low) * ((wanted - below) / n).clamp(0.0, 1.0)) as u64);
            }
            below += n;
        }
        Some(upper_edge_ns(self.0.len() - 1))
    }

    /// Calls per bucket, rounded to whole numbers.
    pub(super) fn rounded(&self) -> Vec<u64> {
        self.0.iter().map(|n| n.round() as u64).collect()
    }
}

/// Upper edge of a bucket. The last bucket has none; it is treated as if it were as wide as the rule says.
fn upper_edge_ns(bucket: usize) -> u64 {
    Histogram::lower_edge_ns(bucket + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(calls: u64, counts: &[(usize, u64)]) -> OpRecord {
        let mut latency = Histogram { counts: vec![0; counts.iter().map(|c| c.0).max().unwrap_or(0) + 1] };
        for (bucket, n) in counts {
            latency.counts[*bucket] = *n;
        }
        OpRecord { calls, latency, ..Default::default() }
    }

    #[test]
    fn sampled_calls_are_scaled_to_the_number_of_calls() {
        let mut w = WeightedHistogram::default();
        w.add(&op(1_000, &[(8, 10)])); // one call in a hundred was measured
        w.add(&op(10, &[(40, 10)])); // every call was measured
        assert_eq!(w.rounded()[8], 1_000);
        assert_eq!(w.rounded()[40], 10);
        let p50 = w.quantile_ns(0.5).unwrap();
        assert_eq!(Histogram::bucket(p50), 8);
        assert_eq!(Histogram::bucket(w.quantile_ns(0.995).unwrap()), 40);
    }

    #[test]
    fn merging_adds_up_calls() {
        let (mut both, mut one) = (WeightedHistogram::default(), WeightedHistogram::default());
        both.add(&op(3, &[(2, 1)]));
        one.add(&op(4, &[(2, 1), (9, 1)]));
        both.merge(&one);
        assert_eq!(both.rounded()[2], 5);
        assert_eq!(both.rounded()[9], 2);
    }

    #[test]
    fn quantiles_are_interpolated_within_their_bucket() {
        let mut w = WeightedHistogram::default();
        w.add(&op(100, &[(4, 100)]));
        assert_eq!(w.quantile_ns(0.5), Some(36)); // the middle of 32 to 40
        assert_eq!(WeightedHistogram::default().quantile_ns(0.5), None);
    }

    #[test]
    fn surplus_buckets_count_as_the_last() {
        let mut w = WeightedHistogram::default();
        w.add(&op(2, &[(Histogram::BUCKETS + 5, 2)]));
        assert_eq!(w.rounded().len(), Histogram::BUCKETS);
        assert!(w.quantile_ns(0.5).is_some());
    }
}

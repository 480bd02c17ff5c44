//! Distribution of durations, in classes whose width grows with the duration.

use serde::{Deserialize, Serialize};

/// A histogram with four buckets per doubling, from 16 ns to 17 s.
///
/// Bucket `4*k + j` (k = 0..29, j = 0..3) counts durations in
/// `[16·2^k·(1 + j/4), 16·2^k·(1 + (j+1)/4))` ns. Shorter durations count in the first bucket, longer ones in
/// the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Number of durations in each bucket. Empty buckets at the end are left out.
    pub counts: Vec<u64>,
}

impl Histogram {
    /// Number of buckets.
    pub const BUCKETS: usize = 120;

    /// Bucket of a duration in nanoseconds.
    ///
    /// ```
    /// use evenkeel_record::Histogram;
    /// assert_eq!(Histogram::bucket(3), 0);
    /// assert_eq!(Histogram::bucket(16), 0);
    /// assert_eq!(Histogram::bucket(20), 1);
    /// assert_eq!(Histogram::bucket(32), 4);
    /// assert_eq!(Histogram::bucket(u64::MAX), Histogram::BUCKETS - 1);
    /// ```
    pub fn bucket(ns: u64) -> usize {
        if ns < 16 {
            return 0;
        }
        let octave = 63 - ns.leading_zeros() as usize; // 16 = 2^4
        let quarter = (ns >> (octave - 2)) as usize & 3;
        ((octave - 4) * 4 + quarter).min(Self::BUCKETS - 1)
    }

    /// Lower edge of a bucket in nanoseconds.
    pub fn lower_edge_ns(bucket: usize) -> u64 {
        let base = 16u64 << (bucket / 4);
        base + base / 4 * (bucket % 4) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_and_buckets_agree() {
        for bucket in 0..Histogram::BUCKETS {
            assert_eq!(Histogram::bucket(Histogram::lower_edge_ns(bucket)), bucket);
            if bucket > 0 {
                assert_eq!(Histogram::bucket(Histogram::lower_edge_ns(bucket) - 1), bucket - 1);
            }
        }
    }
}

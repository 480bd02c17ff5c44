//! Whether one variant is clearly better than another, judged by the median of the ratios of neighbouring
//! turns.
//!
//! A disturbance that lasts for a while affects neighbouring turns equally, so their ratio says more than two
//! means do. The interval of the median is that of the sign test, which assumes nothing about how times are
//! distributed. Neighbouring turns are not quite independent, which makes the interval somewhat too narrow.
//! [`MARGIN`] compensates for that.

use evenkeel_statistics::median;
use serde::{Deserialize, Serialize};

/// A variant is clearly better if its interval lies below 1 by this much.
pub const MARGIN: f64 = 0.02;
/// The confidence of each interval. It is high because three finalists are compared with the built-in barrier
/// for each of many numbers of ranks, and none must be chosen by chance.
const CONFIDENCE: f64 = 0.999;

/// The ratios of the times of one variant to those of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    /// The median of the ratios.
    pub median: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
    /// The number of ratios.
    pub turns: u32,
}

impl Ratio {
    /// The ratios b / a of pairs (a, b) of times. None if there are too few pairs for an interval.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Ratio> {
        let mut ratios: Vec<f64> = pairs.iter().map(|(a, b)| b / a).filter(|r| r.is_finite()).collect();
        ratios.sort_by(f64::total_cmp);
        let from = rank_of_low(ratios.len(), CONFIDENCE)?;
        let (low, high) = (ratios[from], ratios[ratios.len() - 1 - from]);
        Some(Ratio { turns: ratios.len() as u32, median: median(ratios), low, high })
    }

    /// Whether the second variant is faster by more than chance and [`MARGIN`] explain.
    pub fn is_clearly_better(&self) -> bool {
        self.high < 1.0 - MARGIN
    }
}

/// The index of the lower end of the median's interval among `n` sorted values. It is the last index below
/// which the median lies with a probability of at most (1 - confidence) / 2. None if even index 0 is too
/// high.
fn rank_of_low(n: usize, confidence: f64) -> Option<usize> {
    let (mut below, mut found) = (0.0, None);
    // The logarithm of the probability that exactly k of n values are below the median. It starts at k = 0.
    let mut ln = -(n as f64) * std::f64::consts::LN_2;
    for k in 0..n.div_ceil(2) {
        below += ln.exp();
        if below > (1.0 - confidence) / 2.0 {
            break;
        }
        found = Some(k);
        ln += ((n - k) as f64 / (k + 1) as f64).ln();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_sign_test() {
        // From tables of the two-sided sign test. At 1%, the interval of 8 values is from the least to the
        // greatest, that of 20 begins at the 4th, and that of 100 at the 37th. At 0.1% it takes 11 values.
        assert_eq!([7, 8, 20, 100].map(|n| rank_of_low(n, 0.99)), [None, Some(0), Some(3), Some(36)]);
        assert_eq!([10, 11, 100].map(|n| rank_of_low(n, CONFIDENCE)), [None, Some(0), Some(33)]);
        assert_eq!(rank_of_low(5000, 0.99).map(|k| (2400..2420).contains(&k)), Some(true));
    }

    #[test]
    fn a_variant_is_chosen_only_if_it_is_clearly_better() {
        let pairs = |faster: f64, spread: f64| -> Vec<(f64, f64)> {
            (0..100)
                .map(|i| (100.0, 100.0 * faster * (1.0 + spread * (f64::from(i * 37 % 100) / 50.0 - 1.0))))
                .collect()
        };
        assert!(Ratio::of(&pairs(0.8, 0.1)).unwrap().is_clearly_better());
        assert!(!Ratio::of(&pairs(1.0, 0.1)).unwrap().is_clearly_better());
        assert!(
            !Ratio::of(&pairs(0.97, 0.3)).unwrap().is_clearly_better(),
            "perhaps better, but not certainly"
        );
        assert!(
            !Ratio::of(&pairs(0.985, 0.0)).unwrap().is_clearly_better(),
            "certainly better, but by less than the margin"
        );
        assert_eq!(Ratio::of(&pairs(0.5, 0.0)[..10]), None);
    }

    #[test]
    fn lasting_noise_does_not_change_the_ratio() {
        let pairs: Vec<(f64, f64)> =
            (0..60).map(|i| if i < 30 { (100.0, 90.0) } else { (1000.0, 900.0) }).collect();
        let ratio = Ratio::of(&pairs).unwrap();
        assert!((ratio.median - 0.9).abs() < 1e-9 && ratio.is_clearly_better());
    }
}

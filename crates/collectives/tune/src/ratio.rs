//! When one way is clearly better than another: by the median of ratios of turns that followed each
//! other.
//!
//! Whatever disturbs a machine for a while disturbs turns that follow each other alike, so their ratio
//! says more than two means do. Its interval is the one of the sign test: it assumes nothing about how
//! times are distributed. Turns that follow each other are not quite independent, which makes the
//! interval somewhat too narrow; [`MARGIN`] is for that.

use evenkeel_statistics::median;
use serde::{Deserialize, Serialize};

/// A way is taken if its interval lies below 1 by this much.
pub const MARGIN: f64 = 0.02;
/// Of each interval. Three ways are compared with one for each of many numbers of ranks, and none must
/// be taken by chance.
const CONFIDENCE: f64 = 0.999;

/// How the times of one way compare with those of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    pub turns: u32,
}

impl Ratio {
    /// From pairs of times, (a, b): of b / a. None of too few for an interval.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Ratio> {
        let mut ratios: Vec<f64> = pairs.iter().map(|(a, b)| b / a).filter(|r| r.is_finite()).collect();
        ratios.sort_by(f64::total_cmp);
        let from = rank_of_low(ratios.len(), CONFIDENCE)?;
        let (low, high) = (ratios[from], ratios[ratios.len() - 1 - from]);
        Some(Ratio { turns: ratios.len() as u32, median: median(ratios), low, high })
    }

    /// Whether the second way is faster by more than chance and [`MARGIN`].
    pub fn is_clearly_better(&self) -> bool {
        self.high < 1.0 - MARGIN
    }
}

/// Which of `n` sorted values, from 0, is the lower end of the median's interval: the last with as
/// little as half of what is left over below it. None if even the least one is too high.
fn rank_of_low(n: usize, confidence: f64) -> Option<usize> {
    let (mut below, mut found) = (0.0, None);
    // ln of the probability that exactly k of n fall below the median, from k = 0 on.
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
        // Tables of the sign test (two-sided): with 8 values the extremes at 1%, with 20 the 4th, with 100
        // the 37th; 11 at 0.1%.
        assert_eq!([7, 8, 20, 100].map(|n| rank_of_low(n, 0.99)), [None, Some(0), Some(3), Some(36)]);
        assert_eq!([10, 11, 100].map(|n| rank_of_low(n, CONFIDENCE)), [None, Some(0), Some(33)]);
        assert_eq!(rank_of_low(5000, 0.99).map(|k| (2400..2420).contains(&k)), Some(true));
    }

    #[test]
    fn a_way_is_taken_only_if_it_is_clearly_better() {
        let pairs = |faster: f64, spread: f64| -> Vec<(f64, f64)> {
            (0..100)
                .map(|i| (100.0, 100.0 * faster * (1.0 + spread * (f64::from(i * 37 % 100) / 50.0 - 1.0))))
                .collect()
        };
        assert!(Ratio::of(&pairs(0.8, 0.1)).unwrap().is_clearly_better());
        assert!(!Ratio::of(&pairs(1.0, 0.1)).unwrap().is_clearly_better());
        assert!(
            !Ratio::of(&pairs(0.97, 0.3)).unwrap().is_clearly_better(),
            "better, perhaps, but not clearly"
        );
        assert!(
            !Ratio::of(&pairs(0.985, 0.0)).unwrap().is_clearly_better(),
            "clearly, but by next to nothing"
        );
        assert_eq!(Ratio::of(&pairs(0.5, 0.0)[..10]), None);
    }

    #[test]
    fn noise_that_lasts_falls_out_of_the_ratio() {
        let pairs: Vec<(f64, f64)> =
            (0..60).map(|i| if i < 30 { (100.0, 90.0) } else { (1000.0, 900.0) }).collect();
        let ratio = Ratio::of(&pairs).unwrap();
        assert!((ratio.median - 0.9).abs() < 1e-9 && ratio.is_clearly_better());
    }
}

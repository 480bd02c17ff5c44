//! Quantiles and medians, so that two reports never compute the same figure in two ways.
//!
//! May use: std. Must never: allocate more than a copy of what it is given, or panic on empty input.
//!
//! Histograms, which keep counts instead of values, answer for their own quantiles.

/// The value below which a share of sorted values lies, interpolated linearly between neighbours (Hyndman and
/// Fan 1996, definition 7). `share` is from 0 to 1. The result is 0 if there are no values.
///
/// ```
/// use evenkeel_statistics::quantile;
/// assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
/// ```
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// The value of a sorted slice that is nearest to a quantile: one of the values, never something between two.
/// `share` is from 0 to 1. None if there are no values.
///
/// ```
/// use evenkeel_statistics::nearest_rank;
/// assert_eq!(nearest_rank(&[10, 20, 40], 0.9), Some(40));
/// ```
pub fn nearest_rank<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get((last as f64 * share.clamp(0.0, 1.0)).round() as usize).copied()
}

/// The median of values in any order; of an even number of values the mean of the middle two. The result is 0
/// if there are no values. Takes linear time.
///
/// ```
/// use evenkeel_statistics::median;
/// assert_eq!(median(vec![8.0, 1.0, 3.0]), 3.0);
/// ```
pub fn median(mut values: Vec<f64>) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let (middle, is_even) = (values.len() / 2, values.len() % 2 == 0);
    let (below, upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    let upper = *upper;
    if is_even { (below.iter().copied().fold(f64::NEG_INFINITY, f64::max) + upper) / 2.0 } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_interpolate() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        assert_eq!([0.0, 0.5, 1.0, 0.25].map(|share| quantile(&sorted, share)), [1.0, 3.0, 8.0, 1.75]);
        assert_eq!((quantile(&[], 0.5), quantile(&[7.0], 0.99)), (0.0, 7.0));
    }

    #[test]
    fn a_nearest_rank_is_one_of_the_values() {
        let sorted = [1_u64, 2, 4, 8];
        assert_eq!([0.0, 0.5, 0.99].map(|share| nearest_rank(&sorted, share)), [Some(1), Some(4), Some(8)]);
        assert_eq!(nearest_rank::<u64>(&[], 0.5), None);
    }

    #[test]
    fn the_median_is_the_middle_quantile() {
        let mut values: Vec<f64> = (0..50).map(|i| f64::from(i * 37 % 101)).collect();
        while values.pop().is_some() {
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            assert!((median(values.clone()) - quantile(&sorted, 0.5)).abs() < 1e-12, "{}", values.len());
        }
    }
}

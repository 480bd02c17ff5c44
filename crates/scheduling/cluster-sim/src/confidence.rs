//! Means with intervals over independent runs. May use: std.

/// The 97.5% quantiles of Student's distribution with 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same for more.
const NORMAL: f64 = 1.96;

/// A mean, and half the width of its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// The true mean lies within this distance with 95% confidence. Infinite for fewer than two values.
    pub half_width: f64,
}

impl Interval {
    /// The interval of values of independent runs.
    ///
    /// ```
    /// use evenkeel_cluster_sim::Interval;
    /// let interval = Interval::of(&[1.0, 2.0, 3.0]);
    /// assert_eq!(interval.mean, 2.0);
    /// assert!((interval.half_width - 4.303 / 3f64.sqrt()).abs() < 1e-9);
    /// ```
    pub fn of(values: &[f64]) -> Interval {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count.max(1) as f64;
        if count < 2 {
            return Interval { mean, half_width: f64::INFINITY };
        }
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (count - 1) as f64 / count as f64).sqrt();
        let factor = STUDENT.get(count - 2).copied().unwrap_or(NORMAL);
        Interval { mean, half_width: factor * error }
    }
}

//! Statistics of times.

use serde::Serialize;

/// Statistics of some times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// The least time.
    pub least: f64,
    /// The mean.
    pub mean: f64,
    /// The longest time.
    pub most: f64,
    /// The standard deviation of the population.
    pub deviation: f64,
}

impl Statistics {
    /// The statistics of values, each multiplied by `scale`.
    ///
    /// # Panics
    /// If there are no values.
    pub fn of(values: &[u64], scale: f64) -> Statistics {
        assert!(!values.is_empty(), "nothing was measured");
        let n = values.len() as f64;
        let mean = values.iter().map(|v| *v as f64).sum::<f64>() / n;
        let variance = values.iter().map(|v| (*v as f64 - mean).powi(2)).sum::<f64>() / n;
        let end = |f: fn(u64, u64) -> u64| values.iter().copied().reduce(f).unwrap_or(0) as f64 * scale;
        Statistics {
            least: end(u64::min),
            mean: mean * scale,
            most: end(u64::max),
            deviation: variance.sqrt() * scale,
        }
    }
}

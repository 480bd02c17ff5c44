//! Means with confidence intervals.

use serde::Serialize;

/// A mean of independent values, with the half width of its 95% confidence interval (Student's t).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The mean.
    pub mean: f64,
    /// Half of the width of the interval; infinite for fewer than two values.
    pub half_width: f64,
    /// Number of values.
    pub values: usize,
}

impl Interval {
    /// The interval of some values.
    pub fn of(values: &[f64]) -> Interval {
        let n = values.len();
        let mean = values.iter().sum::<f64>() / n as f64;
        if n < 2 {
            return Interval { mean, half_width: f64::INFINITY, values: n };
        }
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64;
        Interval { mean, half_width: student(n - 1) * (variance / n as f64).sqrt(), values: n }
    }

    /// The half width as a share of the mean.
    pub fn relative(&self) -> f64 {
        self.half_width / self.mean.abs()
    }

    /// The geometric mean of ratios, and the lower and upper end of its interval.
    pub fn geometric(ratios: &[f64]) -> (f64, f64, f64) {
        let logs = Interval::of(&ratios.iter().map(|r| r.ln()).collect::<Vec<f64>>());
        (logs.mean.exp(), (logs.mean - logs.half_width).exp(), (logs.mean + logs.half_width).exp())
    }
}

/// The 97.5% quantile of Student's distribution.
///
/// It comes from the normal quantile (Abramowitz and Stegun 26.7.5) or, where that is too inaccurate, from
/// a table.
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 6] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447];
    if let Some(t) = TABLE.get(freedom - 1) {
        return *t;
    }
    let (x, v) = (1.959_963_985_f64, freedom as f64);
    let terms = [
        (x.powi(3) + x) / 4.0,
        (5.0 * x.powi(5) + 16.0 * x.powi(3) + 3.0 * x) / 96.0,
        (3.0 * x.powi(7) + 19.0 * x.powi(5) + 17.0 * x.powi(3) - 15.0 * x) / 384.0,
    ];
    x + terms[0] / v + terms[1] / v.powi(2) + terms[2] / v.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_agree_with_published_tables() {
        for (freedom, t) in
            [(1, 12.706), (4, 2.776), (7, 2.365), (9, 2.262), (19, 2.093), (30, 2.042), (1000, 1.962)]
        {
            assert!((student(freedom) - t).abs() < 0.002, "{freedom}: {}", student(freedom));
        }
    }

    #[test]
    fn an_interval_agrees_with_one_computed_by_hand() {
        let found = Interval::of(&[1.0, 2.0, 3.0]);
        assert_eq!(found.mean, 2.0);
        assert!((found.half_width - 4.303 / 3.0_f64.sqrt()).abs() < 1e-9);
        assert!(Interval::of(&[1.0]).half_width.is_infinite());
        assert!((Interval::geometric(&[0.5, 2.0]).0 - 1.0).abs() < 1e-12);
    }
}

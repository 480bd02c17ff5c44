//! Points, and how far a curve is from them.

use evenkeel_statistics::quantile;
use serde::{Deserialize, Serialize};

/// One measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    /// The number of peers or of bytes.
    pub x: f64,
    /// The time in nanoseconds.
    pub ns: f64,
}

/// Relative distances of a curve from points: 0.05 is 5%.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    /// The number of points.
    pub points: u32,
    /// The median of the distances.
    pub median: f64,
    /// The largest distance.
    pub worst: f64,
}

/// The distances of `curve` from `points`.
pub fn distance(points: &[CurvePoint], curve: impl Fn(f64) -> f64) -> Distance {
    let mut off: Vec<f64> = points.iter().map(|p| (curve(p.x) / p.ns - 1.0).abs()).collect();
    off.sort_by(f64::total_cmp);
    Distance {
        points: off.len() as u32,
        median: quantile(&off, 0.5),
        worst: off.last().copied().unwrap_or(0.0),
    }
}

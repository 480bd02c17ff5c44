//! Parameters from measurements: robust, from many starts, with intervals, and tried on points that
//! were held out.
//!
//! The thesis fitted its six λ by least squares with one start after the other chosen by hand, and knew
//! that it stopped in local minima. Here most λ never enter the search. For given shift and rate the
//! others are linear: a weighted linear problem ([`linear`]) solves them exactly, and Nelder-Mead
//! ([`search`]) is left with one or two dimensions, from a grid of starts. Distances are relative
//! (times span orders of magnitude), and robust: absolute first, then Tukey's, which gives points far
//! off no weight. λ₃, λ₄ and λ₆ of the round trip cannot be told apart (see [`crate::RoundTrip`]): λ₆
//! is 0 by convention.

mod linear;
mod search;
mod shapes;

pub use linear::line;
pub use shapes::{held_out, overhead, round_trip};

use serde::{Deserialize, Serialize};

/// One value of a curve: at a number of peers (or bytes) so many nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurvePoint {
    pub x: f64,
    pub ns: f64,
}

/// How far a curve is from points: relative, 0.05 is 5%.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Distance {
    pub points: u32,
    pub median: f64,
    pub worst: f64,
}

/// Distances of `curve` from `points`.
pub fn distance(points: &[CurvePoint], curve: impl Fn(f64) -> f64) -> Distance {
    let mut off: Vec<f64> = points.iter().map(|p| (curve(p.x) / p.ns - 1.0).abs()).collect();
    off.sort_by(f64::total_cmp);
    Distance {
        points: off.len() as u32,
        median: evenkeel_statistics::quantile(&off, 0.5),
        worst: off.last().copied().unwrap_or(0.0),
    }
}

//! What a comparison times.

use std::time::Duration;

/// Runs and times turns of variants. Variant 0 is the built-in barrier, and the candidates follow.
pub trait VariantTimer {
    /// Runs a turn of so many barriers. Returns the nanoseconds of one barrier.
    fn time_turn(&mut self, variant: usize, calls: u32) -> f64;
    /// The time since the beginning of the comparison.
    fn elapsed(&self) -> Duration;
}

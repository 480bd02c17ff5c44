//! The times of all variants, round by round.

use crate::ratio::Ratio;
use crate::variant_timer::VariantTimer;
use evenkeel_statistics::median;
use std::time::Duration;

/// The times of each variant in nanoseconds. Element `r` is the time in round `r`, as variants that drop
/// out do not come back. Unfinished rounds are left out.
pub(crate) struct Rounds(Vec<Vec<f64>>);

impl Rounds {
    /// No rounds yet of so many variants, which include the built-in barrier.
    pub(crate) fn new(variants: usize) -> Rounds {
        Rounds(vec![Vec::new(); variants])
    }

    /// Rounds so far.
    pub(crate) fn count(&self) -> usize {
        self.0[0].len()
    }

    /// The times of a variant.
    pub(crate) fn times(&self, variant: usize) -> &[f64] {
        &self.0[variant]
    }

    /// Whether a variant was in all rounds.
    pub(crate) fn is_complete(&self, variant: usize) -> bool {
        self.0[variant].len() == self.count()
    }

    /// Takes one turn of each of `variants`, in that order. If the time `until` passes before the last turn
    /// begins, the round does not count.
    pub(crate) fn take_round(
        &mut self,
        timer: &mut impl VariantTimer,
        variants: &[usize],
        calls: u32,
        until: Duration,
    ) {
        let done = self.count();
        for &variant in variants {
            if timer.elapsed() > until {
                variants.iter().for_each(|variant| self.0[*variant].truncate(done));
                return;
            }
            self.0[variant].push(timer.time_turn(variant, calls));
        }
    }

    /// The ratio of a variant to the built-in barrier. None if there are too few rounds.
    pub(crate) fn ratio(&self, variant: usize) -> Option<Ratio> {
        let pairs: Vec<(f64, f64)> = self.0[0].iter().copied().zip(self.0[variant].iter().copied()).collect();
        Ratio::of(&pairs)
    }

    /// The median of the ratios to the built-in barrier over the rounds of the variant. Infinite without
    /// rounds.
    pub(crate) fn median_ratio(&self, variant: usize) -> f64 {
        let ratios: Vec<f64> = self.0[0].iter().zip(&self.0[variant]).map(|(a, b)| b / a).collect();
        if ratios.is_empty() { f64::INFINITY } else { median(ratios) }
    }

    /// The least ratio to the built-in barrier that the times allow: the lower end of the interval. While
    /// there is no interval, it is the ratio of the fastest turns, since a disturbance can make some turns
    /// of a variant longer, but not all.
    pub(crate) fn lower_bound(&self, variant: usize) -> f64 {
        let least = |variant: usize| fastest(&self.0[variant]);
        self.ratio(variant).map_or_else(|| least(variant) / least(0), |ratio| ratio.low)
    }
}

/// The least of some times. Infinite without any.
pub(crate) fn fastest(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

//! The medians of all series of a measurement.

use super::record::MeasurementError;
use crate::fit::CurvePoint;
use crate::samples::{Quantity, Series};
use evenkeel_statistics::quantile;

/// The medians of all series, as measured or of a bootstrap sample.
pub(super) struct Medians<'a> {
    pub(super) series: &'a [Series],
    pub(super) medians_ns: Vec<f64>,
}

impl<'a> Medians<'a> {
    /// The medians as measured.
    pub(super) fn of(series: &'a [Series]) -> Medians<'a> {
        Medians { series, medians_ns: series.iter().map(Series::median_ns).collect() }
    }

    /// The medians of a bootstrap sample of each series.
    pub(super) fn resampled(series: &'a [Series], random: &mut fastrand::Rng) -> Medians<'a> {
        let medians_ns = series.iter().map(|s| s.resampled_median_ns(random)).collect();
        Medians { series, medians_ns }
    }

    /// Each series with its median.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Series, f64)> {
        self.series.iter().zip(self.medians_ns.iter().copied())
    }

    /// The medians of a quantity against the number of peers, ascending.
    pub(super) fn by_peers(&self, quantity: Quantity, oversubscribed: bool) -> Vec<CurvePoint> {
        let is_chosen = |s: &Series| s.quantity == quantity && s.oversubscribed == oversubscribed;
        self.curve(is_chosen, |s| f64::from(s.peers))
    }

    /// The medians of some series against `x`, ascending. Times of 0 are left out, because a relative
    /// distance from 0 does not exist.
    pub(super) fn curve(
        &self,
        is_chosen: impl Fn(&Series) -> bool,
        x: impl Fn(&Series) -> f64,
    ) -> Vec<CurvePoint> {
        let chosen = self.iter().filter(|(s, ns)| is_chosen(s) && *ns > 0.0);
        let mut points: Vec<CurvePoint> = chosen.map(|(s, ns)| CurvePoint { x: x(s), ns }).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    }

    /// The median of a quantity with one peer.
    pub(super) fn with_one_peer(&self, quantity: Quantity) -> Option<f64> {
        self.iter().find(|(s, _)| s.quantity == quantity && s.peers == 1).map(|(_, ns)| ns)
    }

    /// The same, for a quantity that every estimate needs.
    pub(super) fn required(&self, quantity: Quantity) -> Result<f64, MeasurementError> {
        self.with_one_peer(quantity).ok_or(MeasurementError::Missing(quantity))
    }

    /// The median of a quantity's medians over all numbers of peers that leave each rank a core. If there
    /// are none, the median with one peer.
    pub(super) fn overhead(&self, quantity: Quantity) -> Result<f64, MeasurementError> {
        let has_cores = |s: &Series| s.quantity == quantity && !s.oversubscribed;
        let mut own: Vec<f64> = self.iter().filter(|(s, _)| has_cores(s)).map(|(_, ns)| ns).collect();
        own.sort_by(f64::total_cmp);
        if own.is_empty() { self.required(quantity) } else { Ok(quantile(&own, 0.5)) }
    }
}

//! LoP from medians: the functions with their intervals and their distance from points that were held
//! out.

use super::medians::Medians;
use super::record::Curve;
use crate::fit::{self, CurvePoint};
use crate::samples::Quantity;
use crate::{LoP, Overhead, Posting, RoundTrip};
use evenkeel_statistics::quantile;

/// The least number of points for a round trip: its five parameters, and one more.
const LEAST: usize = 6;

/// A fitted function.
#[derive(Clone, Copy)]
enum FittedFunction {
    RoundTrip(RoundTrip),
    Overhead(Overhead),
}

impl FittedFunction {
    fn at_ns(&self, peers: f64) -> f64 {
        match self {
            FittedFunction::RoundTrip(f) => f.at_ns(peers as u64),
            FittedFunction::Overhead(f) => f.at_ns(peers as u64),
        }
    }
}

/// Fits the function that belongs to a quantity.
fn fit(quantity: Quantity, points: &[CurvePoint], near: Option<FittedFunction>) -> Option<FittedFunction> {
    match (quantity, near) {
        (Quantity::RoundTrip, Some(FittedFunction::RoundTrip(near))) => {
            fit::round_trip(points, Some(&near)).map(FittedFunction::RoundTrip)
        }
        (Quantity::RoundTrip, _) => fit::round_trip(points, None).map(FittedFunction::RoundTrip),
        (_, Some(FittedFunction::Overhead(near))) => {
            fit::overhead(points, Some(&near)).map(FittedFunction::Overhead)
        }
        _ => fit::overhead(points, None).map(FittedFunction::Overhead),
    }
}

/// Whether LoP is fitted to ranks that share cores: only if too few numbers of peers leave each rank a
/// core. Points of both kinds together would be two curves in one. None if there are too few points of
/// either kind.
fn shares_cores(medians: &Medians) -> Option<bool> {
    [false, true].into_iter().find(|over| medians.by_peers(Quantity::RoundTrip, *over).len() >= LEAST)
}

/// The three functions, as far as there are enough points.
pub(super) fn curves(medians: &Medians, resampled: &[Medians]) -> Vec<Curve> {
    let Some(oversubscribed) = shares_cores(medians) else { return Vec::new() };
    let each = [Quantity::RoundTrip, Quantity::SendOverhead, Quantity::ReceiveOverhead];
    each.into_iter().filter_map(|quantity| curve(quantity, oversubscribed, medians, resampled)).collect()
}

fn curve(
    quantity: Quantity,
    oversubscribed: bool,
    medians: &Medians,
    resampled: &[Medians],
) -> Option<Curve> {
    let points = medians.by_peers(quantity, oversubscribed);
    let found = fit(quantity, &points, None)?;
    let samples: Vec<FittedFunction> = resampled
        .iter()
        .filter_map(|s| fit(quantity, &s.by_peers(quantity, oversubscribed), Some(found)))
        .collect();
    let at = |share: f64| {
        let of = |p: &CurvePoint| {
            let mut drawn: Vec<f64> = samples.iter().map(|f| f.at_ns(p.x)).collect();
            drawn.sort_by(f64::total_cmp);
            quantile(&drawn, share)
        };
        points.iter().map(of).collect()
    };
    Some(Curve {
        quantity,
        oversubscribed,
        peers: points.iter().map(|p| p.x as u32).collect(),
        value_ns: points.iter().map(|p| found.at_ns(p.x)).collect(),
        low_ns: at(0.025),
        high_ns: at(0.975),
        seen: fit::distance(&points, |p| found.at_ns(p)),
        held_out: fit::held_out(&points, |kept| {
            let found = fit(quantity, kept, None)?;
            Some(Box::new(move |p| found.at_ns(p)))
        }),
    })
}

/// The model. None if there are too few numbers of peers.
pub(super) fn lop(medians: &Medians) -> Option<LoP> {
    let over = shares_cores(medians)?;
    let trips = medians.by_peers(Quantity::RoundTrip, over);
    let flat = |quantity| {
        // With too few points for a curve, an overhead that does not depend on the number of peers.
        let points = medians.by_peers(quantity, over);
        fit::overhead(&points, None).or_else(|| Some(Overhead::constant(points.first()?.ns)))
    };
    Some(LoP {
        round_trip: fit::round_trip(&trips, None)?,
        send_overhead: flat(Quantity::SendOverhead)?,
        receive_overhead: flat(Quantity::ReceiveOverhead)?,
        posting: Posting::Each,
        most_peers: trips.last()?.x as u64,
    })
}

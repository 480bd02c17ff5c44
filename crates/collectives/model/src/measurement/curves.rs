//! LoP from medians: the functions, with bands and with what they say of points that were held out.

use super::Curve;
use super::estimates::Seen;
use crate::fit::{self, CurvePoint};
use crate::samples::Quantity;
use crate::{LoP, Overhead, Posting, RoundTrip};
use evenkeel_statistics::quantile;

/// The five parameters of a round trip, and one more.
const LEAST: usize = 6;

/// One of the two shapes, fitted.
#[derive(Clone, Copy)]
enum Shape {
    RoundTrip(RoundTrip),
    Overhead(Overhead),
}

impl Shape {
    fn at_ns(&self, peers: f64) -> f64 {
        match self {
            Shape::RoundTrip(f) => f.at_ns(peers as u64),
            Shape::Overhead(f) => f.at_ns(peers as u64),
        }
    }
}

/// The shape that belongs to a quantity.
fn fit(quantity: Quantity, points: &[CurvePoint], near: Option<Shape>) -> Option<Shape> {
    match (quantity, near) {
        (Quantity::RoundTrip, Some(Shape::RoundTrip(near))) => {
            fit::round_trip(points, Some(&near)).map(Shape::RoundTrip)
        }
        (Quantity::RoundTrip, _) => fit::round_trip(points, None).map(Shape::RoundTrip),
        (_, Some(Shape::Overhead(near))) => fit::overhead(points, Some(&near)).map(Shape::Overhead),
        _ => fit::overhead(points, None).map(Shape::Overhead),
    }
}

/// Whether LoP is fitted to ranks that share cores: where too few numbers of peers leave each rank one.
/// Both together would be two curves in one.
fn shares_cores(seen: &Seen) -> Option<bool> {
    [false, true].into_iter().find(|over| seen.by_peers(Quantity::RoundTrip, *over).len() >= LEAST)
}

/// The three functions, as far as there are points enough.
pub(super) fn curves(seen: &Seen, redrawn: &[Seen]) -> Vec<Curve> {
    let Some(oversubscribed) = shares_cores(seen) else { return Vec::new() };
    let each = [Quantity::RoundTrip, Quantity::SendOverhead, Quantity::ReceiveOverhead];
    each.into_iter().filter_map(|quantity| curve(quantity, oversubscribed, seen, redrawn)).collect()
}

fn curve(quantity: Quantity, oversubscribed: bool, seen: &Seen, redrawn: &[Seen]) -> Option<Curve> {
    let points = seen.by_peers(quantity, oversubscribed);
    let found = fit(quantity, &points, None)?;
    let again: Vec<Shape> = redrawn
        .iter()
        .filter_map(|s| fit(quantity, &s.by_peers(quantity, oversubscribed), Some(found)))
        .collect();
    let at = |share: f64| {
        let of = |p: &CurvePoint| {
            let mut drawn: Vec<f64> = again.iter().map(|f| f.at_ns(p.x)).collect();
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

/// The model itself; None with too few numbers of peers.
pub(super) fn lop(seen: &Seen) -> Option<LoP> {
    let over = shares_cores(seen)?;
    let trips = seen.by_peers(Quantity::RoundTrip, over);
    let flat = |quantity| {
        // Overheads that do not depend on the number of peers enough for a curve.
        let points = seen.by_peers(quantity, over);
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

//! LogGP from medians, the intervals of its parameters, and times that it predicts without having seen them.

use super::{Check, Estimate, Found, MeasurementError};
use crate::LogGp;
use crate::fit::{CurvePoint, line};
use crate::samples::{Quantity, Series};
use evenkeel_statistics::quantile;

/// Nothing arrives before it is sent, and a simulator needs an order of events.
const LEAST_LATENCY_NS: f64 = 1.0;

/// The medians of all series, as seen or as drawn again.
pub(super) struct Seen<'a> {
    series: &'a [Series],
    medians_ns: Vec<f64>,
    /// Only messages of so many bytes and more say what G is.
    long_bytes: u64,
}

impl<'a> Seen<'a> {
    pub(super) fn of(series: &'a [Series], long_bytes: u64) -> Seen<'a> {
        Seen { series, medians_ns: series.iter().map(Series::median_ns).collect(), long_bytes }
    }

    pub(super) fn redrawn(series: &'a [Series], long_bytes: u64, random: &mut fastrand::Rng) -> Seen<'a> {
        Seen {
            series,
            medians_ns: series.iter().map(|s| s.median_of_redrawn_ns(random)).collect(),
            long_bytes,
        }
    }

    /// Medians of a quantity against the number of peers, ascending. Times of 0 are left out: they have no
    /// relative distance.
    pub(super) fn by_peers(&self, quantity: Quantity, oversubscribed: bool) -> Vec<CurvePoint> {
        self.curve(|s| s.quantity == quantity && s.oversubscribed == oversubscribed, |s| f64::from(s.peers))
    }

    fn curve(&self, which: impl Fn(&Series) -> bool, x: impl Fn(&Series) -> f64) -> Vec<CurvePoint> {
        let chosen = self.series.iter().zip(&self.medians_ns).filter(|(s, ns)| which(s) && **ns > 0.0);
        let mut points: Vec<CurvePoint> = chosen.map(|(s, ns)| CurvePoint { x: x(s), ns: *ns }).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    }

    /// The median with one peer.
    pub(super) fn one(&self, quantity: Quantity) -> Option<f64> {
        self.series
            .iter()
            .zip(&self.medians_ns)
            .find(|(s, _)| s.quantity == quantity && s.peers == 1)
            .map(|(_, ns)| *ns)
    }

    fn needed(&self, quantity: Quantity) -> Result<f64, MeasurementError> {
        self.one(quantity).ok_or(MeasurementError::Missing(quantity))
    }

    /// The middle of a quantity's medians over all numbers of peers that leave each rank a core; else the
    /// one with one peer.
    fn overhead(&self, quantity: Quantity) -> Result<f64, MeasurementError> {
        let mut own: Vec<f64> = self
            .series
            .iter()
            .zip(&self.medians_ns)
            .filter(|(s, _)| s.quantity == quantity && !s.oversubscribed)
            .map(|(_, ns)| *ns)
            .collect();
        own.sort_by(f64::total_cmp);
        if own.is_empty() { self.needed(quantity) } else { Ok(quantile(&own, 0.5)) }
    }

    /// o_s and o_r as measured; L what they leave of half a round trip; g from a stream; G the slope over
    /// sizes.
    pub(super) fn loggp(&self) -> Result<Found, MeasurementError> {
        let one_way = self.needed(Quantity::RoundTrip)? / 2.0;
        let send = self.overhead(Quantity::SendOverhead)?.min(one_way - LEAST_LATENCY_NS.min(one_way));
        let receive = self.overhead(Quantity::ReceiveOverhead)?;
        let left = one_way - send;
        let sizes =
            self.curve(|s| s.quantity == Quantity::Message && s.bytes >= self.long_bytes, |s| s.bytes as f64);
        let least = LEAST_LATENCY_NS.min(left);
        let model = LogGp {
            latency_ns: (left - receive).max(least),
            send_overhead_ns: send,
            receive_overhead_ns: receive.min(left - least),
            gap_ns: self.needed(Quantity::Gap)?,
            gap_per_byte_ns: line(&sizes).map_or(0.0, |(_, slope)| slope.max(0.0)),
        };
        let oversubscribed =
            self.series.iter().any(|s| s.quantity == Quantity::RoundTrip && s.peers == 1 && s.oversubscribed);
        Ok(Found { model, oversubscribed, no_latency: receive >= left - least })
    }
}

const PARAMETERS: [(&str, &str, &str, &str); 6] = [
    ("L", "latency", "ns", "half a round trip with one peer, without the overheads"),
    ("o_s", "send overhead", "ns", "signals to peers, one after the other"),
    ("o_r", "receive overhead", "ns", "taking signals that are there"),
    ("g", "gap", "ns", "a stream of signals to one peer"),
    ("G", "gap per byte", "ns/B", "slope of half a round trip over the sizes of messages"),
    ("s", "switch", "ns", "half a round trip between two ranks on one core"),
];

/// The parameters with intervals: the middle 95% of those of redrawn measurements.
pub(super) fn estimates(seen: &Seen, found: &Found, redrawn: &[Seen]) -> Vec<Estimate> {
    let values = |found: &Found, seen: &Seen| {
        let m = found.model;
        [
            Some(m.latency_ns),
            Some(m.send_overhead_ns),
            Some(m.receive_overhead_ns),
            Some(m.gap_ns),
            Some(m.gap_per_byte_ns),
            seen.one(Quantity::Switch),
        ]
    };
    let again: Vec<_> = redrawn.iter().filter_map(|s| Some(values(&s.loggp().ok()?, s))).collect();
    let each = PARAMETERS.iter().zip(values(found, seen)).enumerate();
    each.filter_map(|(i, ((symbol, name, unit, from), value))| {
        let mut drawn: Vec<f64> = again.iter().filter_map(|v| v[i]).collect();
        drawn.sort_by(f64::total_cmp);
        Some(Estimate {
            symbol: (*symbol).into(),
            name: (*name).into(),
            unit: (*unit).into(),
            value: value?,
            low: quantile(&drawn, 0.025),
            high: quantile(&drawn, 0.975),
            from: if *symbol == "G" && seen.long_bytes > 0 {
                "slope of half a round trip over the sizes of long messages".into()
            } else {
                (*from).into()
            },
        })
    })
    .collect()
}

/// Predictions of LogGP for what it was not made from: more peers than one with a core each, and messages.
pub(super) fn checks(seen: &Seen, model: &LogGp) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut check = |what: &str, peers: u32, bytes: u64, predicted_ns: f64, measured_ns: f64| {
        checks.push(Check { what: what.into(), peers, bytes, predicted_ns, measured_ns });
    };
    for (s, ns) in seen.series.iter().zip(&seen.medians_ns).filter(|(s, _)| !s.oversubscribed) {
        let peers = u64::from(s.peers);
        match s.quantity {
            Quantity::OneToMany => check("1:n by stamps", s.peers, 0, model.one_to_many_ns(peers), *ns),
            Quantity::RoundTrip if s.peers > 1 => {
                let there_and_back = model.one_to_many_ns(peers) + model.many_to_one_ns(peers);
                check("round trip", s.peers, 0, there_and_back, *ns * f64::from(s.peers));
            }
            Quantity::Message if s.bytes >= 1024 => {
                check("message", 1, s.bytes, model.message_ns(s.bytes), *ns)
            }
            _ => {}
        }
    }
    checks
}

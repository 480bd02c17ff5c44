//! LogGP from medians, the intervals of its parameters, and the times that it predicts.

use super::medians::Medians;
use super::record::{Check, Estimate, MeasurementError};
use crate::LogGp;
use crate::fit::line;
use crate::samples::Quantity;
use evenkeel_statistics::quantile;

/// The least latency that is estimated. No message arrives before it is sent, and a simulator needs an
/// order of events.
const LEAST_LATENCY_NS: f64 = 1.0;

/// An estimate of LogGP, and what limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LogGpEstimate {
    pub(super) model: LogGp,
    /// Even two ranks had to share a core.
    pub(super) oversubscribed: bool,
    /// The overheads are more than half of a round trip: part of receiving was counted twice, and L is
    /// the least latency.
    pub(super) no_latency: bool,
}

/// o_s and o_r as measured; L is what they leave of half a round trip; g from a stream of signals; G is
/// the slope over the sizes of messages of `long_bytes` and more.
pub(super) fn loggp(medians: &Medians, long_bytes: u64) -> Result<LogGpEstimate, MeasurementError> {
    let one_way = medians.required(Quantity::RoundTrip)? / 2.0;
    let send = medians.overhead(Quantity::SendOverhead)?.min(one_way - LEAST_LATENCY_NS.min(one_way));
    let receive = medians.overhead(Quantity::ReceiveOverhead)?;
    let left = one_way - send;
    let sizes =
        medians.curve(|s| s.quantity == Quantity::Message && s.bytes >= long_bytes, |s| s.bytes as f64);
    let least = LEAST_LATENCY_NS.min(left);
    let model = LogGp {
        latency_ns: (left - receive).max(least),
        send_overhead_ns: send,
        receive_overhead_ns: receive.min(left - least),
        gap_ns: medians.required(Quantity::Gap)?,
        gap_per_byte_ns: line(&sizes).map_or(0.0, |(_, slope)| slope.max(0.0)),
    };
    let mut series = medians.series.iter();
    let oversubscribed =
        series.any(|s| s.quantity == Quantity::RoundTrip && s.peers == 1 && s.oversubscribed);
    Ok(LogGpEstimate { model, oversubscribed, no_latency: receive >= left - least })
}

const PARAMETERS: [(&str, &str, &str, &str); 6] = [
    ("L", "latency", "ns", "half a round trip with one peer, without the overheads"),
    ("o_s", "send overhead", "ns", "signals to peers, one after the other"),
    ("o_r", "receive overhead", "ns", "taking signals that have arrived"),
    ("g", "gap", "ns", "a stream of signals to one peer"),
    ("G", "gap per byte", "ns/B", "slope of half a round trip over the sizes of messages"),
    ("s", "switch", "ns", "half a round trip between two ranks on one core"),
];

/// The parameters with intervals: the central 95% of their values over the bootstrap samples.
pub(super) fn estimates(
    medians: &Medians,
    found: &LogGpEstimate,
    resampled: &[Medians],
    long_bytes: u64,
) -> Vec<Estimate> {
    let values = |found: &LogGpEstimate, medians: &Medians| {
        let m = found.model;
        [
            Some(m.latency_ns),
            Some(m.send_overhead_ns),
            Some(m.receive_overhead_ns),
            Some(m.gap_ns),
            Some(m.gap_per_byte_ns),
            medians.with_one_peer(Quantity::Switch),
        ]
    };
    let samples: Vec<_> =
        resampled.iter().filter_map(|s| Some(values(&loggp(s, long_bytes).ok()?, s))).collect();
    let each = PARAMETERS.iter().zip(values(found, medians)).enumerate();
    each.filter_map(|(i, ((symbol, name, unit, from), value))| {
        let mut drawn: Vec<f64> = samples.iter().filter_map(|v| v[i]).collect();
        drawn.sort_by(f64::total_cmp);
        Some(Estimate {
            symbol: (*symbol).into(),
            name: (*name).into(),
            unit: (*unit).into(),
            value: value?,
            low: quantile(&drawn, 0.025),
            high: quantile(&drawn, 0.975),
            from: if *symbol == "G" && long_bytes > 0 {
                "slope of half a round trip over the sizes of long messages".into()
            } else {
                (*from).into()
            },
        })
    })
    .collect()
}

/// Predictions of LogGP for times that it was not computed from: more than one peer with a core for each
/// rank, and messages.
pub(super) fn checks(medians: &Medians, model: &LogGp) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut check = |what: &str, peers: u32, bytes: u64, predicted_ns: f64, measured_ns: f64| {
        checks.push(Check { what: what.into(), peers, bytes, predicted_ns, measured_ns });
    };
    for (s, ns) in medians.iter().filter(|(s, _)| !s.oversubscribed) {
        let peers = u64::from(s.peers);
        match s.quantity {
            Quantity::OneToMany => check("1:n by stamps", s.peers, 0, model.one_to_many_ns(peers), ns),
            Quantity::RoundTrip if s.peers > 1 => {
                let both_ways = model.one_to_many_ns(peers) + model.many_to_one_ns(peers);
                check("round trip", s.peers, 0, both_ways, ns * f64::from(s.peers));
            }
            Quantity::Message if s.bytes >= 1024 => {
                check("message", 1, s.bytes, model.message_ns(s.bytes), ns)
            }
            _ => {}
        }
    }
    checks
}

//! What a user should know before using the numbers of a measurement.

use super::loggp::LogGpEstimate;
use super::record::{Conditions, Curve, ModelKind};
use crate::samples::{Quantity, SeriesSummary};

/// If the ends of an interval differ by more than this factor, the passes have seen two different
/// machines.
const UNSTEADY: f64 = 1.3;

/// The notes for a measurement.
pub(super) fn notes(
    found: &LogGpEstimate,
    points: &[SeriesSummary],
    curves: &[Curve],
    conditions: &Conditions,
    kind: ModelKind,
) -> Vec<String> {
    let mut notes = Vec::new();
    if conditions.of_network() {
        notes_of_network(found, points, &mut notes);
    } else {
        notes_of_node(found, curves, conditions.cores.len(), &mut notes);
    }
    notes.extend(unsteady(points));
    if let Some(why) = &conditions.unpinned {
        notes.push(format!("Ranks could not be bound to their cores ({why}), so they moved between cores."));
    }
    if conditions.load.is_some_and(|load| load > 0.5) {
        notes.push(format!(
            "Other programs were running (load {:.1} before the start). Measure again on a quiet machine.",
            conditions.load.unwrap_or(0.0)
        ));
    }
    if kind == ModelKind::LoP {
        notes.extend(poor_fit(curves));
    }
    notes
}

fn notes_of_network(found: &LogGpEstimate, points: &[SeriesSummary], notes: &mut Vec<String>) {
    let is_shared = |p: &&SeriesSummary| p.quantity == Quantity::RoundTrip && p.oversubscribed;
    if let Some(peers) = points.iter().filter(is_shared).map(|p| p.peers).min() {
        notes.push(format!(
            "Some of the hosts are one machine: with {peers} peers and more it has fewer cores than \
             processes that wait. These times include context switches. They show what this machine does \
             with so many hosts, not what a network can do."
        ));
    }
    if found.no_latency {
        let text = "The overheads fill half of a round trip: the processors of the two ends carry the \
                    messages, as between virtual hosts. L is set to 1 ns, and o_r to the rest of half a \
                    round trip.";
        notes.push(text.into());
    }
}

fn notes_of_node(found: &LogGpEstimate, curves: &[Curve], cores: usize, notes: &mut Vec<String>) {
    if found.oversubscribed {
        let text = "There is only one core: every number includes a context switch, also with two ranks.";
        notes.push(text.into());
    }
    if curves.iter().any(|c| c.oversubscribed) {
        notes.push(format!(
            "There are {cores} cores: with {cores} peers and more, ranks share them, and the times include \
             context switches. They show what this machine does with so many ranks, not what its memory can \
             do."
        ));
    }
    if found.no_latency {
        let text = "Taking a signal that has arrived costs as much as a whole message here: in shared memory \
                    the latency is the cache miss of the reader. L is set to 1 ns, and o_r to the rest of \
                    half a round trip.";
        notes.push(text.into());
    }
}

fn unsteady(points: &[SeriesSummary]) -> Option<String> {
    let trip = points.iter().find(|p| p.quantity == Quantity::RoundTrip && p.peers == 1)?;
    let is_unsteady = trip.median_high_ns > UNSTEADY * trip.median_low_ns || trip.p75_ns > 1.5 * trip.p25_ns;
    is_unsteady.then(|| {
        format!(
            "Round trips with one peer were not of one kind: a quarter took {:.0} ns or less, a quarter \
             {:.0} ns or more. A hypervisor that moves cores can cause that, or a clock rate that changes. \
             Use more --passes, or measure at another time.",
            trip.p25_ns, trip.p75_ns
        )
    })
}

fn poor_fit(curves: &[Curve]) -> Option<String> {
    let distances = curves.iter().filter_map(|c| c.held_out);
    let worst = distances.map(|d| d.median).reduce(f64::max).filter(|m| *m > 0.15)?;
    Some(format!(
        "LoP does not fit well here: points that were held out are missed by {:.0}% (median of the worst \
         curve).",
        worst * 100.0
    ))
}

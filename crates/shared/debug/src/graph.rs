//! Which ranks send to which, and which wait for which.

use crate::run::{Place, Run};
use crate::waits::Waits;
use std::collections::BTreeMap;

/// From one rank to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// Messages.
    pub messages: u64,
    /// Bytes, as far as they are known.
    pub bytes: u64,
    /// How long the receiver of the edge waited for the rank that it comes from, ns; in collectives, too.
    pub waited: i64,
}

/// The edges of an interval, by the ranks that they come from and go to: messages that were taken by calls
/// that began in it, and waits of such calls.
pub fn edges(run: &Run, waits: &Waits, from: i64, to: i64) -> BTreeMap<(u32, u32), Edge> {
    let mut edges: BTreeMap<(u32, u32), Edge> = BTreeMap::new();
    // Those to the rank of a lane, by the rank that they come from.
    let mut to_lane = vec![Edge::default(); run.processes.len()];
    for (number, lane) in run.lanes.iter().enumerate() {
        let number = number as u32;
        let (first, last) = (lane.before(from) as u32, lane.before(to) as u32);
        for message in run.messages.taken(number, first..last) {
            let edge = &mut to_lane[run.rank(message.sent.lane) as usize];
            edge.messages += 1;
            edge.bytes += message.length().unwrap_or(0);
        }
        let of_lane = &waits.by_lane[number as usize];
        let range = of_lane.partition_point(|w| w.call < first)..of_lane.partition_point(|w| w.call < last);
        for wait in &of_lane[range] {
            let place = Place { lane: number, call: wait.call };
            let edge = &mut to_lane[run.rank(wait.cause.lane) as usize];
            edge.waited += wait.length(run, run.begin(place), run.end(place));
        }
        for (from, found) in to_lane.iter_mut().enumerate().filter(|(_, edge)| **edge != Edge::default()) {
            let edge = edges.entry((from as u32, lane.rank)).or_default();
            edge.messages += found.messages;
            edge.bytes += found.bytes;
            edge.waited += found.waited;
            *found = Edge::default();
        }
    }
    edges
}

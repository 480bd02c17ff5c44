//! One point of a curve: traffic on a network until enough has been seen.

use crate::measurement::Interval;
use crate::routing::Routing;
use crate::simulator::{Halt, Simulator};
use crate::traffic::open_loop::{OpenLoop, Tally};
use serde::Serialize;

/// When to look, and when to stop: after `warm_up` cycles come batches, at least `least`, until the 95%
/// interval of the mean latency is within `precision` of it and that of the accepted traffic within a
/// fifth of that, or there are `most` batches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rules {
    pub warm_up: u64,
    pub batch: u64,
    pub least: usize,
    pub most: usize,
    pub precision: f64,
}

impl Rules {
    pub const USUAL: Rules = Rules { warm_up: 10_000, batch: 2_000, least: 10, most: 40, precision: 0.05 };
}

/// What was seen. Times are in cycles, traffic is in phits per cycle and sending host; intervals are
/// over batches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// What the hosts wanted to send.
    pub offered: f64,
    pub accepted: Interval,
    /// From the moment the message was made until its last phit was there.
    pub latency: Interval,
    /// The same from the moment its head left the host.
    pub network_latency: Interval,
    pub longest: u64,
    pub packets: u64,
    /// Less was delivered than was offered: latencies only say how long it was looked at.
    pub saturated: bool,
    /// With the warm-up.
    pub cycles: u64,
    pub phit_moves: u64,
    /// Share of its cycles that each channel moved a phit, in the batches.
    pub utilization: Vec<f64>,
}

/// Below this share of what was offered, delivery has fallen behind for good: over the usual number of
/// batches chance alone does not do that.
const KEEPS_UP: f64 = 0.95;

/// Runs the traffic by the rules. The simulator should be a fresh one.
pub fn measure<R: Routing>(
    simulator: &mut Simulator<R>,
    traffic: &mut OpenLoop,
    offered: f64,
    rules: &Rules,
) -> Result<Point, Halt> {
    simulator.run(simulator.now() + rules.warm_up, traffic)?;
    traffic.tally = Tally::default();
    let (begun, moved_before, made_before) =
        (simulator.now(), simulator.moved().to_vec(), simulator.created());
    let senders = f64::from(traffic.senders());
    let (mut accepted, mut latency, mut network_latency) = (Vec::new(), Vec::new(), Vec::new());
    let (mut longest, mut packets, mut phits) = (0, 0, 0);
    while accepted.len() < rules.most {
        simulator.run(simulator.now() + rules.batch, traffic)?;
        let tally = std::mem::take(&mut traffic.tally);
        accepted.push(tally.phits as f64 / rules.batch as f64 / senders);
        if tally.packets > 0 {
            latency.push(tally.latency / tally.packets as f64);
            network_latency.push(tally.network_latency / tally.packets as f64);
        }
        longest = longest.max(tally.longest);
        packets += tally.packets;
        phits += tally.phits;
        let settled = |values: &[f64], precision: f64| Interval::of(values).relative() <= precision;
        if accepted.len() >= rules.least
            && settled(&latency, rules.precision)
            && settled(&accepted, rules.precision / 5.0)
        {
            break;
        }
    }
    let cycles = (simulator.now() - begun) as f64;
    let made = simulator.created().phits - made_before.phits;
    let utilization = simulator
        .moved()
        .iter()
        .zip(&moved_before)
        .map(|(now, before)| (now - before) as f64 / cycles)
        .collect();
    Ok(Point {
        offered,
        accepted: Interval::of(&accepted),
        latency: Interval::of(&latency),
        network_latency: Interval::of(&network_latency),
        longest,
        packets,
        saturated: (phits as f64) < KEEPS_UP * made as f64,
        cycles: simulator.now(),
        phit_moves: simulator.moved().iter().sum(),
        utilization,
    })
}

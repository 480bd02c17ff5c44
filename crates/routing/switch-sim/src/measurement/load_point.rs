//! One point of a latency-throughput curve: traffic of one load, simulated until the results are precise
//! enough.

use super::interval::Interval;
use crate::routing::Routing;
use crate::simulator::{SimulationError, Simulator};
use crate::traffic::{DeliveryTotals, OpenLoop};
use serde::Serialize;

/// When a measurement starts and stops.
///
/// After the warm-up come batches. The measurement stops when the 95% interval of the mean latency is
/// within `precision` of the mean, and that of the accepted traffic within a fifth of that.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StoppingRules {
    /// Cycles before the first batch.
    pub warm_up: u64,
    /// Cycles of a batch.
    pub batch: u64,
    /// The least number of batches.
    pub least: usize,
    /// The most batches.
    pub most: usize,
    /// Half width of the interval of the mean latency, as a share of the mean.
    pub precision: f64,
}

impl StoppingRules {
    /// Rules for most networks.
    pub const USUAL: StoppingRules =
        StoppingRules { warm_up: 10_000, batch: 2_000, least: 10, most: 40, precision: 0.05 };
}

/// A point of a latency-throughput curve.
///
/// Times are in cycles. Traffic is in phits per cycle and sending host. Intervals are over batches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadPoint {
    /// The load that the hosts offer.
    pub offered: f64,
    /// The traffic that was delivered.
    pub accepted: Interval,
    /// Time from the creation of a message until the arrival of its last phit.
    pub latency: Interval,
    /// Time from the moment its head left the host until the arrival of its last phit.
    pub network_latency: Interval,
    /// The longest latency of a message.
    pub longest: u64,
    /// Packets that were delivered in the batches.
    pub packets: u64,
    /// Whether less was delivered than was offered. Latencies then depend on the length of the measurement
    /// only.
    pub saturated: bool,
    /// All cycles, including the warm-up.
    pub cycles: u64,
    /// All moves of phits over channels, including the warm-up.
    pub phit_moves: u64,
    /// By channel: the share of the cycles of the batches in which it moved a phit.
    pub utilization: Vec<f64>,
}

/// The share of the offered traffic below which deliveries count as having fallen behind. Over the usual
/// number of batches, chance alone does not cause less.
const KEEPS_UP: f64 = 0.95;

/// The sums of the batches so far.
#[derive(Default)]
struct Batches {
    /// By batch: accepted traffic and mean latencies.
    accepted: Vec<f64>,
    latency: Vec<f64>,
    network_latency: Vec<f64>,
    longest: u64,
    packets: u64,
    phits: u64,
}

impl Batches {
    fn add(&mut self, totals: &DeliveryTotals, batch_cycles: u64, senders: f64) {
        self.accepted.push(totals.phits as f64 / batch_cycles as f64 / senders);
        if totals.packets > 0 {
            self.latency.push(totals.latency / totals.packets as f64);
            self.network_latency.push(totals.network_latency / totals.packets as f64);
        }
        self.longest = self.longest.max(totals.longest);
        self.packets += totals.packets;
        self.phits += totals.phits;
    }

    fn are_enough(&self, rules: &StoppingRules) -> bool {
        let is_precise = |values: &[f64], precision: f64| Interval::of(values).relative() <= precision;
        self.accepted.len() >= rules.least
            && is_precise(&self.latency, rules.precision)
            && is_precise(&self.accepted, rules.precision / 5.0)
    }
}

/// Simulates traffic by the rules. The simulator should be a fresh one.
///
/// # Errors
/// Packets are deadlocked, or the simulator has a bug.
pub fn measure<R: Routing>(
    simulator: &mut Simulator<R>,
    traffic: &mut OpenLoop,
    offered: f64,
    rules: &StoppingRules,
) -> Result<LoadPoint, SimulationError> {
    simulator.run(simulator.now() + rules.warm_up, traffic)?;
    traffic.take_totals();
    let (begun, created_before) = (simulator.now(), simulator.created());
    let moved_before = simulator.phits_moved().to_vec();
    let senders = f64::from(traffic.senders());
    let mut batches = Batches::default();
    while batches.accepted.len() < rules.most {
        simulator.run(simulator.now() + rules.batch, traffic)?;
        batches.add(&traffic.take_totals(), rules.batch, senders);
        if batches.are_enough(rules) {
            break;
        }
    }
    let cycles = (simulator.now() - begun) as f64;
    let created = simulator.created().phits - created_before.phits;
    let moved = simulator.phits_moved();
    let in_batches = moved.iter().zip(&moved_before).map(|(now, before)| now - before);
    Ok(LoadPoint {
        offered,
        accepted: Interval::of(&batches.accepted),
        latency: Interval::of(&batches.latency),
        network_latency: Interval::of(&batches.network_latency),
        longest: batches.longest,
        packets: batches.packets,
        saturated: (batches.phits as f64) < KEEPS_UP * created as f64,
        cycles: simulator.now(),
        phit_moves: moved.iter().sum(),
        utilization: in_batches.map(|moved| moved as f64 / cycles).collect(),
    })
}

//! What packets notice of changes: deliveries and latency in short windows of time.

use super::change::TopologyChange;
use super::control_parameters::{ControlParameters, Protocol};
use super::cost::ReconfigurationCost;
use super::directed_graph::DirectedGraph;
use super::error::ReconfigurationError;
use super::simulation::reconfigure_all;
use super::switch_tables::SwitchTables;
use crate::packet::Packet;
use crate::parameters::Parameters;
use crate::simulator::{NewPacket, Simulator, Workload};
use crate::traffic::{OpenLoop, Traffic};
use crate::wiring::Wiring;
use serde::Serialize;

/// Packets that arrived in a window of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct TimeWindow {
    /// Number of packets.
    pub packets: u64,
    /// Mean time from the creation of a packet to its arrival, in cycles; 0 if none arrived.
    pub latency: f64,
}

/// What happens while switches are removed and added again.
#[derive(Clone, Debug, Serialize)]
pub struct Timeline {
    /// The protocol that reconfigured the network.
    #[serde(rename = "method")]
    pub protocol: Protocol,
    /// Length of a window.
    pub window_cycles: u64,
    /// The windows from cycle 0 on.
    #[serde(rename = "moments")]
    pub windows: Vec<TimeWindow>,
    /// The removal of the switches, then their addition: when it began, and what it cost.
    pub changes: Vec<(u64, ReconfigurationCost)>,
}

/// Which switches are removed and added again, and when.
#[derive(Clone, Copy, Debug)]
pub struct ChangeSchedule<'a> {
    /// The switches, in the order of their removal. The network must remain connected at every moment.
    pub switches: &'a [u32],
    /// Time from one switch to the next.
    pub apart_cycles: u64,
    /// Time until the first removal, from there to the first addition, and from there to the end.
    pub each_cycles: u64,
    /// Length of a window in which arriving packets are counted together.
    pub window_cycles: u64,
}

impl ChangeSchedule<'_> {
    fn changes(&self, change: fn(u32) -> TopologyChange) -> Vec<(u64, TopologyChange)> {
        (0..).map(|i| i * self.apart_cycles).zip(self.switches.iter().map(|s| change(*s))).collect()
    }
}

/// Traffic whose deliveries are counted by window.
struct WindowedTraffic {
    traffic: OpenLoop,
    window_cycles: u64,
    windows: Vec<TimeWindow>,
}

impl Workload for WindowedTraffic {
    fn next_time(&self) -> u64 {
        self.traffic.next_time()
    }

    fn generate(&mut self, now: u64, packets: &mut Vec<NewPacket>) {
        self.traffic.generate(now, packets);
    }

    fn delivered(&mut self, now: u64, packet: &Packet, packets: &mut Vec<NewPacket>) {
        let index = (now / self.window_cycles) as usize;
        if self.windows.len() <= index {
            self.windows.resize(index + 1, TimeWindow::default());
        }
        let window = &mut self.windows[index];
        window.packets += 1;
        window.latency += ((now - packet.created) as f64 - window.latency) / window.packets as f64;
        self.traffic.delivered(now, packet, packets);
    }
}

/// Simulates the removal of switches, one soon after the other, and their addition in the same order.
///
/// Buffers hold one packet of the greatest length. Directions are those of a breadth-first tree from switch
/// 0.
///
/// # Errors
/// Packets are deadlocked, or an invariant of the protocol does not hold.
pub fn timeline(
    wiring: &Wiring,
    schedule: ChangeSchedule,
    protocol: Protocol,
    control: ControlParameters,
    traffic: Traffic,
) -> Result<Timeline, ReconfigurationError> {
    let (each, window_cycles) = (schedule.each_cycles, schedule.window_cycles);
    let links: Vec<(u32, u32)> = wiring.links().iter().map(|(a, b)| (a.0, b.0)).collect();
    let (switches, working) = (vec![true; wiring.switches() as usize], vec![true; links.len()]);
    let mut graph = DirectedGraph::breadth_first(switches, links, working, 0);
    let parameters = Parameters { buffer_phits: traffic.length.longest(), ..Parameters::CUT_THROUGH };
    let mut simulator = Simulator::new(wiring, parameters, SwitchTables::new(wiring, &graph))
        .expect("buffers hold the longest packet");
    let mut traffic =
        WindowedTraffic { traffic: OpenLoop::new(traffic, wiring), window_cycles, windows: Vec::new() };
    let mut changes = Vec::new();
    for (end, next) in [
        (each, Some(schedule.changes(TopologyChange::SwitchRemoved))),
        (2 * each, Some(schedule.changes(TopologyChange::SwitchAdded))),
        (3 * each, None),
    ] {
        while simulator.now() < end {
            simulator.run((simulator.now() + window_cycles).min(end), &mut traffic)?;
            // Packets for hosts of removed switches.
            simulator.discard_stranded();
        }
        if let Some(next) = next {
            let begun = simulator.now();
            let cost = reconfigure_all(&mut simulator, &mut traffic, &mut graph, &next, protocol, control)?;
            changes.push((begun, cost));
        }
    }
    traffic.windows.truncate((3 * each / window_cycles) as usize);
    Ok(Timeline { protocol, window_cycles, windows: traffic.windows, changes })
}

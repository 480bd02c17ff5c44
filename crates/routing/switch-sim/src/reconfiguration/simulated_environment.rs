//! The simulator as the environment of protocols.

use super::change::TopologyChange;
use super::control_network::{ControlMessage, ControlNetwork};
use super::directed_graph::DirectedGraph;
use super::protocol::{EpochMessage, ProtocolEnvironment};
use super::switch_tables::SwitchTables;
use crate::simulator::Simulator;
use crate::wiring::ChannelId;
use evenkeel_route::{EndNodeId, SwitchId};

/// The simulator, the control messages in it, and the time for which hosts are stopped.
pub(super) struct SimulatedEnvironment<'a> {
    pub simulator: &'a mut Simulator<SwitchTables>,
    pub network: ControlNetwork<EpochMessage>,
    /// By switch: since when its hosts have been stopped.
    stopped_since: Vec<Option<u64>>,
    /// Cycles for which hosts were stopped, summed over hosts.
    pub stopped_cycles: u64,
}

impl<'a> SimulatedEnvironment<'a> {
    pub fn new(
        simulator: &'a mut Simulator<SwitchTables>,
        network: ControlNetwork<EpochMessage>,
    ) -> SimulatedEnvironment<'a> {
        let stopped_since = vec![None; simulator.wiring().switches() as usize];
        SimulatedEnvironment { simulator, network, stopped_since, stopped_cycles: 0 }
    }

    /// Makes the channels of a changed switch fail or work. Returns the number of packets that are lost.
    pub fn switch_channels(&mut self, graph: &DirectedGraph, change: TopologyChange) -> u64 {
        let switch = SwitchId(change.switch());
        let mut lost = 0;
        for out in self.simulator.wiring().leaving(switch).to_vec() {
            for channel in [out, ChannelId(out.0 ^ 1)] {
                if change.is_addition() {
                    self.simulator.restore_channel(channel);
                } else {
                    lost += self.simulator.fail_channel(channel);
                }
            }
        }
        if !change.is_addition() {
            lost += self.simulator.discard_packets_at(switch);
        }
        change.update_link_status(graph, &mut self.simulator.routing);
        lost
    }
}

impl ProtocolEnvironment for SimulatedEnvironment<'_> {
    fn tables(&mut self) -> &mut SwitchTables {
        &mut self.simulator.routing
    }

    fn send(&mut self, message: ControlMessage<EpochMessage>) {
        // A switch that does not know yet that a neighbour was removed may still send to it.
        if !self.simulator.has_failed(ChannelId(message.channel as u32)) {
            self.network.send(self.simulator, message);
        }
    }

    fn start_timer(&mut self, cycles: u64, at: u32, message: EpochMessage) {
        self.network.start_timer(self.simulator.now(), cycles, at, message);
    }

    fn discard_packets_at(&mut self, s: u32) {
        self.simulator.discard_packets_at(SwitchId(s));
    }

    fn allow_injection(&mut self, s: u32, is_allowed: bool) {
        let wiring = self.simulator.wiring();
        let all = (0..wiring.hosts()).map(EndNodeId);
        let hosts: Vec<EndNodeId> = all.filter(|h| wiring.switch_of(*h) == SwitchId(s)).collect();
        let now = self.simulator.now();
        let since = &mut self.stopped_since[s as usize];
        match (is_allowed, *since) {
            (true, Some(begun)) => {
                self.stopped_cycles += (now - begun) * hosts.len() as u64;
                *since = None;
            }
            (false, None) => *since = Some(now),
            _ => {}
        }
        hosts.into_iter().for_each(|h| self.simulator.allow_injection(h, is_allowed));
    }
}

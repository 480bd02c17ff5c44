//! Arbitration: switches give outputs to heads that wait for one.

use super::buffer::NONE;
use super::contents::Simulator;
use crate::packet::PacketId;
use crate::parameters::Switching;
use crate::routing::{Routing, VirtualLane};
use evenkeel_route::{EndNodeId, SwitchId};

impl<R: Routing> Simulator<R> {
    /// Every node at which something has changed serves the heads that wait there, in round-robin order of
    /// buffers.
    pub(super) fn arbitrate(&mut self) {
        for node in std::mem::take(&mut self.to_arbitrate) {
            self.is_to_arbitrate[node as usize] = false;
            if self.arbiter_free_at[node as usize] > self.now {
                self.request_arbitration(node);
                continue;
            }
            if self.is_stopped[node as usize] {
                continue;
            }
            while let Some((index, output)) = self.next_to_serve(node) {
                let buffer = self.waiting_heads[node as usize].swap_remove(index);
                self.last_served[node as usize] = buffer;
                self.buffers[buffer as usize].output = output;
                self.buffers[output as usize].allocated_to = buffer;
                if !self.buffers[buffer as usize].is_movable {
                    self.buffers[buffer as usize].is_movable = true;
                    self.movable.push(buffer);
                }
                if self.parameters.arbiter_cycles > 0 {
                    let busy = u64::from(self.parameters.arbiter_cycles);
                    self.arbiter_free_at[node as usize] = self.now + busy;
                    self.request_arbitration(node);
                    break;
                }
            }
        }
    }

    /// The first head in round-robin order that can leave now: its index among the heads that wait, and its
    /// output.
    fn next_to_serve(&mut self, node: u32) -> Option<(usize, u32)> {
        let mut best: Option<(u32, usize, u32)> = None;
        for index in 0..self.waiting_heads[node as usize].len() {
            let buffer = self.waiting_heads[node as usize][index];
            let distance = buffer.wrapping_sub(self.last_served[node as usize]).wrapping_sub(1);
            if best.is_some_and(|b| b.0 <= distance) {
                continue;
            }
            let candidates = self.candidates(buffer);
            let phits = self.buffers[buffer as usize].remaining;
            let mut found = None;
            for lane in &candidates {
                let output = self.buffer_of(*lane);
                if self.is_available(output, phits) {
                    found = Some(output);
                    break;
                }
                let wanted = &mut self.wanted_room[output as usize];
                *wanted = if *wanted == 0 { phits } else { phits.min(*wanted) };
            }
            self.scratch.candidates = candidates;
            if let Some(output) = found {
                best = Some((distance, index, output));
            }
        }
        best.map(|b| (b.1, b.2))
    }

    /// The lanes that the front packet of a buffer may take. The vector belongs to the scratch memory: give
    /// it back.
    pub(super) fn candidates(&mut self, buffer: u32) -> Vec<VirtualLane> {
        let mut out = std::mem::take(&mut self.scratch.candidates);
        out.clear();
        let packet = *self.packets.get(PacketId(self.buffers[buffer as usize].front));
        if self.is_host_queue(buffer) {
            let host = EndNodeId(self.node_of(buffer) - self.wiring.switches());
            let channel = self.wiring.injection(host);
            let mut lanes = std::mem::take(&mut self.scratch.first_lanes);
            lanes.clear();
            self.routing.first_lanes(&packet, self.parameters.lanes as u8, &mut lanes);
            out.extend(lanes.iter().map(|lane| VirtualLane { channel, lane: *lane }));
            self.scratch.first_lanes = lanes;
            return out;
        }
        let at = SwitchId(self.node_of(buffer));
        if self.wiring.switch_of(packet.destination) == at {
            let channel = self.wiring.ejection(packet.destination);
            out.extend((0..self.parameters.lanes as u8).map(|lane| VirtualLane { channel, lane }));
        } else {
            self.routing.candidates(at, self.lane_of(buffer), &packet, &mut out);
        }
        out
    }

    /// Whether a lane is free and has room for a packet of so many phits.
    pub(super) fn is_available(&self, lane: u32, phits: u32) -> bool {
        let buffer = &self.buffers[lane as usize];
        let has_room =
            self.parameters.switching == Switching::Wormhole || buffer.capacity - buffer.occupied >= phits;
        let channel = (lane / self.parameters.lanes) as usize;
        buffer.allocated_to == NONE && has_room && !self.has_failed[channel]
    }
}

//! Heads that want an output, and switches that give them one.

use crate::parameters::Switching;
use crate::routing::{Lane, Routing};
use crate::simulator::Simulator;
use crate::simulator::buffer::NONE;
use crate::simulator::packet::PacketId;
use crate::wiring::ChannelId;
use evenkeel_route::{EndNodeId, SwitchId};

impl<R: Routing> Simulator<R> {
    /// Every switch at which something has changed serves the heads that wait, each buffer in its turn.
    pub(crate) fn arbitrate(&mut self) {
        let nodes = std::mem::take(&mut self.dirty);
        for node in nodes {
            self.is_dirty[node as usize] = false;
            if self.arbiter_free[node as usize] > self.now {
                self.make_dirty(node);
                continue;
            }
            if self.stopped[node as usize] {
                continue;
            }
            while let Some((place, out)) = self.best_waiting(node) {
                let buffer = self.pending[node as usize].swap_remove(place);
                self.last_served[node as usize] = buffer;
                self.buffers[buffer as usize].out = out;
                self.buffers[out as usize].feeder = buffer;
                if !self.buffers[buffer as usize].active {
                    self.buffers[buffer as usize].active = true;
                    self.active.push(buffer);
                }
                if self.parameters.arbiter_cycles > 0 {
                    self.arbiter_free[node as usize] = self.now + u64::from(self.parameters.arbiter_cycles);
                    self.make_dirty(node);
                    break;
                }
            }
        }
    }

    /// Of the heads that can go on at once, the one whose turn it is: its place among those that wait, and
    /// its output.
    fn best_waiting(&mut self, node: u32) -> Option<(usize, u32)> {
        let mut best: Option<(u32, usize, u32)> = None;
        for place in 0..self.pending[node as usize].len() {
            let buffer = self.pending[node as usize][place];
            let turn = buffer.wrapping_sub(self.last_served[node as usize]).wrapping_sub(1);
            if best.is_some_and(|b| b.0 <= turn) {
                continue;
            }
            let wanted = self.wanted(buffer);
            let phits = self.buffers[buffer as usize].left;
            let mut found = None;
            for lane in &wanted {
                let out = self.buffer_of(*lane);
                if self.takes(out, phits) {
                    found = Some(out);
                    break;
                }
                let awaited = &mut self.awaited[out as usize];
                *awaited = if *awaited == 0 { phits } else { phits.min(*awaited) };
            }
            self.scratch.candidates = wanted;
            if let Some(out) = found {
                best = Some((turn, place, out));
            }
        }
        best.map(|b| (b.1, b.2))
    }

    pub(crate) fn buffer_of(&self, lane: Lane) -> u32 {
        lane.channel.0 * self.parameters.lanes + u32::from(lane.lane)
    }

    pub(crate) fn lane_of(&self, buffer: u32) -> Lane {
        Lane {
            channel: ChannelId(buffer / self.parameters.lanes),
            lane: (buffer % self.parameters.lanes) as u8,
        }
    }

    /// The lanes that the front packet of a buffer may take. In the scratch vector: give it back.
    pub(crate) fn wanted(&mut self, buffer: u32) -> Vec<Lane> {
        let mut out = std::mem::take(&mut self.scratch.candidates);
        out.clear();
        let packet = *self.packets.get(PacketId(self.buffers[buffer as usize].front));
        if self.is_host_queue(buffer) {
            let host = EndNodeId(self.node_of(buffer) - self.wiring.switches());
            let mut lanes = std::mem::take(&mut self.scratch.first_lanes);
            lanes.clear();
            self.routing.first_lanes(&packet, self.parameters.lanes as u8, &mut lanes);
            out.extend(lanes.iter().map(|lane| Lane { channel: self.wiring.injection(host), lane: *lane }));
            self.scratch.first_lanes = lanes;
            return out;
        }
        let at = SwitchId(self.node_of(buffer));
        if self.wiring.home(packet.destination) == at {
            let ejection = self.wiring.ejection(packet.destination);
            out.extend((0..self.parameters.lanes as u8).map(|lane| Lane { channel: ejection, lane }));
        } else {
            self.routing.candidates(at, self.lane_of(buffer), &packet, &mut out);
        }
        out
    }

    /// Whether a lane is free and has room for a packet of so many phits.
    pub(crate) fn takes(&self, out: u32, phits: u32) -> bool {
        let buffer = &self.buffers[out as usize];
        let room =
            self.parameters.switching == Switching::Wormhole || buffer.capacity - buffer.occupied >= phits;
        buffer.feeder == NONE && room && !self.dead[(out / self.parameters.lanes) as usize]
    }
}

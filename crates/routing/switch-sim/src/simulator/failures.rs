//! Failures and other interventions: channels that fail, hosts that are stopped, packets that are discarded.

use super::buffer::NONE;
use super::contents::Simulator;
use crate::packet::{Packet, PacketId};
use crate::routing::Routing;
use crate::wiring::ChannelId;
use evenkeel_route::{EndNodeId, SwitchId};

impl<R: Routing> Simulator<R> {
    /// Makes a channel fail. Packets on their way over it are discarded. Returns how many.
    pub fn fail_channel(&mut self, channel: ChannelId) -> u64 {
        self.has_failed[channel.0 as usize] = true;
        let lanes = self.parameters.lanes;
        let mut cut: Vec<u32> = Vec::new();
        for lane in channel.0 * lanes..(channel.0 + 1) * lanes {
            let buffer = self.buffers[lane as usize].allocated_to;
            if buffer != NONE {
                cut.push(self.buffers[buffer as usize].front);
            }
        }
        let on_channel = self.calendar.iter().flatten().filter(|a| a.to / lanes == channel.0);
        cut.extend(on_channel.map(|a| a.packet.0));
        self.discard_all(cut)
    }

    /// Makes a channel work again.
    pub fn restore_channel(&mut self, channel: ChannelId) {
        self.has_failed[channel.0 as usize] = false;
        self.retry_waiting_heads();
    }

    /// Whether a channel has failed.
    pub fn has_failed(&self, channel: ChannelId) -> bool {
        self.has_failed[channel.0 as usize]
    }

    /// Discards all packets of which phits are in the buffers of a switch. Returns how many.
    pub fn discard_packets_at(&mut self, switch: SwitchId) -> u64 {
        let mut present: Vec<u32> = Vec::new();
        for at in 0..self.wiring.channels() * self.parameters.lanes {
            if self.node_of(at) == switch.0 {
                present.extend(Some(self.buffers[at as usize].front).filter(|p| *p != NONE));
                present.extend(self.queued[at as usize].iter().map(|(p, _)| p.0));
            }
        }
        self.discard_all(present)
    }

    /// Discards packets at switches that the routing function gives no working channel. Returns how many.
    pub fn discard_stranded(&mut self) -> u64 {
        self.discard_stranded_if(|_| true)
    }

    /// Discards those stranded packets for which a condition holds. Returns how many.
    pub fn discard_stranded_if(&mut self, condition: impl Fn(&Packet) -> bool) -> u64 {
        let mut stranded = Vec::new();
        for node in 0..self.wiring.switches() {
            for index in 0..self.waiting_heads[node as usize].len() {
                let at = self.waiting_heads[node as usize][index];
                let candidates = self.candidates(at);
                let front = self.buffers[at as usize].front;
                let all_have_failed = candidates.iter().all(|l| self.has_failed[l.channel.0 as usize]);
                if all_have_failed && condition(self.packets.get(PacketId(front))) {
                    stranded.push(front);
                }
                self.scratch.candidates = candidates;
            }
        }
        self.discard_all(stranded)
    }

    /// Sets whether a host may start to send packets. A packet that it has started continues.
    pub fn allow_injection(&mut self, host: EndNodeId, is_allowed: bool) {
        let node = self.wiring.switches() + host.0;
        self.is_stopped[node as usize] = !is_allowed;
        self.request_arbitration(node);
    }

    /// Reserves a channel for something else until a cycle.
    pub fn reserve_channel(&mut self, channel: ChannelId, until: u64) {
        let free_at = &mut self.free_at[channel.0 as usize];
        *free_at = (*free_at).max(until);
    }

    /// Makes all waiting heads ask the routing function again. Call it after the routing function has
    /// changed.
    pub fn retry_waiting_heads(&mut self) {
        for node in 0..self.waiting_heads.len() as u32 {
            self.request_arbitration(node);
        }
    }

    fn discard_all(&mut self, mut packets: Vec<u32>) -> u64 {
        packets.sort_unstable();
        packets.dedup();
        for packet in &packets {
            self.discard(PacketId(*packet));
        }
        // Buffers may have room now that had none before.
        for at in 0..self.buffers.len() as u32 {
            let buffer = &mut self.buffers[at as usize];
            if buffer.output != NONE && !std::mem::replace(&mut buffer.is_movable, true) {
                self.movable.push(at);
            }
        }
        self.retry_waiting_heads();
        packets.len() as u64
    }

    /// Removes all phits of a packet, wherever they are. Phits that have reached their host stay delivered.
    fn discard(&mut self, packet: PacketId) {
        let mut phits = self.discard_in_flight(packet);
        for at in 0..self.buffers.len() as u32 {
            let buffer = &mut self.buffers[at as usize];
            if buffer.front != packet.0 {
                let queued = &mut self.queued[at as usize];
                if let Some(index) = queued.iter().position(|(p, _)| *p == packet) {
                    let (_, arrived) = queued.remove(index).expect("the position was just found");
                    buffer.occupied -= arrived;
                    buffer.is_alone = queued.is_empty();
                    phits += u64::from(arrived);
                }
                continue;
            }
            buffer.occupied -= buffer.present;
            phits += u64::from(buffer.present);
            if buffer.output != NONE {
                let output = buffer.output;
                self.buffers[output as usize].allocated_to = NONE;
            }
            self.heads_in_routing.retain(|(_, waiting)| *waiting != at);
            let node = self.node_of(at) as usize;
            self.waiting_heads[node].retain(|waiting| *waiting != at);
            self.advance_queue(at);
        }
        self.packets.remove(packet);
        self.discarded.add(phits, 1);
    }

    /// Removes the phits of a packet that are on channels. Returns how many.
    fn discard_in_flight(&mut self, packet: PacketId) -> u64 {
        let mut removed = 0;
        let buffers = &mut self.buffers;
        for slot in &mut self.calendar {
            let before = slot.len();
            slot.retain(|arrival| {
                if arrival.packet == packet {
                    buffers[arrival.to as usize].occupied -= 1;
                }
                arrival.packet != packet
            });
            removed += (before - slot.len()) as u64;
        }
        self.in_flight -= removed;
        removed
    }
}

//! Phits that arrive, and phits that leave.

use super::buffer::NONE;
use super::contents::{Arrival, Simulator};
use super::workload::{NewPacket, Workload};
use crate::packet::PacketId;
use crate::parameters::Switching;
use crate::routing::Routing;

impl<R: Routing> Simulator<R> {
    /// A phit arrives at a buffer.
    pub(super) fn arrive(
        &mut self,
        arrival: Arrival,
        workload: &mut impl Workload,
        new_packets: &mut Vec<NewPacket>,
    ) {
        let Arrival { to, packet, is_head } = arrival;
        if self.to_node[(to / self.parameters.lanes) as usize] >= self.wiring.switches() {
            return self.arrive_at_host(arrival, workload, new_packets);
        }
        let buffer = &mut self.buffers[to as usize];
        if is_head {
            if buffer.front != NONE {
                self.queued[to as usize].push_back((packet, 1));
                buffer.is_alone = false;
                return;
            }
            buffer.front = packet.0;
            buffer.present = 1;
            buffer.remaining = self.packets.get(packet).phits;
            buffer.has_head = true;
            return self.start_routing(to);
        }
        if !buffer.is_alone {
            // Phits that arrive belong to the last packet.
            if let Some(last) = self.queued[to as usize].back_mut() {
                last.1 += 1;
            }
            return;
        }
        buffer.present += 1;
        if buffer.output != NONE {
            if !buffer.is_movable {
                buffer.is_movable = true;
                self.movable.push(to);
            }
        } else if self.parameters.switching == Switching::StoreAndForward
            && buffer.present == buffer.remaining
        {
            self.start_routing(to);
        }
    }

    fn arrive_at_host(
        &mut self,
        arrival: Arrival,
        workload: &mut impl Workload,
        new_packets: &mut Vec<NewPacket>,
    ) {
        let Arrival { to, packet, is_head } = arrival;
        let buffer = &mut self.buffers[to as usize];
        if is_head {
            buffer.front = packet.0;
            buffer.remaining = self.packets.get(packet).phits;
        }
        buffer.remaining -= 1;
        buffer.occupied -= 1;
        self.delivered.phits += 1;
        if buffer.remaining == 0 {
            buffer.front = NONE;
            let packet = self.packets.remove(packet);
            self.delivered.packets += 1;
            workload.delivered(self.now, &packet, new_packets);
        }
    }

    /// Moves the phits of one cycle on all channels.
    pub(super) fn move_phits(&mut self) {
        let lanes = self.parameters.lanes;
        let now = self.now;
        let mut ready = std::mem::take(&mut self.scratch.ready);
        let mut kept = 0;
        for i in 0..self.movable.len() {
            let from = self.movable[i];
            let buffer = &self.buffers[from as usize];
            let output = buffer.output;
            let may_move = output != NONE
                && buffer.present > 0
                && self.buffers[output as usize].occupied < self.buffers[output as usize].capacity;
            if !may_move {
                // The event that it waits for puts it back into the list.
                self.buffers[from as usize].is_movable = false;
                continue;
            }
            self.movable[kept] = from;
            kept += 1;
            let channel = (if lanes == 1 { output } else { output / lanes }) as usize;
            if self.free_at[channel] > now {
                continue;
            }
            if lanes == 1 {
                ready.push(from);
                continue;
            }
            // The lanes of a channel take turns.
            let distance = |output: u32| (output % lanes + lanes - self.last_lane[channel] - 1) % lanes;
            let chosen = &mut self.scratch.chosen[channel];
            if chosen.0 != now {
                *chosen = (now, from);
                ready.push(channel as u32);
            } else if distance(output) < distance(self.buffers[chosen.1 as usize].output) {
                chosen.1 = from;
            }
        }
        self.movable.truncate(kept);
        for entry in &ready {
            let from = if lanes == 1 { *entry } else { self.scratch.chosen[*entry as usize].1 };
            self.leave(from);
        }
        ready.clear();
        self.scratch.ready = ready;
    }

    /// One phit of the front packet leaves a buffer.
    fn leave(&mut self, from: u32) {
        let lanes = self.parameters.lanes;
        let buffer = &mut self.buffers[from as usize];
        let (output, allocated_to, packet, is_head) =
            (buffer.output, buffer.allocated_to, PacketId(buffer.front), buffer.has_head);
        buffer.has_head = false;
        buffer.present -= 1;
        buffer.remaining -= 1;
        buffer.occupied -= 1;
        let is_tail = buffer.remaining == 0;
        self.buffers[output as usize].occupied += 1;
        let channel = (if lanes == 1 { output } else { output / lanes }) as usize;
        if lanes > 1 {
            self.last_lane[channel] = output % lanes;
        }
        let gap =
            if is_tail && !self.is_host_queue(from) { u64::from(self.parameters.gap_cycles) } else { 0 };
        self.free_at[channel] = self.now + u64::from(self.period[channel]) + gap;
        self.phits_moved[channel] += 1;
        self.send(channel, Arrival { to: output, packet, is_head });
        if allocated_to != NONE && !self.buffers[allocated_to as usize].is_movable {
            self.buffers[allocated_to as usize].is_movable = true;
            self.movable.push(allocated_to);
        }
        if is_head && self.is_host_queue(from) {
            self.packets.get_mut(packet).injected = self.now;
        }
        // The buffer has more room now. The heads that wait for it are upstream.
        if self.wanted_room[from as usize] != 0 {
            self.wake_waiting_heads(from);
        }
        if is_tail {
            self.buffers[output as usize].allocated_to = NONE;
            if self.wanted_room[output as usize] != 0 {
                self.wake_waiting_heads(output);
            }
            self.advance_queue(from);
        }
    }

    /// Puts a phit on a channel.
    fn send(&mut self, channel: usize, arrival: Arrival) {
        let length = self.calendar.len();
        let slot = if length == 2 {
            (self.now as usize + 1) & 1
        } else {
            ((self.now + u64::from(self.delay[channel])) % length as u64) as usize
        };
        self.calendar[slot].push(arrival);
        self.in_flight += 1;
    }

    /// Makes the node before a lane arbitrate, if one of the heads that wait for the lane can have it now.
    fn wake_waiting_heads(&mut self, lane: u32) {
        if self.is_available(lane, self.wanted_room[lane as usize]) {
            self.wanted_room[lane as usize] = 0;
            self.request_arbitration(self.from_node[(lane / self.parameters.lanes) as usize]);
        }
    }
}

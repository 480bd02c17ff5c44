//! Phits that arrive and phits that leave.

use crate::parameters::Switching;
use crate::routing::Routing;
use crate::simulator::buffer::NONE;
use crate::simulator::contents::{Arrival, Post, Simulator, Workload};
use crate::simulator::packet::{Packet, PacketId};

impl<R: Routing> Simulator<R> {
    pub(crate) fn arrive(&mut self, arrival: Arrival, workload: &mut impl Workload, posts: &mut Vec<Post>) {
        let Arrival { to, packet, head } = arrival;
        if self.to_node[(to / self.parameters.lanes) as usize] >= self.wiring.switches() {
            return self.arrive_at_host(arrival, workload, posts);
        }
        let buffer = &mut self.buffers[to as usize];
        if head {
            if buffer.front != NONE {
                self.behind[to as usize].push_back((packet, 1));
                buffer.sole = false;
                return;
            }
            buffer.front = packet.0;
            buffer.present = 1;
            buffer.left = self.packets.get(packet).phits;
            buffer.whole = true;
            return self.look_at_head(to);
        }
        if !buffer.sole {
            // What arrives is of the last packet.
            if let Some(last) = self.behind[to as usize].back_mut() {
                last.1 += 1;
            }
            return;
        }
        buffer.present += 1;
        if buffer.out != NONE {
            if !buffer.active {
                buffer.active = true;
                self.active.push(to);
            }
        } else if self.parameters.switching == Switching::StoreAndForward && buffer.present == buffer.left {
            self.look_at_head(to);
        }
    }

    fn arrive_at_host(&mut self, arrival: Arrival, workload: &mut impl Workload, posts: &mut Vec<Post>) {
        let Arrival { to, packet, head } = arrival;
        let buffer = &mut self.buffers[to as usize];
        if head {
            buffer.front = packet.0;
            buffer.left = self.packets.get(packet).phits;
        }
        buffer.left -= 1;
        buffer.occupied -= 1;
        self.delivered.phits += 1;
        if buffer.left == 0 {
            buffer.front = NONE;
            let packet: Packet = self.packets.remove(packet);
            self.delivered.packets += 1;
            workload.delivered(self.now, &packet, posts);
        }
    }

    /// One cycle of all channels.
    pub(crate) fn move_phits(&mut self) {
        let lanes = self.parameters.lanes;
        let now = self.now;
        let mut ready = std::mem::take(&mut self.scratch.ready);
        let mut kept = 0;
        for i in 0..self.active.len() {
            let from = self.active[i];
            let buffer = &self.buffers[from as usize];
            let out = buffer.out;
            let may = out != NONE
                && buffer.present > 0
                && self.buffers[out as usize].occupied < self.buffers[out as usize].capacity;
            if !may {
                // Whatever was lacking brings it back into the list when it comes.
                self.buffers[from as usize].active = false;
                continue;
            }
            self.active[kept] = from;
            kept += 1;
            let channel = (if lanes == 1 { out } else { out / lanes }) as usize;
            if self.free_at[channel] > now {
                continue;
            }
            if lanes == 1 {
                ready.push(from);
                continue;
            }
            // Lanes that share a channel take turns.
            let after = |out: u32| (out % lanes + lanes - self.last_lane[channel] - 1) % lanes;
            let chosen = &mut self.scratch.chosen[channel];
            if chosen.0 != now {
                *chosen = (now, from);
                ready.push(channel as u32);
            } else if after(out) < after(self.buffers[chosen.1 as usize].out) {
                chosen.1 = from;
            }
        }
        self.active.truncate(kept);
        for i in 0..ready.len() {
            let from = if lanes == 1 { ready[i] } else { self.scratch.chosen[ready[i] as usize].1 };
            self.leave(from);
        }
        ready.clear();
        self.scratch.ready = ready;
    }

    /// One phit leaves the front packet of a buffer.
    fn leave(&mut self, from: u32) {
        let lanes = self.parameters.lanes;
        let buffer = &mut self.buffers[from as usize];
        let (out, feeder, packet, head) = (buffer.out, buffer.feeder, PacketId(buffer.front), buffer.whole);
        buffer.whole = false;
        buffer.present -= 1;
        buffer.left -= 1;
        buffer.occupied -= 1;
        let tail = buffer.left == 0;
        self.buffers[out as usize].occupied += 1;
        let channel = (if lanes == 1 { out } else { out / lanes }) as usize;
        if lanes > 1 {
            self.last_lane[channel] = out % lanes;
        }
        self.free_at[channel] = self.now
            + u64::from(self.period[channel])
            + if tail && !self.is_host_queue(from) { u64::from(self.parameters.gap_cycles) } else { 0 };
        self.moved[channel] += 1;
        let length = self.calendar.len();
        let slot = if length == 2 {
            (self.now as usize + 1) & 1
        } else {
            ((self.now + u64::from(self.delay[channel])) % length as u64) as usize
        };
        self.calendar[slot].push(Arrival { to: out, packet, head });
        self.in_flight += 1;
        if feeder != NONE && !self.buffers[feeder as usize].active {
            self.buffers[feeder as usize].active = true;
            self.active.push(feeder);
        }
        if head && self.is_host_queue(from) {
            self.packets.get_mut(packet).injected = self.now;
        }
        // There is more room: heads that wait for it are upstream.
        if self.awaited[from as usize] != 0 {
            self.announce(from);
        }
        if tail {
            self.buffers[out as usize].feeder = NONE;
            if self.awaited[out as usize] != 0 {
                self.announce(out);
            }
            self.next_front(from);
        }
    }

    /// Has the switch before a lane look again at the heads that wait for it, if one of them may have it now.
    fn announce(&mut self, lane: u32) {
        if self.takes(lane, self.awaited[lane as usize]) {
            self.awaited[lane as usize] = 0;
            self.make_dirty(self.from_node[(lane / self.parameters.lanes) as usize]);
        }
    }
}

//! Channels that die, switches that stop, packets that are taken out.

use crate::routing::Routing;
use crate::simulator::Simulator;
use crate::simulator::buffer::NONE;
use crate::simulator::packet::{Packet, PacketId};
use crate::wiring::ChannelId;
use evenkeel_route::{EndNodeId, SwitchId};

impl<R: Routing> Simulator<R> {
    /// Nothing moves over a channel any more; packets that were on their way over it are discarded. Returns
    /// how many.
    pub fn kill(&mut self, channel: ChannelId) -> u64 {
        self.dead[channel.0 as usize] = true;
        let lanes = self.parameters.lanes;
        let mut cut: Vec<u32> = Vec::new();
        for out in channel.0 * lanes..(channel.0 + 1) * lanes {
            let feeder = self.buffers[out as usize].feeder;
            if feeder != NONE {
                cut.push(self.buffers[feeder as usize].front);
            }
        }
        cut.extend(self.calendar.iter().flatten().filter(|a| a.to / lanes == channel.0).map(|a| a.packet.0));
        self.discard_all(cut)
    }

    /// A channel works again.
    pub fn revive(&mut self, channel: ChannelId) {
        self.dead[channel.0 as usize] = false;
        self.wake_all();
    }

    /// Whether a channel is dead.
    pub fn is_dead(&self, channel: ChannelId) -> bool {
        self.dead[channel.0 as usize]
    }

    /// Discards all packets of which something is in the buffers of a switch. Returns how many.
    pub fn clear(&mut self, switch: SwitchId) -> u64 {
        let mut here: Vec<u32> = Vec::new();
        for at in 0..self.wiring.channels() * self.parameters.lanes {
            if self.node_of(at) == switch.0 {
                here.extend(Some(self.buffers[at as usize].front).filter(|p| *p != NONE));
                here.extend(self.behind[at as usize].iter().map(|(p, _)| p.0));
            }
        }
        self.discard_all(here)
    }

    /// Discards packets at the switches that have nowhere to go. Returns how many.
    pub fn discard_stranded(&mut self) -> u64 {
        self.discard_stranded_if(|_| true)
    }

    /// The same of some packets only.
    pub fn discard_stranded_if(&mut self, which: impl Fn(&Packet) -> bool) -> u64 {
        let mut stranded = Vec::new();
        for node in 0..self.wiring.switches() {
            for place in 0..self.pending[node as usize].len() {
                let at = self.pending[node as usize][place];
                let wanted = self.wanted(at);
                let front = self.buffers[at as usize].front;
                if wanted.iter().all(|l| self.dead[l.channel.0 as usize])
                    && which(self.packets.get(PacketId(front)))
                {
                    stranded.push(front);
                }
                self.scratch.candidates = wanted;
            }
        }
        self.discard_all(stranded)
    }

    /// Whether a host may begin to send packets. What it has begun goes on.
    pub fn allow_injection(&mut self, host: EndNodeId, allowed: bool) {
        let node = self.wiring.switches() + host.0;
        self.stopped[node as usize] = !allowed;
        self.make_dirty(node);
    }

    /// A channel is taken by something else until a cycle.
    pub fn occupy(&mut self, channel: ChannelId, until: u64) {
        let free = &mut self.free_at[channel.0 as usize];
        *free = (*free).max(until);
    }

    /// When a channel may be used next.
    pub fn free_at(&self, channel: ChannelId) -> u64 {
        self.free_at[channel.0 as usize].max(self.now)
    }

    /// After a change of the routing function: all waiting heads are looked at again.
    pub fn wake_all(&mut self) {
        for node in 0..self.pending.len() as u32 {
            self.make_dirty(node);
        }
    }

    fn discard_all(&mut self, mut packets: Vec<u32>) -> u64 {
        packets.sort_unstable();
        packets.dedup();
        for packet in &packets {
            self.discard(PacketId(*packet));
        }
        // There may be room where there was none.
        for at in 0..self.buffers.len() as u32 {
            let buffer = &mut self.buffers[at as usize];
            if buffer.out != NONE && !std::mem::replace(&mut buffer.active, true) {
                self.active.push(at);
            }
        }
        self.wake_all();
        packets.len() as u64
    }

    /// Takes a packet out, wherever its phits are. Phits that have reached their host stay delivered.
    fn discard(&mut self, packet: PacketId) {
        let mut phits = 0;
        let buffers = &mut self.buffers;
        for slot in &mut self.calendar {
            let before = slot.len();
            slot.retain(|arrival| {
                if arrival.packet == packet {
                    buffers[arrival.to as usize].occupied -= 1;
                }
                arrival.packet != packet
            });
            self.in_flight -= (before - slot.len()) as u64;
            phits += (before - slot.len()) as u64;
        }
        for at in 0..self.buffers.len() as u32 {
            let buffer = &mut self.buffers[at as usize];
            if buffer.front != packet.0 {
                if let Some(place) = self.behind[at as usize].iter().position(|(p, _)| *p == packet) {
                    let (_, arrived) = self.behind[at as usize].remove(place).expect("it was just found");
                    buffer.occupied -= arrived;
                    buffer.sole = self.behind[at as usize].is_empty();
                    phits += u64::from(arrived);
                }
                continue;
            }
            buffer.occupied -= buffer.present;
            phits += u64::from(buffer.present);
            if buffer.out != NONE {
                let out = buffer.out;
                self.buffers[out as usize].feeder = NONE;
            }
            self.heads.retain(|(_, waiting)| *waiting != at);
            let node = self.node_of(at) as usize;
            self.pending[node].retain(|waiting| *waiting != at);
            self.next_front(at);
        }
        self.packets.remove(packet);
        self.discarded.add(phits, 1);
    }
}

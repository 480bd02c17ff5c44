//! Packets at the front of buffers: how they get there, and how they come to wait for an output.

use super::buffer::NONE;
use super::contents::Simulator;
use super::workload::NewPacket;
use crate::packet::{Packet, PacketId};
use crate::parameters::Switching;
use crate::routing::Routing;

impl<R: Routing> Simulator<R> {
    /// Puts a packet into the queue of its host.
    pub fn enqueue(&mut self, new: NewPacket) -> PacketId {
        let packet = Packet {
            source: new.source,
            destination: new.destination,
            phits: new.phits.max(1),
            created: self.now,
            injected: u64::MAX,
            tag: new.tag,
        };
        let id = self.packets.add(packet);
        self.created.add(u64::from(packet.phits), 1);
        let queue = self.host_queue(new.source);
        let buffer = &mut self.buffers[queue as usize];
        buffer.occupied += packet.phits;
        self.queued[queue as usize].push_back((id, packet.phits));
        buffer.is_alone = false;
        if buffer.front == NONE {
            self.advance_queue(queue);
        }
        id
    }

    /// The front packet has left: makes the next packet, if there is one, the front packet.
    pub(super) fn advance_queue(&mut self, at: u32) {
        let packets = &self.packets;
        self.buffers[at as usize].advance(&mut self.queued[at as usize], |id| packets.get(id).phits);
        if self.buffers[at as usize].front != NONE {
            self.start_routing(at);
        }
    }

    /// Starts to route the head of the front packet, unless the whole packet has to arrive first.
    pub(super) fn start_routing(&mut self, at: u32) {
        let buffer = &self.buffers[at as usize];
        if self.parameters.switching == Switching::StoreAndForward && buffer.present < buffer.remaining {
            return;
        }
        if self.is_host_queue(at) {
            self.wait_for_output(at);
        } else {
            let done = self.now + u64::from(self.parameters.header_cycles);
            self.heads_in_routing.push_back((done, at));
        }
    }

    /// Lets the heads whose routing is done wait for an output.
    pub(super) fn finish_routing(&mut self) {
        while let Some((_, buffer)) = self.heads_in_routing.front().filter(|h| h.0 <= self.now).copied() {
            self.heads_in_routing.pop_front();
            self.wait_for_output(buffer);
        }
    }

    fn wait_for_output(&mut self, buffer: u32) {
        let node = self.node_of(buffer);
        self.waiting_heads[node as usize].push(buffer);
        self.request_arbitration(node);
    }

    /// Makes a node arbitrate, if heads wait there.
    pub(super) fn request_arbitration(&mut self, node: u32) {
        if !self.waiting_heads[node as usize].is_empty()
            && !std::mem::replace(&mut self.is_to_arbitrate[node as usize], true)
        {
            self.to_arbitrate.push(node);
        }
    }
}

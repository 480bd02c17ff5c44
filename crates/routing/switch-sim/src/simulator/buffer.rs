//! Input buffers of switches and hosts, and queues of hosts.

use crate::packet::PacketId;
use std::collections::VecDeque;

/// No lane, no buffer and no packet.
pub(crate) const NONE: u32 = u32::MAX;

/// The buffer at the far end of a virtual lane, and the allocation of that lane. The queue of a host is a
/// buffer too, without a limit.
///
/// It has the size of half a cache line, because every move of a phit reads two of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    /// The packet whose phits leave next.
    pub front: u32,
    /// Phits of the front packet that are in the buffer.
    pub present: u32,
    /// Phits of the front packet that have not left the buffer: those present, and those still to arrive.
    pub remaining: u32,
    /// Phits of all packets that are in the buffer or on the channel to it.
    pub occupied: u32,
    /// The most phits that may be in the buffer or on the channel to it.
    pub capacity: u32,
    /// The lane that is allocated to the front packet.
    pub output: u32,
    /// The buffer to whose front packet this lane is allocated.
    pub allocated_to: u32,
    /// Whether the buffer is in the list of those whose front packet may move.
    pub is_movable: bool,
    /// Whether no phit of the front packet has left yet.
    pub has_head: bool,
    /// Whether there is no packet behind the front packet.
    pub is_alone: bool,
}

impl Buffer {
    /// An empty buffer.
    pub fn empty(capacity: u32) -> Buffer {
        Buffer {
            front: NONE,
            present: 0,
            remaining: 0,
            occupied: 0,
            capacity,
            output: NONE,
            allocated_to: NONE,
            is_movable: false,
            has_head: true,
            is_alone: true,
        }
    }

    /// Makes the next packet the front packet. `phits` gives the length of a packet.
    pub fn advance(&mut self, queued: &mut QueuedPackets, phits: impl Fn(PacketId) -> u32) {
        self.output = NONE;
        self.has_head = true;
        match queued.pop_front() {
            Some((packet, arrived)) => {
                self.front = packet.0;
                self.present = arrived;
                self.remaining = phits(packet);
                self.is_alone = queued.is_empty();
            }
            None => {
                self.front = NONE;
                self.present = 0;
                self.remaining = 0;
                self.is_alone = true;
            }
        }
    }
}

/// The packets behind the front packet, each with its phits that have arrived.
pub(crate) type QueuedPackets = VecDeque<(PacketId, u32)>;

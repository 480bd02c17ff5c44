//! What is known of a lane: the buffer at its far end, and where the packet at the front of that buffer
//! is going.

use crate::simulator::packet::PacketId;
use std::collections::VecDeque;

/// Stands for no lane and no packet.
pub(crate) const NONE: u32 = u32::MAX;

/// Half a cache line, since every move of a phit looks at two of them. Hosts' queues are buffers too,
/// without a limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    /// The packet whose phits leave next.
    pub front: u32,
    /// Phits of it that are here.
    pub present: u32,
    /// Phits of it that have not left yet, here or still to come.
    pub left: u32,
    /// Phits of all packets here, and those under way to here.
    pub occupied: u32,
    pub capacity: u32,
    /// The lane that was given to the front packet.
    pub out: u32,
    /// The buffer whose front packet was given this lane.
    pub feeder: u32,
    /// In the list of those that may move.
    pub active: bool,
    /// Nothing of the front packet has left yet.
    pub whole: bool,
    /// No other packet is behind the front packet.
    pub sole: bool,
}

impl Buffer {
    pub fn empty(capacity: u32) -> Buffer {
        Buffer {
            front: NONE,
            present: 0,
            left: 0,
            occupied: 0,
            capacity,
            out: NONE,
            feeder: NONE,
            active: false,
            whole: true,
            sole: true,
        }
    }

    /// Makes the next packet the front one; its number of phits is what `phits` says.
    pub fn advance(&mut self, behind: &mut Behind, phits: impl Fn(PacketId) -> u32) {
        self.out = NONE;
        self.whole = true;
        match behind.pop_front() {
            Some((packet, arrived)) => {
                self.front = packet.0;
                self.present = arrived;
                self.left = phits(packet);
                self.sole = behind.is_empty();
            }
            None => {
                self.front = NONE;
                self.present = 0;
                self.left = 0;
                self.sole = true;
            }
        }
    }
}

/// Packets behind the front one, with the phits of each that have arrived.
pub(crate) type Behind = VecDeque<(PacketId, u32)>;

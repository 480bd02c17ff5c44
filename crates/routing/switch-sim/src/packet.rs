//! Packets.

use evenkeel_route::EndNodeId;

/// A packet in a simulation, by its place in the store. Places are used again after a packet has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PacketId(pub u32);

/// A packet from its creation until its last phit arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// The host that sends it.
    pub source: EndNodeId,
    /// The host that receives it.
    pub destination: EndNodeId,
    /// Its length.
    pub phits: u32,
    /// The cycle in which it entered the queue of its host.
    pub created: u64,
    /// The cycle in which its head left the host; `u64::MAX` before that.
    pub injected: u64,
    /// A number for the workload, which the simulator does not read.
    pub tag: u64,
}

//! The interface of routing functions.

use crate::packet::Packet;
use crate::wiring::ChannelId;
use evenkeel_route::SwitchId;

/// A virtual lane of a channel, also called a virtual channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct VirtualLane {
    /// The channel.
    pub channel: ChannelId,
    /// The number of the lane, from 0.
    pub lane: u8,
}

/// A routing function. The simulator calls it again whenever something has become free that a waiting head
/// may take.
pub trait Routing {
    /// Adds to `out` (which is empty) the lanes by which a packet may leave switch `at`, the best one
    /// first. The packet arrived by lane `from`.
    ///
    /// Without lanes the packet waits until the routing function changes.
    fn candidates(&self, at: SwitchId, from: VirtualLane, packet: &Packet, out: &mut Vec<VirtualLane>);

    /// Adds to `out` the lanes of the channel from the host by which a packet may start, the best one
    /// first. The default is all lanes.
    fn first_lanes(&self, _packet: &Packet, lanes: u8, out: &mut Vec<u8>) {
        out.extend(0..lanes);
    }
}

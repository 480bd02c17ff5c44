//! The interface of workloads, which decide what hosts send.

use crate::packet::Packet;
use evenkeel_route::EndNodeId;

/// A packet that a host is about to send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NewPacket {
    /// The host that sends it.
    pub source: EndNodeId,
    /// The host that receives it.
    pub destination: EndNodeId,
    /// Its length, at least 1.
    pub phits: u32,
    /// A number for the workload, which the simulator does not read.
    pub tag: u64,
}

/// What hosts send, and when.
pub trait Workload {
    /// The cycle in which [`Workload::generate`] is to be called next; `u64::MAX` for never.
    fn next_time(&self) -> u64;
    /// Adds the packets that hosts send in this cycle. It is called in the cycle that
    /// [`Workload::next_time`] names.
    fn generate(&mut self, now: u64, packets: &mut Vec<NewPacket>);
    /// The last phit of a packet has reached its host. Adds the packets that hosts send because of that.
    fn delivered(&mut self, now: u64, packet: &Packet, packets: &mut Vec<NewPacket>);
}

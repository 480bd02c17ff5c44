//! The interface between a protocol and the network.

use super::message::EpochMessage;
use crate::reconfiguration::control_network::ControlMessage;
use crate::reconfiguration::switch_tables::SwitchTables;

/// What a protocol acts on: tables, hosts, packets, and a network that delivers its messages.
pub(crate) trait ProtocolEnvironment {
    /// The tables of all switches.
    fn tables(&mut self) -> &mut SwitchTables;
    /// Sends a message to a neighbour. Messages on the same channel arrive in order.
    fn send(&mut self, message: ControlMessage<EpochMessage>);
    /// Starts a timer of a switch. A protocol must be correct however long it takes.
    fn start_timer(&mut self, cycles: u64, at: u32, message: EpochMessage);
    /// Discards all packets in a switch.
    fn discard_packets_at(&mut self, s: u32);
    /// Sets whether the hosts of a switch may inject packets.
    fn allow_injection(&mut self, s: u32, is_allowed: bool);
}

//! What reconfigurations cost.

use serde::Serialize;

/// What changes and their reconfigurations have cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReconfigurationCost {
    /// Time from the first change until all tables were up to date.
    pub cycles: u64,
    /// Packets that the protocol discarded. The packets of `hit` and `addressed` are not included.
    pub discarded: u64,
    /// Packets that were lost with a removed switch: those in it and on its channels.
    pub hit: u64,
    /// Packets for hosts at a switch that was removed, or that was not yet known.
    pub addressed: u64,
    /// Cycles in which a host was not allowed to inject packets, summed over all hosts.
    pub stopped: u64,
    /// Control messages, including those that were lost.
    pub messages: u64,
    /// Phits of these messages.
    pub phits: u64,
}

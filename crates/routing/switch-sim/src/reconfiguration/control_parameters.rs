//! Protocols, and the sizes and times of their messages.

use serde::Serialize;

/// A protocol that brings all tables up to date after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// Stop all traffic, collect the topology, distribute it, continue (Autonet).
    Static,
    /// The topology task and partial progressive reconfiguration, overlapped.
    Overlapped,
    /// Only the change is flooded, because all switches know the topology before it.
    Planned,
}

/// Sizes and times of control messages. Times are in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ControlParameters {
    /// Length of a message without a list of ports.
    pub message_phits: u32,
    /// Additional length for each port in a message.
    pub port_phits: u32,
    /// Time of a switch to process a message.
    pub process_cycles: u64,
    /// Time of a switch to compute tables, for each switch of the network.
    pub table_cycles: u64,
    /// Share of messages that are lost, 0 to 1.
    pub loss: f64,
    /// Time after which a lost message is sent again.
    pub retry_cycles: u64,
    /// Seed of the random losses.
    pub seed: u64,
}

impl ControlParameters {
    /// Estimates, because the paper gives no values. They affect times, but hardly the order of the
    /// protocols.
    pub const USUAL: ControlParameters = ControlParameters {
        message_phits: 8,
        port_phits: 2,
        process_cycles: 50,
        table_cycles: 20,
        loss: 0.0,
        retry_cycles: 1000,
        seed: 1,
    };
}

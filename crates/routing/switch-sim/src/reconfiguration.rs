//! Changes of a network under traffic: what it costs to bring all tables up to date.
//!
//! Routing is minimal adaptive with up*/down* to escape by, under virtual cut-through (Bermúdez et al.,
//! CANPC 2000). When a switch goes or comes, one of three protocols runs between the switches, as
//! messages over the same channels as the packets:
//!
//! * [`Method::Static`] (Autonet's): a flood from the first who noticed clears all tables, discards
//!   what is under way and stops injection; the topology is collected along the tree that the flood
//!   made, and distributed; each switch then makes its tables from the tree's directions and goes on.
//! * [`Method::Overlapped`] (topology task and partial progressive reconfiguration): the same three
//!   phases carry the topology for the adaptive tables and clear nothing; when it has been collected,
//!   false roots make their regions known, borders report, one border at a time reverses the links up
//!   to a false root, and escape tables follow by an exchange of distances. What the paper leaves to
//!   its references is our reconstruction: merges as in [`directed_graph::Directed::merges`].
//! * [`Method::Planned`] (what the authors left for later): every switch has the topology from before,
//!   so only the change is flooded; each computes the same merges and tables, and only the switches
//!   between a border and a false root exchange messages to reverse their links.
//!
//! A change that comes while the protocol for another is still at work is met by the static one,
//! whichever the first was: it clears what the first has left half done. A switch that has joined a
//! later reconfiguration no longer hears of earlier ones ([`reconfigure_all`]).
//!
//! Links are reversed a switch at a time ([`link_reversal`]). Always checked: escape channels free of cycles
//! after every event; in the end one root for each connected part and a way from all to all; no
//! injection stopped but by the static protocol; adaptive tables offer working channels only. On tiny
//! networks every order of events is tried ([`exploration`]).

mod control_network;
mod diffusing_computation;
pub mod directed_graph;
pub mod exploration;
mod final_check;
pub mod link_reversal;
mod protocol;
mod simulation;
pub mod switch_tables;
mod timeline;

pub use final_check::Failed;
pub use simulation::{Outcome, reconfigure, reconfigure_all};
pub use timeline::{Course, Moment, Timeline, timeline};

use serde::Serialize;

/// Which protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    Static,
    Overlapped,
    Planned,
}

/// What a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    SwitchGoes(u32),
    SwitchComes(u32),
}

impl Change {
    fn switch(self) -> u32 {
        match self {
            Change::SwitchGoes(s) | Change::SwitchComes(s) => s,
        }
    }

    fn comes(self) -> bool {
        matches!(self, Change::SwitchComes(_))
    }
}

/// Times and sizes of control. Times are in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Of a message that says little.
    pub message_phits: u32,
    /// More, for each port of which a message tells.
    pub port_phits: u32,
    /// A switch's work for each message.
    pub process_cycles: u64,
    /// A switch's work for tables, for each switch of the network.
    pub table_cycles: u64,
    /// Share of messages that are lost.
    pub loss: f64,
    /// After which a lost one is sent again.
    pub retry_cycles: u64,
    pub seed: u64,
}

impl Settings {
    /// Guesses: the paper says nothing of them. What they are changes times, hardly their order.
    pub const USUAL: Settings = Settings {
        message_phits: 8,
        port_phits: 2,
        process_cycles: 50,
        table_cycles: 20,
        loss: 0.0,
        retry_cycles: 1000,
        seed: 1,
    };
}

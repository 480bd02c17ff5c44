//! Forwarding tables for irregular networks: computed, balanced, proved free of deadlock.
//!
//! A [`Network`] is switches, end nodes and cables; each cable between switches is two [`Channel`]s,
//! one in each direction. Networks come from [`generate`] (by rule or by chance, with seeds) or from
//! files ([`format`](mod@format): what `ibnetdiscover` prints, or a list of cables). A [`Table`] says
//! for each [`Destination`] (an end node, or a switch's management port) by which port each switch
//! sends on, and on which lane the destination's packets travel; [`Table::next`] gives the channel,
//! [`Table::path`] the whole path. [`SourceRoutes`] hold one path for each ordered pair of switches,
//! [`Adaptive`] all minimal channels with a table to escape by.
//!
//! Freedom from deadlock follows from an order: a [`ChannelOrder`] allows the paths along which
//! channels ascend. What the literature calls up*/down* routing is a [`SwitchOrder`], which is one
//! special case. [`schemes`] finds orders; [`tables`](mod@tables) builds shortest and balanced tables
//! under any order. [`check`] knows nothing of orders: it is given a network and tables, and proves or
//! refutes. [`plan`] leads from tables to tables under traffic when the network has changed.
//!
//! The load of a channel is the number of ordered pairs of different end nodes whose path uses it. Hops
//! are channels between switches.
//!
//! ```
//! use evenkeel_route::{ChannelOrder, check, generate, schemes, tables};
//!
//! let network = generate::irregular(generate::Irregular { switches: 16, degree: 4, end_nodes: 4, parallel: false }, 1).unwrap();
//! let order = schemes::breadth_first(&network, evenkeel_route::SwitchId(0));
//! let table = tables::balanced(&network, &ChannelOrder::up_down(&network, &order), tables::Effort::default());
//! let found = check::check(&network, &table);
//! assert!(found.faults.is_empty());
//! println!("{} hops, {} paths over the busiest channel", found.mean_hops(), found.busiest());
//! ```
//!
//! This crate may use nothing but std; it must never do I/O, look at a clock or depend on the order of
//! a hash map. The same arguments give the same tables on every machine.

mod adaptive;
pub mod check;
mod dependencies;
pub mod format;
pub mod generate;
mod network;
mod order;
pub mod plan;
pub mod schemes;
mod source_routes;
mod table;
pub mod tables;

pub use adaptive::Adaptive;
pub use evenkeel_random::Random;
pub use network::{
    Channel, EndNode, EndNodeId, Network, NetworkBuilder, NetworkError, Plugged, Port, Switch, SwitchId,
};
pub use order::{ChannelOrder, SwitchOrder};
pub use source_routes::SourceRoutes;
pub use table::{Destination, Table, home};

//! Forwarding tables for irregular networks: computed, balanced, and proved free of deadlock.
//!
//! A [`Network`] has switches, end nodes and cables. Each cable between switches is two [`Channel`]s, one
//! in each direction. Networks come from generators ([`generate`]) or from files ([`format`](mod@format)).
//! A [`Table`] gives, for each switch and [`Destination`] (an end node, or a switch's management port), the
//! port by which the switch forwards packets, and for each destination the virtual lane of its packets.
//! [`SourceRoutes`] hold one path for each ordered pair of switches. [`AdaptiveRouting`] has all minimal
//! channels, and a table of escape paths.
//!
//! Routing is free of deadlock if its channel dependency graph has no cycle. Here an order guarantees that:
//! a [`ChannelOrder`] allows the paths along which channels ascend. Up*/down* routing with a
//! [`SwitchOrder`] is a special case. [`schemes`] searches for orders. [`tables`](mod@tables) builds short,
//! balanced tables under any order. [`check`] knows nothing of orders: it reads a network and tables, and
//! proves them free of deadlock or names the cycle. [`plan`] computes the steps from old tables to new ones
//! under traffic, after the network has changed.
//!
//! The load of a channel is the number of ordered pairs of different end nodes whose path uses it. Hops are
//! channels between switches.
//!
//! ```
//! use evenkeel_route::{ChannelOrder, SwitchId, check, generate, schemes, tables};
//!
//! let shape = generate::Irregular { switches: 16, degree: 4, end_nodes: 4, parallel: false };
//! let network = generate::irregular(shape, 1).unwrap();
//! let order = schemes::breadth_first(&network, SwitchId(0));
//! let order = ChannelOrder::up_down(&network, &order);
//! let table = tables::balanced(&network, &order, tables::BalanceEffort::default());
//! let found = check::check(&network, &table);
//! assert!(found.is_sound());
//! println!("{} hops, {} paths over the busiest channel", found.mean_hops(), found.max_load());
//! ```
//!
//! May use: std, thiserror, `evenkeel-random`. Must never: do I/O, read a clock, or depend on the iteration
//! order of a hash map. The same arguments give the same tables on every machine.

mod adaptive;
pub mod check;
mod dependency_graph;
pub mod format;
pub mod generate;
mod network;
mod order;
pub mod plan;
pub mod schemes;
mod source_routes;
mod table;
pub mod tables;
mod visited_set;

pub use adaptive::AdaptiveRouting;
pub use evenkeel_random::Random;
pub use network::{
    Attachment, Channel, EndNode, EndNodeId, Network, NetworkBuilder, NetworkError, Port, Switch, SwitchId,
};
pub use order::{ChannelOrder, SwitchOrder};
pub use source_routes::SourceRoutes;
pub use table::{Destination, Table};

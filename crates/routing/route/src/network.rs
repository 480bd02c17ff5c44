//! A network: switches with ports, end nodes, and cables. A cable between switches is two channels.
//!
//! May use: std, thiserror. Must never: know of orders, tables or routing.

mod builder;
mod ids;
mod removal;
mod topology;

pub use builder::{NetworkBuilder, NetworkError};
pub use ids::{Channel, EndNodeId, Port, SwitchId};
pub use topology::{Attachment, EndNode, Network, Switch};

//! A network: switches with ports, end nodes, cables; each cable between switches is two channels.

mod builder;
mod topology;

pub use builder::{NetworkBuilder, NetworkError};
pub use topology::{Channel, EndNode, EndNodeId, Network, Plugged, Port, Switch, SwitchId};

//! Reconfiguration: what it costs to bring all tables up to date when a network changes under traffic.
//!
//! Routing is minimal adaptive with up*/down* escape paths, and switching is virtual cut-through (Bermúdez
//! et al., CANPC 2000). When a switch is removed or added, the switches run one of three protocols. Its
//! messages use the same channels as the packets.
//!
//! * [`Protocol::Static`] (Autonet): the neighbour that notices the change first starts a flood. It empties
//!   all tables, discards all packets and stops injection. The topology is collected along the tree of the
//!   flood, and distributed. Each switch computes its tables from the directions of the tree, and
//!   continues.
//! * [`Protocol::Overlapped`] (topology task and partial progressive reconfiguration): the same three
//!   phases collect and distribute the topology for the adaptive tables, but empty nothing. Then false
//!   roots announce their regions, borders are reported, one border after the other reverses the links up
//!   to a false root, and an exchange of distances gives the escape tables. The paper leaves the details to
//!   its references. They are reconstructed here, with merges as in [`region_merge::region_merges`].
//! * [`Protocol::Planned`] (future work in the paper): every switch knows the topology before the change,
//!   so only the change is flooded. All switches compute the same merges and tables. Only the switches
//!   between a border and a false root exchange messages, to reverse their links.
//!
//! When a change happens while a protocol is still running, the static protocol handles it. It empties the
//! tables that the other protocol has left half done. A switch that has joined a later reconfiguration
//! ignores messages of earlier ones.
//!
//! These invariants are always checked. After every event, the dependencies between escape channels have no
//! cycle. In the end, every connected part has one root and a path between all switches. Only the static
//! protocol stops injection. Adaptive tables offer working channels only. On tiny networks, [`exploration`]
//! tries every order of events.
//!
//! May use: the simulator and its traffic. Must never: be used by the simulator.

mod change;
mod control_network;
mod control_parameters;
mod cost;
mod diffusing_computation;
pub mod directed_graph;
mod error;
pub mod exploration;
mod final_check;
mod link_direction;
mod link_reversal;
mod protocol;
pub mod region_merge;
pub mod reversal_exploration;
mod simulated_environment;
mod simulation;
pub mod switch_tables;
mod timeline;
mod topology_snapshot;

pub use change::TopologyChange;
pub use control_parameters::{ControlParameters, Protocol};
pub use cost::ReconfigurationCost;
pub use error::ReconfigurationError;
pub use final_check::FinalCheckError;
pub use link_direction::LinkDirection;
pub use simulation::{reconfigure, reconfigure_all};
pub use timeline::{ChangeSchedule, TimeWindow, Timeline, timeline};
pub use topology_snapshot::TopologySnapshot;

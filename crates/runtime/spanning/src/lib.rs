//! What a collective of a communicator that spans several nodes consists of.
//!
//! Ranks never talk to other nodes themselves. On each node they carry out one or two collectives among
//! themselves and their node's agent, and the agents exchange data between the nodes. Ranks and agents are
//! different processes and work out both halves independently, so everything that they must agree on
//! stands here, once:
//!
//! * [`kind`]: the 17 collectives of MPI; [`span`]: a part of a buffer;
//! * [`node_map`]: which node each member of a communicator is on; [`node_counts`]: how many are on each;
//! * [`cut`]: which calls are carried, and into which pieces they are cut; [`parts`]: the same where ranks
//!   have parts of their own length;
//! * [`description`]: one piece, as the ranks post it in the call queue;
//! * [`stages`]: the table from a piece to the collective that brings data up to the agent, the exchange
//!   between the nodes, and the collective that brings data down from the agent;
//! * [`staging`]: where a rank's data lie in its own buffers and in what its node's agent gets and gives;
//!   [`exchange`]: where a node's data lie in what the nodes exchange.
//!
//! May use: schedule, record (names). Must never: touch memory that is not its own (there is no unsafe code),
//! a segment or a network, or decide by anything that ranks and agents may know differently.

#![forbid(unsafe_code)]

pub mod call;
pub mod cut;
pub mod description;
pub mod exchange;
pub mod kind;
pub mod node_counts;
pub mod node_map;
pub mod parts;
pub mod span;
pub mod stages;
pub mod staging;

pub use call::SpanningCall;
pub use description::PieceDescription;
pub use kind::CollectiveKind;
pub use node_counts::{NodeCounts, NodePosition};
pub use node_map::{Location, NodeMap};
pub use span::Span;
pub use stages::{Exchange, LocalCollective, LocalMember, Stages};

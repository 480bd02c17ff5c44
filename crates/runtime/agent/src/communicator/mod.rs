//! What an agent does for one communicator.
//!
//! An [`agent_communicator`] has two [`call_stream`]s, blocking and nonblocking. A call stream takes
//! calls from the ranks here and moves each [`collective`] on; broadcasts that other nodes need are
//! [`forwarding`]'s even before they are called. Barriers are counted: [`global_minimum`] finds out how
//! many of them all nodes have entered, and [`run_ahead`] uses the same to bound how far one node may be
//! ahead. Nothing here knows the network: messages come and go as values.

pub mod agent_communicator;
pub mod answers;
pub mod call_stream;
pub mod collective;
pub mod forwarding;
pub mod global_minimum;
pub mod run_ahead;

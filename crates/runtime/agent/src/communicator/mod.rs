//! What an agent does for one communicator.

pub mod agent_communicator;
pub mod call_stream;
pub mod collective;
pub mod forwarding;
pub mod global_minimum;
pub mod run_ahead;

//! `evenkeel route compute`: forwarding tables for a network, proved, for OpenSM.

mod arguments;
mod command;

pub use arguments::ComputeArguments;
pub use command::compute;

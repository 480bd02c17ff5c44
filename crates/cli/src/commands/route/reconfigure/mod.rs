//! `evenkeel route reconfigure`: switches go and come back under traffic, with each protocol.

mod arguments;
mod command;
mod plot;

pub use arguments::ReconfigureArguments;
pub use command::reconfigure;

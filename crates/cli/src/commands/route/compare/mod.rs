//! `evenkeel route compare`: all schemes, and OpenSM's engines, on the same networks.

mod arguments;
mod command;
mod comparison;
mod table;

pub use arguments::CompareArguments;
pub use command::compare;

//! `evenkeel debug`: which rank waited for which in a recorded run, and why.

mod arguments;
mod browser;
mod command;
mod findings;
mod load;

pub use arguments::DebugArguments;
pub use command::debug;

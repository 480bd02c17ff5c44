//! `evenkeel replay`: the same run again.

mod arguments;
mod command;

pub use arguments::ReplayArguments;
pub use command::replay;

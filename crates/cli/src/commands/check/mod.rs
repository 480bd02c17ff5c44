//! `evenkeel check`: what a recorded run has done wrong.

mod arguments;
mod command;

pub use arguments::CheckArguments;
pub use command::check;

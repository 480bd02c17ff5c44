//! `evenkeel ps`: the jobs of this user that run under evenkeel here.

mod arguments;
mod command;

pub use arguments::PsArguments;
pub use command::ps;

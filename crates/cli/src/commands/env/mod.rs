//! `evenkeel env`: prints what a user's own launcher line needs in order to run under evenkeel.

mod arguments;
mod command;

pub use arguments::{EnvArguments, EnvFormat};
pub use command::env;

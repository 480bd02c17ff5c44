//! `evenkeel env`: what makes a launcher line of the user's own run under evenkeel.

mod arguments;
mod command;

pub use arguments::{EnvArguments, EnvFormat};
pub use command::env;

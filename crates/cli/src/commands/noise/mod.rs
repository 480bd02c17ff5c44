//! `evenkeel noise`: measures how this machine disturbs a program.

mod arguments;
mod command;

pub use arguments::NoiseArguments;
pub use command::noise;

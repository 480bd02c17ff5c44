//! `evenkeel cluster saturation`: the load that each policy carries.

mod arguments;
mod command;
mod plot;
mod point;
mod table;

pub use arguments::SaturationArguments;
pub use command::saturation;

//! `evenkeel model`: measures parameters, shows sets of parameters, and what barriers cost under them.

mod arguments;
mod barrier_costs;
mod command;
mod list;
mod measure;
mod show;

pub use arguments::{ModelArguments, ModelCommand};
pub use command::model;

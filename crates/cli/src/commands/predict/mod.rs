//! `evenkeel predict`: how well the receives of a recorded run could have been foreseen.

mod arguments;
mod command;
mod receives;
mod trace_scores;

pub use arguments::PredictArguments;
pub use command::predict;

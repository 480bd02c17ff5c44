//! What users name on the command line and several commands read: algorithms and sets of model parameters.
//!
//! May use: the schedule and model crates, [`errors`](crate::errors). Must never: know a command.

pub mod algorithm_names;
pub mod model_parameters;

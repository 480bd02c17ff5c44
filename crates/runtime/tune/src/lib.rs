//! Chooses the schedule that executes barriers fastest on this machine.
//!
//! [`candidates`] lists what can be best: every barrier algorithm with a few values of its parameters.
//! [`prediction`] leaves out what a simulation says is far slower. [`comparison`] measures the rest in
//! turns: first all of them and the engine's built-in barrier, then the best few again for longer.
//! [`ratio`] says whether one of them is clearly better. If none is, the built-in barrier stays. The
//! measurement runs the engine itself among real processes ([`rank`]), without MPI. The processes find each
//! other through the process that has started them.
//!
//! May use: the engine, schedules, models, the simulator, random numbers, statistics. Must never: start a
//! process or write a file, which the command line does.

pub mod candidates;
pub mod comparison;
mod error;
mod handshake;
pub mod prediction;
pub mod rank;
pub mod ratio;
mod rounds;
mod task;
mod turn_length;
mod variant_timer;

pub use error::RankError;
pub use task::MeasurementTask;
pub use variant_timer::VariantTimer;

//! The simulation of ranks that share cores: a rank that waits gives its core away, and what counts is
//! how often that happens.
//!
//! Where there are more ranks than cores, a written message is visible at once, compared with the time
//! until its receiver gets a core again. So messages cost nothing here. What costs time is each switch of
//! a core from one rank to the next. Each core visits its ranks in an arbitrary order that stays the
//! same, as it does where all ranks yield to each other. A rank that gets the core continues until it has
//! to wait, then gives the core away. A rank that gets the core and still has to wait costs as much as
//! one that continues. No rank is made to give its core away: work that takes longer than the kernel's
//! time slices is not interrupted here.
//!
//! The layers, top down: [`simulate`] runs a loop under several orders of ranks, [`order`] runs one
//! order, [`rank`] is one rank, [`core`] is one core, [`memory`] holds the flags and counters.

mod core;
mod error;
mod memory;
mod order;
mod rank;
mod simulate;

pub use error::SharedCoresError;
pub use order::SharedCores;
pub use simulate::{SharedOutcome, simulate_shared, time_on_shared_cores};

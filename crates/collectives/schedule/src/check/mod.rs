//! Proves a schedule right, from one run of it where that is enough.
//!
//! **What one run proves.** A rank's steps have no alternatives (but for
//! [`Count`](crate::Step::Count)), flags and counters only grow, and a wait that is satisfied stays
//! satisfied. Whichever step is taken next, all others that could be taken can still be taken
//! afterwards, and lead to the same state: the schedule is a Kahn network. So if one interleaving of
//! steps and deliveries completes, all do, and *which event lies in the past of which* is the same in
//! all of them. The [`execution`] carries that relation along as vector clocks, and every rule is stated
//! in it rather than in the order in which things happened to happen in this run:
//!
//! * a rank leaves a barrier only if every rank's entering lies in its past;
//! * who raises a flag again must have the earlier raise in its past or, if that one brought data, that
//!   its owner has taken them: else a wait could take the one for the other, as messages may overtake
//!   each other;
//! * who adds to a counter for the next use must have all additions of this use in its past: early
//!   arrivals must not stand in for missing ones;
//! * who writes into memory must have the last read and the last write of it in its past, and who reads
//!   must have waited for what it reads: no data races, so every interleaving also computes the same
//!   values;
//! * a program's output may be written by others only if its entering lies in their past.
//!
//! A run that breaks none of these has completed, and so has every other one, with the same data. Three
//! epochs or more are run, so that every bank is used again.
//!
//! **What it does not.** With [`Count`](crate::Step::Count) it is decided in the run who goes on, so
//! different interleavings differ. [`explore()`](explore::explore) visits *every* interleaving of steps
//! and deliveries for a few ranks, of any schedule: it confirms the argument above where it is small
//! enough, and it is what counts for schedules with branches, together with many random runs
//! ([`Interleaving::Random`]).
//!
//! ParameterValues are [`terms`]: who contributed, in which order, grouped how. So an output is compared with
//! what it must be, including the order of operands ([`CombiningOrder`](crate::CombiningOrder)), and with the other
//! ranks' outputs, which must be grouped the same way.

pub mod costs;
pub mod error;
pub mod execution;
pub mod explore;
mod flags;
pub mod interleaving;
mod memory;
mod steps;
pub mod terms;

pub use costs::{Costs, costs, fits_in_memory};
pub use error::CheckError;
pub use execution::Execution;
pub use interleaving::{Interleaving, drive, run};

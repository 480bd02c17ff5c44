//! Proves that a schedule is correct, where possible from one execution of it.
//!
//! **What one execution proves.** A rank's steps have no alternatives (except for
//! [`Count`](crate::Step::Count)), flags and counters only grow, and a wait that is satisfied stays
//! satisfied. So whichever step is taken next, every other step that could be taken can still be taken
//! afterwards, and both orders lead to the same state: the schedule is a Kahn network. If one
//! interleaving of steps and deliveries completes, all interleavings complete, and *which event lies in
//! the past of which* is the same in all of them. [`Execution`] carries that relation along as vector
//! clocks, and every rule refers to it instead of the order in which things happened in this execution:
//!
//! * A rank leaves a barrier only if the entering of every rank lies in its past.
//! * A rank that raises a flag again must have the earlier raise in its past or, if that raise brought
//!   data, must know that the owner has taken the data. Otherwise a wait could mistake one raise for the
//!   other, because messages may overtake each other.
//! * A rank that adds to a counter for the next use must have all additions of this use in its past, so
//!   that early arrivals never stand in for missing ones.
//! * A rank that writes into memory must have the last read and the last write of it in its past, and a
//!   rank that reads must have waited for what it reads. So there are no data races, and every
//!   interleaving computes the same values.
//! * Another rank may write into a program's output only if the entering of that rank lies in its past.
//!
//! An execution that breaks none of these rules has completed. So does every other one, with the same
//! data. Three epochs or more are executed, so that every bank is reused.
//!
//! **What one execution does not prove.** [`Count`](crate::Step::Count) decides during the execution
//! which rank continues, so different interleavings differ. [`explore()`] visits *every* interleaving of
//! steps and deliveries of any schedule for a few ranks. It confirms the argument above where it is small
//! enough. For schedules with branches it is the proof, together with many random executions
//! ([`Interleaving::Random`]).
//!
//! Values are [`terms`]: which ranks contributed, in which order, in which grouping. So an output is
//! compared with what it must be, including the order of operands
//! ([`CombiningOrder`](crate::CombiningOrder)), and with the outputs of the other ranks, which must have
//! the same grouping.
//!
//! May use: schedules and random numbers. Must never: trust what an algorithm says about itself.

mod advance;
mod clock;
mod costs;
mod counters;
mod error;
pub mod execution;
mod explore;
mod flags;
mod interleaving;
mod memory;
mod take_step;
pub mod terms;

pub use costs::{Costs, costs, fits_in_memory};
pub use error::CheckError;
pub use execution::Execution;
pub use explore::{Exploration, explore};
pub use interleaving::{Interleaving, drive, run};

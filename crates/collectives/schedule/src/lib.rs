//! Collective algorithms as pure data: a collective, the number of ranks and parameters give the steps of
//! each rank.
//!
//! A [`Schedule`] is an [`Algorithm`] applied to a [`Problem`]. [`Schedule::round`] generates the steps
//! of one rank round by round. Its time is proportional to the steps of that round, and it looks at no
//! other rank, so a simulation of a million ranks stores no steps. [`Step`] is the language of the steps;
//! [`Resources`] states the flags, counters and memory that a schedule uses.
//!
//! **Flags and counters only grow.** Ranks run a schedule for one epoch after the other and clear
//! nothing. A flag is raised to a value that depends on the epoch, and a wait asks whether the flag has
//! reached at least that value ([`flag_value`]). A counter is awaited at a multiple of what one epoch
//! adds. So some ranks may start the next epoch while others are still in the previous one.
//!
//! **Memory is reused safely.** Flags, counters and scratch lie in [`Resources::banks`] banks, which the
//! epochs use in turn. Before a rank writes into another rank's bank again, it must know that the other
//! rank has read the old contents. It knows that in one of two ways: from an acknowledgement (a wait for
//! the previous use of the bank, [`turn`](Step::Wait) 0), or because no rank can finish an epoch that
//! another rank has not entered. Each algorithm says which of the two it relies on. [`Buffer::Input`] and
//! [`Buffer::Output`] of another rank belong to that rank's program, so a rank may write there only when
//! it knows that the other rank has entered the epoch.
//!
//! [`mod@check`] proves these rules for a schedule from one execution of it. [`algorithms::ALL`] lists
//! every algorithm; an algorithm on the list is checked, drawn and simulated. [`deposits`] defines for
//! all collectives what the engine does within a node, and some listed algorithms are made of it.
//! [`picture`] draws schedules. [`devices`] are not schedules: they are hardware that performs barriers.
//!
//! May use: std, `thiserror`, and random numbers for the checks. Must never: do I/O, read a clock, or
//! depend on what executes the steps.

pub mod algorithm;
pub mod algorithms;
pub mod check;
pub mod collective;
pub mod deposits;
pub mod devices;
pub mod error;
pub mod nodes;
pub mod partition;
pub mod picture;
pub mod problem;
pub mod radix;
pub mod resources;
pub mod round;
pub mod schedule;
mod schedule_name;
pub mod step;

pub use algorithm::{Algorithm, Parameter};
pub use collective::{Collective, CombiningOrder};
pub use error::ScheduleError;
pub use nodes::Nodes;
pub use problem::{ParameterValues, Problem};
pub use resources::{Resources, flag_value};
pub use round::Round;
pub use schedule::Schedule;
pub use step::{Buffer, Counter, Flag, Place, Rank, RankSet, Step};

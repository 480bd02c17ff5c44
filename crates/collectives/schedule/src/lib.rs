//! Collective algorithms as pure data: from an operation, the number of ranks and parameters to the
//! steps of each rank.
//!
//! A [`Schedule`] is an [`Algorithm`] applied to a [`Problem`]. Each rank's steps come round by round
//! ([`Schedule::round`]), in time proportional to the steps of that round and without looking at any
//! other rank, so that a million ranks need no memory for them. [`Step`] is the language; [`Resources`] is
//! the memory that a schedule states.
//!
//! **Flags and counters only grow.** A schedule is run for one epoch after the other, and nothing is
//! ever cleared: a flag is raised to a value that depends on the epoch and a wait asks whether it is at
//! least that ([`flag_value`]); a counter is awaited at a multiple of what one epoch adds. So the next
//! epoch may begin while others are still in the last one.
//!
//! **Memory is used again safely.** Flags, counters and scratch lie in [`Resources::banks`] banks, which
//! the epochs take in turn. Before a rank writes into another's bank again, it must know that the other
//! has read what was there: either from an acknowledgement (a wait for the previous use of the bank,
//! [`turn`](Step::Wait) 0), or because no rank can finish an epoch that another has not entered. Each
//! algorithm says which. Another rank's [`Buffer::Input`] and [`Buffer::Output`] are its program's, so
//! nobody writes there unless told that the rank has entered the epoch.
//!
//! [`mod@check`] proves these rules for a schedule from one run of it. [`algorithms::ALL`] lists every
//! algorithm; being listed is what makes one checked, shown and simulated. [`deposits`] says for all
//! operations what the engine does within a node, and schedules of the list are made of it. [`picture`]
//! draws them. [`devices`] are no schedules: they hold barriers by themselves.
//!
//! This crate may use nothing but std, and random numbers for its checks; it must never do I/O, look at
//! a clock, or depend on what runs the steps.

pub mod algorithm;
pub mod algorithms;
pub mod check;
pub mod deposits;
pub mod devices;
pub mod naming;
pub mod nodes;
pub mod partition;
pub mod picture;
pub mod problem;
pub mod radix;
pub mod round;
pub mod schedule;
pub mod step;

pub use algorithm::{Algorithm, Collective, CombiningOrder, Parameter};
pub use nodes::Nodes;
pub use problem::{ParameterValues, Problem};
pub use round::Round;
pub use schedule::{Resources, Schedule, ScheduleError, flag_value};
pub use step::{Buffer, Counter, Flag, Place, Rank, RankSet, Step};

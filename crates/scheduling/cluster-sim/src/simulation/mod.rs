//! The simulation in virtual time.
//!
//! A job whose ranks have their cores to themselves while its slot is on is simulated as a *gang*: its end
//! follows from the timetable, and its quanta cost no event. So are all jobs under batch and gang
//! scheduling, and under flexible coscheduling those whose ranks are all coscheduled (CS). All other jobs
//! are *loose*: each computation and message of each of their ranks is an event, and each core decides at
//! each of them which rank runs.
//!
//! ```text
//! events     what happens next
//! on_time    how long the slots of a job are on
//! run        all that changes; jobs, ranks, cores
//! gangs      jobs as wholes
//! levels     which rank may run on a core, and before which others
//! core       which rank has a core
//! rank       computations and messages
//! boundary   between two quanta: jobs come and go, slots change, classes change
//! simulate   the loop over events
//! ```

mod boundary;
mod core;
mod events;
mod gangs;
mod levels;
mod on_time;
mod rank;
mod run;
mod simulate;

pub use simulate::{SimulationError, simulate};

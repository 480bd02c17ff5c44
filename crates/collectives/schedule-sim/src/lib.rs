//! Schedules of collective operations in virtual time, to a million ranks: under a model of a machine,
//! with noise, skew and faults.
//!
//! [`simulate()`] runs a [`Workload`] (compute, call, compute, call, …) in which every call is one
//! epoch of a [`Schedule`](evenkeel_schedule::Schedule), on a [`Machine`] made from the parameters of a
//! model, and gives an [`Outcome`]. Steps are generated when a rank comes to them; nothing is stored
//! per step. What each step costs is said in `engine` (and in [`time_on_shared_cores`] for ranks that share cores,
//! where other things count); how far that can be trusted, in the book's page on simulation.
//!
//! The same arguments give the same outcome on every machine: virtual time is counted in whole
//! picoseconds, and each rank has random numbers of its own. This crate may use the schedules and the
//! models; it must never look at a clock, a file or the environment, and it knows nothing of MPI.
//!
//! ```
//! use evenkeel_model::{LogGp, Parameters};
//! use evenkeel_schedule::{Problem, Schedule, algorithms};
//! use evenkeel_schedule_sim::{Machine, NoObserver, Workload, simulate};
//!
//! let network = LogGp::logp(1_000.0, 200.0, 100.0); // L, o, g in nanoseconds
//! let machine = Machine::new(&Parameters::of_network("mine", "a guess", network.into())).unwrap();
//! let schedule = Schedule::new(algorithms::find("dissemination").unwrap(), Problem::new(1000), &[]).unwrap();
//! let outcome = simulate(&schedule, 1, &machine, &Workload::default(), &mut NoObserver, &mut |_| {}).unwrap();
//! assert_eq!(outcome.end.ns(), 10.0 * (1_000.0 + 2.0 * 200.0)); // (L + 2o)·⌈log₂ P⌉
//! ```

mod machine;
mod noise;
mod observer;
mod outcome;
mod processors;
mod queue;
mod random;
mod shared_cores;
mod simulation;
mod space_time;
mod time;
mod workload;

pub use machine::{Cost, Link, Machine, WITHIN_NODE};
pub use noise::{Noise, Trace};
pub use observer::{Activity, NoObserver, Observer, Recording};
pub use outcome::{Call, LateRank, Outcome, Spread};
pub use random::{Distribution, Span};
pub use shared_cores::{SharedCores, SharedCoresError, SharedOutcome, simulate_shared, time_on_shared_cores};
pub use simulation::{SimulationError, simulate};
pub use space_time::space_time_diagram;
pub use time::VirtualTime;
pub use workload::{Fault, Leaving, Workload, time_without_calls};

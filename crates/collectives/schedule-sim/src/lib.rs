//! Simulates schedules of collectives in virtual time, for up to a million ranks, under a model of a
//! machine, with noise, skew and faults.
//!
//! [`simulate`] runs a [`Workload`] (compute, call, compute, call, …) in which each call is one epoch of
//! a [`Schedule`](evenkeel_schedule::Schedule), on a [`Machine`] made from the parameters of a model, and
//! returns an [`Outcome`]. Steps are generated when a rank comes to them, so nothing is stored for each
//! step. [`simulate_shared`] and [`time_on_shared_cores`] are for ranks that share cores, where other
//! things cost time. The heads of the modules `simulation` and `shared_cores` say what each step costs.
//! The book's page on simulation says how far the results can be trusted.
//!
//! The same arguments give the same outcome on every machine: virtual time is counted in whole
//! picoseconds, and each rank has its own random numbers.
//!
//! May use: schedules, models, random numbers. Must never: read a clock, a file or the environment, or
//! know anything of MPI.
//!
//! ```
//! use evenkeel_model::{LogGp, Parameters};
//! use evenkeel_schedule::{Problem, Schedule, algorithms};
//! use evenkeel_schedule_sim::{Machine, NoObserver, Workload, simulate};
//!
//! let network = LogGp::logp(1_000.0, 200.0, 100.0); // L, o, g in nanoseconds
//! let parameters = Parameters::of_network("mine", "a guess", network.into());
//! let machine = Machine::new(&parameters).unwrap();
//! let algorithm = algorithms::find("dissemination").unwrap();
//! let schedule = Schedule::new(algorithm, Problem::new(1000), &[]).unwrap();
//! let workload = Workload::default();
//! let outcome = simulate(&schedule, 1, &machine, &workload, &mut NoObserver, &mut |_| {}).unwrap();
//! assert_eq!(outcome.end.ns(), 10.0 * (1_000.0 + 2.0 * 200.0)); // (L + 2o)·⌈log₂ P⌉
//! ```

mod detours;
mod machine;
mod noise;
mod observer;
mod outcome;
mod processors;
mod queue;
mod random;
mod shared_cores;
mod simulation;
mod space;
mod space_time;
mod span;
mod tally;
mod time;
mod workload;

pub use machine::{Cost, Link, Machine, WITHIN_NODE};
pub use noise::{Noise, NoiseError, Trace};
pub use observer::{Activity, NoObserver, Observer, Recording};
pub use outcome::{Call, LateRank, Outcome, Spread};
pub use processors::time_without_calls;
pub use shared_cores::{SharedCores, SharedCoresError, SharedOutcome, simulate_shared, time_on_shared_cores};
pub use simulation::{SimulationError, simulate};
pub use space_time::space_time_diagram;
pub use span::{Distribution, ParseSpanError, Span};
pub use time::{ParseTimeError, VirtualTime};
pub use workload::{Fault, Leaving, Workload};

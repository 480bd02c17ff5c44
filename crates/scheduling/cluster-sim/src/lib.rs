//! Simulates in virtual time how parallel jobs share a cluster.
//!
//! ```text
//! job          synthetic jobs: compute, communicate, again and again
//! policy       batch, gang scheduling, spin-block, flexible and buffered coscheduling
//! cluster      the machine and the parameters of its scheduler
//! simulation   runs jobs on a cluster under a policy
//! outcome      when each job started and ended; turnaround, responses, slowdowns
//! scenario     four small workloads with published results
//! distributions, lublin, workload   jobs that arrive as on real machines
//! confidence   means with intervals over seeds
//! saturation   whether a cluster keeps up with a workload
//! ```
//!
//! Source: Frachtenberg, "Leveraging modern interconnects for parallel system software", PhD thesis, Hebrew
//! University, 2003, chapter 6.
//!
//! May use: gang scheduling as pure data, random numbers, statistics. Must never: read a clock, a file or the
//! environment, or depend on the order of a hash map: equal arguments give equal outcomes.

mod cluster;
mod confidence;
mod distributions;
mod job;
mod lublin;
mod outcome;
mod policy;
mod saturation;
mod scenario;
mod simulation;
mod workload;

pub use cluster::Cluster;
pub use confidence::Interval;
pub use job::{Communication, SyntheticJob};
pub use lublin::{ModelJob, lublin_feitelson};
pub use outcome::{JobOutcome, Outcome};
pub use policy::Policy;
pub use saturation::saturation;
pub use scenario::{Published, Scenario};
pub use simulation::{SimulationError, simulate};
pub use workload::Workload;

//! Starts the ranks of one job on this machine, without `mpiexec` and without a daemon.
//!
//! ```text
//! job           what is to be run, and why it could not be
//! supervisor    the process that the user started; outlives a killed launcher
//! watched       runs something that is looked at from time to time, and may be ended
//! hosted        the launcher on one of several hosts, as the child of a node process
//! hosted_job    this host's part; what node and launcher tell each other
//! channel       values between two processes of this machine
//! event_loop    the launcher: one loop over PMI connections, output pipes and signals
//! ending        pure: which event ended the job, its exit code, its sentence
//! pmi1          pure: the protocol PMI-1, which MPICH and its relatives speak
//! pmix          PMIx, which Open MPI speaks, by libpmix
//! output        ranks' lines, whole, to one stream, with bounded memory
//! processes     starting ranks; finding and ending everything that they started
//! signals       signals as events
//! rank_place    where a rank is among the others, and the variables that say so
//! ```
//!
//! Two processes belong to a job besides its ranks. The *supervisor* is the process that the user started; it
//! passes signals on and waits. Its child, the *launcher*, is the parent of the ranks. Both are subreapers
//! (`PR_SET_CHILD_SUBREAPER`): whatever ranks start stays below the launcher however often it forks, and
//! moves to the supervisor if the launcher is killed. Each of the two ends all processes below it when the
//! other one is gone.
//!
//! May use: the kernel. Must never: read options or the environment for itself; know which MPI it starts.

pub mod job;

mod channel;
mod ending;
mod event_loop;
mod hosted;
mod hosted_job;
mod output;
mod pmi1;
mod pmix;
mod processes;
mod rank_place;
mod signals;
mod supervisor;
mod watched;

pub use channel::Channel;
pub use hosted::Hosted;
pub use hosted_job::{HostLabel, HostedJob, Order, Report};
pub use job::{Job, JobError, OutputStyle, StandardInput};
pub use output::{Lines, Sink};
pub use signals::{Received, Signals, die_of};
pub use supervisor::run;
pub use watched::{Watch, Watched, run_watched};

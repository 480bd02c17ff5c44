//! Jobs of one user on this machine that take turns: all ranks of a job run in the same slot, and the ranks
//! of the other jobs stand still meanwhile.
//!
//! ```text
//! membership    a job joins, waits for its place, and leaves
//! warden        outlives the switcher: no rank stays stopped, no matter which process is killed
//! switcher      follows the timetable by the clock; finds out which jobs have ended
//! priority      the switcher does not queue for the cores that it switches
//! roster        the list of jobs, changed
//! plan          which job runs in which slot
//! gang          the processes of one job, and how they are switched
//! registry      the file by which the jobs of a user know each other
//! connections   how these processes speak to each other
//! timetable     pure: whose turn it is at which time
//! lateness      pure: how late a switcher was, and which quantum it can keep
//! process_id    a process that cannot be taken for another one
//! ```
//!
//! Nothing is sent from slot to slot. The slots are numbered by the monotonic clock, and each job has a
//! *switcher*: a process of its own that stops and continues this job's ranks and no others. What is
//! published is a new timetable, with the time from which it holds. The switcher's parent, the *warden*,
//! continues the ranks if the switcher dies, and the switcher does so if the warden dies.
//!
//! May use: the kernel, the crate of the pure matrix. Must never: read options or the environment for itself;
//! leave a process stopped.

mod connections;
mod error;
mod gang;
mod lateness;
mod membership;
mod plan;
mod priority;
mod process_id;
mod registry;
mod roster;
mod switcher;
mod timetable;
mod warden;

pub use error::ShareError;
pub use gang::{JOB_VARIABLE, Mechanism, Trial, trials};
pub use lateness::Lateness;
pub use membership::{Membership, Request, Waiting, join};
pub use priority::real_time_is_permitted;
pub use registry::{Directory, Record, Row, Status};
pub use switcher::SwitchingSummary;
pub use timetable::{Timetable, now_ns};

//! `evenkeel run --inject`: disturbs a run on purpose, to see what unresponsive ranks cost and what evenkeel
//! saves.
//!
//! A run becomes its launcher, so another process must disturb it: the *injector*, which watches the launcher
//! and ends with it. What it does must not outlast it, whichever process dies, and however:
//!
//! * competitors are threads of the injector;
//! * ranks that it has stopped continue when the launcher ends (the injector continues them) and when the
//!   injector itself is killed (the kernel continues them: [`resume_guarantee`]);
//! * the control group of a quota is removed by the injector; an empty one may remain if the injector is
//!   killed.
//!
//! [`injection`] is the grammar of `--inject`, [`span`] draws random spans of time, [`rank_processes`] finds
//! the ranks' processes, [`control_group`] makes control groups; [`injections`] starts the injector, and
//! [`injector`] is it.
//!
//! May use: [`machine`](crate::machine), [`errors`](crate::errors), rustix, libc. Must never: know MPI, or
//! leave a process stopped.

pub mod control_group;
pub mod injection;
pub mod injections;
pub mod injector;
pub mod rank_processes;
pub mod resume_guarantee;
pub mod span;

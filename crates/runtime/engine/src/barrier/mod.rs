//! Barriers. A rank enters a barrier and waits for it (strict), or enters it and leaves it pending
//! (deferred).
//!
//! The protocol is that of [`evenkeel_segment::board::barrier`]. Ranks that wait and ranks that do not may
//! meet in one barrier, so each rank decides for itself. The algorithm is chosen when a communicator is
//! made ([`BarrierKind`](crate::communicator::service::BarrierKind)): [`pair`], [`central`] or [`threaded`]
//! ([`strict`] chooses between these two), or a schedule ([`by_schedule`], which runs a [`program`] on flags
//! in a [`flag_layout`]). If barriers may be deferred, [`deferred`] enters them and [`completion`] completes
//! them; [`lateness`] and [`work`] note who would have come last; [`trial`] measures whether deferral pays,
//! and [`benefit`] finds out sooner if it cannot. [`dispatch`] chooses among all of these.
//!
//! May use: all of the engine but [`crate::dispatch`] and [`crate::blocking::collective`]. Must never:
//! leave a barrier pending where [`crate::deferral`] forbids it.

pub mod benefit;
pub mod by_schedule;
pub mod central;
pub mod completion;
pub mod counters;
pub mod deferred;
pub mod dispatch;
pub mod flag_layout;
mod last_to_enter;
pub mod lateness;
pub mod pair;
pub mod program;
pub mod scheduled;
mod strict;
pub mod threaded;
pub mod trial;
pub mod work;

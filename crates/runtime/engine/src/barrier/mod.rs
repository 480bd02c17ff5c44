//! Barriers: entered and waited for (strict), or entered and left pending (deferred).
//!
//! The protocol is [`evenkeel_segment::board::barrier`]'s. Ranks that wait and ranks that do not may
//! meet in one barrier, so each decides for itself. The kind of a communicator's barriers is chosen
//! when it is made ([`BarrierKind`](crate::communicator::service::BarrierKind)): [`pair`], [`central`],
//! [`threaded`], or a schedule ([`by_schedule`], with its [`program`]). Where barriers may be deferred,
//! [`deferred`] enters them and [`completion`] completes them; [`trial`] finds out whether that pays.
//! [`dispatch`] chooses.
//!
//! May use: everything below the dispatcher. Must never leave a barrier pending where
//! [`crate::deferral`] forbids it.

pub mod by_schedule;
pub mod central;
pub mod completion;
pub mod counters;
pub mod deferred;
pub mod dispatch;
pub mod pair;
pub mod program;
pub mod scheduled;
pub mod threaded;
pub mod trial;

//! What this process knows of barriers that it has entered and not waited for.
//!
//! Between messages no process can observe that a barrier is not complete yet. So a barrier may return at
//! once, if it is completed before the program does anything that another process could notice, or anything
//! that shows what another process did. The front end closes the [`gate`] while barriers are pending, so
//! that the next system call of the program is caught, and reports every other observation ([`observer`]).
//! [`pending`] knows which communicators have pending barriers and why deferral is forbidden. [`rule`] says
//! what must be complete before an action, and [`fast_path`] when a barrier needs no decision.
//! [`crate::barrier`] completes barriers.
//!
//! While barriers are pending one thread of the program runs. It calls everything here, also from the
//! handler of a caught system call, so nothing here may allocate or take a lock.
//!
//! May use: clock, comm, options. Must never: wait.

pub mod fast_path;
pub mod gate;
pub mod mode;
pub mod observer;
pub mod pending;
pub mod rule;

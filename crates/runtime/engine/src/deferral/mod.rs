//! What is known of barriers that this process has entered and not waited for.
//!
//! Between messages no process can observe that a barrier is not complete yet. So a barrier may return
//! at once, if it is completed before the program does anything that another process could notice, or
//! that shows what another process did. The front end closes the [`gate`] while something is pending,
//! so that the next system call of the program is caught, and reports every other observation
//! ([`observer`]). [`pending`] says which communicators have pending barriers and why deferral is
//! forbidden, [`rule`] what must be completed before what, [`fast_path`] when a barrier needs no
//! decision. Completing is in [`crate::barrier`].
//!
//! Deferral is for programs with one thread in MPI. That thread calls everything here, also from the
//! handler of a caught system call: nothing here may allocate or take a lock.
//!
//! May use: comm, options. Must never wait.

pub mod fast_path;
pub mod gate;
pub mod mode;
pub mod observer;
pub mod pending;
pub mod rule;

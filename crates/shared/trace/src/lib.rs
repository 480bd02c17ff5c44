//! The trace of a run: what a program could not know before it happened, and how a repetition takes it back.
//!
//! A trace has one file for each rank ([`format`]; [`rank_file`] is what all files of a rank have in common).
//! [`recorder`] turns choices into bytes while the run goes on; [`trace`] reads a file back; [`replayer`]
//! hands the choices out again, in the same order, and finds the first call at which a repetition differs
//! ([`divergence`]). [`digest`] says what is hashed, [`choice`] which calls have outcomes, and [`varint`] how
//! numbers are written.
//!
//! [`times`] is another file beside it, with the times of all calls; nothing of it is needed to repeat a run.
//! [`checks`] is a third one, with the arguments of all calls, for `evenkeel check`.
//!
//! Pure: bytes come in and go out through parameters ([`recorder::Store`]). May use: random (tests). Must
//! never: do I/O, or know an MPI handle.

pub mod checks;
pub mod choice;
pub mod digest;
pub mod divergence;
pub mod format;
pub mod rank_file;
pub mod recorder;
pub mod replayer;
pub mod times;
pub mod trace;
pub mod varint;

//! The arguments of all calls (`--trace-level checks`), for `evenkeel check`: a file of its own beside the
//! trace and the times.
//!
//! Each call has a record when it begins, with what the program has passed, and one when it ends, with what
//! it got. A function's first call brings the names and kinds of its arguments, so a reader need not know the
//! functions of MPI. Handles are written as the library has them; what they mean follows from the calls.

pub mod file;
pub mod format;
pub mod recorder;

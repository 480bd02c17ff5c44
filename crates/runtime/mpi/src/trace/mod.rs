//! Recording what the program could not know, and giving it back in a repetition of the run (`--trace`,
//! `evenkeel replay`), and recording when it calls MPI (`--trace-level times`).
//!
//! One thread calls these functions: the one that has called `ek_trace_open`. Where a repetition differs from
//! the trace, a sentence is printed and the function given to `ek_trace_open` called, which must not return.
//! The times have a file and a state of their own (`times`), and several threads may take turns there.

pub(crate) mod calls;
pub(crate) mod checked_call;
mod checks;
mod code_places;
mod early_draws;
mod file;
mod in_flight;
mod library_input;
mod mapped_file;
mod opening;
mod state;
mod ticks;
pub(crate) mod timed_call;
mod times;
mod times_file;

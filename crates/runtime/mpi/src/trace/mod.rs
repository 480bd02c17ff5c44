//! Recording what the program could not know, and giving it back in a repetition of the run (`--trace`,
//! `evenkeel replay`).
//!
//! One thread calls these functions: the one that has called `ek_trace_open`. Where a repetition differs from
//! the trace, a sentence is printed and the function given to `ek_trace_open` called, which must not return.

pub(crate) mod calls;
mod early_draws;
mod file;
mod library_input;
mod opening;
mod state;

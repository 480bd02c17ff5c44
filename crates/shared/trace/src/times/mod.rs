//! The times of a rank's MPI calls (`--trace-level times`), in a file of its own beside the trace.
//!
//! [`mod@format`] describes the file, [`shape`] what is known of a call beside its times. [`recorder`] turns
//! calls into bytes, [`mod@file`] reads them back, [`clock`] turns ticks into nanoseconds, [`communicators`]
//! finds which communicators of the ranks are one, and [`messages`] which receive took which message.

pub mod clock;
pub mod communicators;
pub mod file;
pub mod format;
pub mod messages;
pub mod recorder;
pub mod shape;

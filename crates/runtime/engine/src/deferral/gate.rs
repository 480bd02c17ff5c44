//! The words that the kernel and the front end read while barriers are pending. Both know them by address,
//! so they are statics.

use std::sync::atomic::{AtomicU8, AtomicU32};

/// 1 while the gate is closed. The kernel reads this byte on every system call of the process (Syscall User
/// Dispatch).
#[unsafe(export_name = "ek_gate")]
pub static GATE: AtomicU8 = AtomicU8::new(0);

/// How many communicators have pending barriers. The front end reads it around calls of the host library.
#[unsafe(export_name = "ek_deferred")]
pub static PENDING: AtomicU32 = AtomicU32::new(0);

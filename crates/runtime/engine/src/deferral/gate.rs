//! What the kernel and the front end look at while barriers are pending. They know these words by
//! address, so the words are statics.

use std::sync::atomic::{AtomicU8, AtomicU32};

/// 1 while the gate is closed. The kernel looks at this byte on every system call of the process
/// (Syscall User Dispatch).
#[unsafe(export_name = "ek_gate")]
pub static GATE: AtomicU8 = AtomicU8::new(0);

/// How many communicators have pending barriers. The front end looks at it around calls of the host library.
#[unsafe(export_name = "ek_deferred")]
pub static PENDING: AtomicU32 = AtomicU32::new(0);

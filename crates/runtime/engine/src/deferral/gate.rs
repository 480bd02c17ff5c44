//! The words that the kernel and the front end read while barriers are pending. Both know them by address,
//! so they are statics.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering, compiler_fence};

/// 1 while the gate is closed. The kernel reads this byte on every system call of the process (Syscall User
/// Dispatch).
#[unsafe(export_name = "ek_gate")]
pub static GATE: AtomicU8 = AtomicU8::new(0);

/// How many communicators have pending barriers. The front end reads it around calls of the host library.
#[unsafe(export_name = "ek_deferred")]
pub static PENDING: AtomicU32 = AtomicU32::new(0);

/// Keeps the gate open while it lives. A system call that were caught in the middle of such code would run
/// the same code once more, to complete barriers.
pub(crate) struct OpenGate(u8);

impl OpenGate {
    #[inline(always)]
    pub(crate) fn new() -> OpenGate {
        let was = GATE.load(Ordering::Relaxed);
        if was != 0 {
            GATE.store(0, Ordering::Relaxed);
        }
        compiler_fence(Ordering::SeqCst);
        OpenGate(was)
    }
}

impl Drop for OpenGate {
    #[inline(always)]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        if self.0 != 0 && PENDING.load(Ordering::Relaxed) != 0 {
            GATE.store(self.0, Ordering::Relaxed);
        }
    }
}

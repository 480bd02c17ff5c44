//! Pauses in the shim's own waits, which are for the host library.

use evenkeel_engine::clock::Ticks;
use evenkeel_engine::process::Process;
use evenkeel_engine::wait::pause::{self, yield_now};
use std::time::Duration;

/// A sleep in such a wait: the host cannot wake this process.
const NAP: Duration = Duration::from_micros(50);

/// After so many looks it is worth asking the clock whether the other ranks are still alive.
const LOOKS_BETWEEN_CHECKS: u32 = 1024;

/// One wait of the shim's. Zero it before its first pause.
#[repr(C)]
pub struct Pause {
    /// When the wait began; 0: it has not.
    pub began_ticks: u64,
    /// How often the shim has looked.
    pub looks: u64,
    /// How long the wait must last before the other ranks are checked again.
    pub next_check_ns: u64,
}

/// Pauses between two looks of the shim: spins, yields or sleeps as the policy says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_pause_once(pause: *mut Pause) {
    // SAFETY: a wait of the shim's, by the interface.
    let pause = unsafe { &mut *pause };
    let Some(node) = Process::get().and_then(Process::node) else { return yield_now() };
    if pause.began_ticks == 0 {
        pause.began_ticks = node.clock().now().0.max(1);
    }
    let mut wait = pause::Pause::resume(Ticks(pause.began_ticks), pause.looks as u32);
    if wait.once(&node.waiting, 0, || true) {
        std::thread::sleep(NAP);
    }
    pause.looks = u64::from(wait.looks);
    if wait.looks % LOOKS_BETWEEN_CHECKS == 0 {
        let waited_ns = node.clock().ns_since(wait.began);
        if waited_ns >= pause.next_check_ns.max(node.patience_ns) {
            pause.next_check_ns = waited_ns + node.patience_ns;
            node.check_alive(0..node.neighbours.len(), "Wait");
        }
    }
}

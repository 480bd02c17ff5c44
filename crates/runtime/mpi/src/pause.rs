//! Pauses in the shim's own waits, in which it waits for the host library.

use evenkeel_engine::clock::Ticks;
use evenkeel_engine::process::Process;
use evenkeel_engine::wait::crowding::yield_now;
use evenkeel_engine::wait::pause;
use std::time::Duration;

/// The length of a sleep in such a wait. The host library cannot wake this process.
const NAP: Duration = Duration::from_micros(50);

/// A rank that naps is missing for longer than another one spins, which then gives up its core: on a busy
/// machine both would take turns in waiting for a core. So a rank naps only in waits that are longer than the
/// time for which a busy kernel may take a core away.
const NAPS_AFTER_NS: u64 = 4_000_000;

/// After this many polls it is worth reading the clock, to check whether the other ranks are still alive.
const POLLS_BETWEEN_CHECKS: u32 = 1024;

/// The same for a look whether another rank needs this core.
const POLLS_BETWEEN_LOOKS: u32 = 256;

/// One wait of the shim. The shim sets it to zero before the first pause.
#[repr(C)]
pub struct Pause {
    /// When the wait began; 0 if it has not begun.
    pub began_ticks: u64,
    /// How often the shim has polled.
    pub polls: u64,
    /// How long the wait must last before the other ranks are checked again.
    pub next_check_ns: u64,
}

/// Pauses between two polls of the shim: spins, yields or sleeps as the policy says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_pause_once(pause: *mut Pause) {
    // SAFETY: a wait of the shim, by the interface.
    let pause = unsafe { &mut *pause };
    let Some(process) = Process::get() else { return yield_now() };
    let Some(node) = process.node() else { return yield_now() };
    if pause.began_ticks == 0 {
        pause.began_ticks = node.clock().now().0.max(1);
    }
    let mut wait = pause::Pause::resume(Ticks(pause.began_ticks), pause.polls as u32);
    if wait.once(&node.waiting, &process.crowding, 0, || true) {
        let naps = !node.waiting.may_yield() || node.clock().ns_since(wait.began) > NAPS_AFTER_NS;
        if naps { std::thread::sleep(NAP) } else { yield_now() }
    }
    pause.polls = u64::from(wait.polls);
    if wait.polls % POLLS_BETWEEN_LOOKS == 0 {
        node.leave_shared_core();
    }
    if wait.polls % POLLS_BETWEEN_CHECKS == 0 {
        let waited_ns = node.clock().ns_since(wait.began);
        if waited_ns >= pause.next_check_ns.max(node.patience_ns) {
            pause.next_check_ns = waited_ns + node.patience_ns;
            node.check_alive(0..node.neighbours.len(), "Wait");
        }
    }
}

/// Called when the program sets an affinity.
#[unsafe(no_mangle)]
pub extern "C" fn ek_affinity_is_set() {
    if let Some(node) = Process::get().and_then(Process::node) {
        node.leave_affinity_alone();
    }
}

/// How long a rank waits during the start before it checks whether the others are alive.
const START_CHECK_NS: u64 = 100_000_000;

/// How long such a wait yields before it sleeps between two polls, during the start.
const START_YIELDS_NS: u64 = 5_000_000;

/// As `ek_pause_once`, for waits between `ek_world_begin` and the end of MPI_Init, in which ranks may not
/// know each other yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_start_pause_once(pause: *mut Pause) {
    // SAFETY: a wait of the shim, by the interface.
    let pause = unsafe { &mut *pause };
    let Some(process) = Process::get() else { return yield_now() };
    if pause.began_ticks == 0 {
        pause.began_ticks = process.clock.now().0.max(1);
    }
    let waited_ns = process.clock.ns_since(Ticks(pause.began_ticks));
    if waited_ns >= pause.next_check_ns.max(START_CHECK_NS) {
        pause.next_check_ns = waited_ns + START_CHECK_NS;
        process.check_alive_at_start();
    }
    if waited_ns < START_YIELDS_NS { yield_now() } else { std::thread::sleep(NAP) }
}

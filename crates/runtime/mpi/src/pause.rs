//! Pauses in the shim's own waits, in which it waits for the host library.

use crate::message::note_bad_value;
use evenkeel_engine::clock::Ticks;
use evenkeel_engine::job::node::Node;
use evenkeel_engine::process::Process;
use evenkeel_engine::wait::crowding::yield_now;
use evenkeel_engine::wait::pause;
use evenkeel_engine::wait::usual::UsualTime;
use evenkeel_options as options;
use std::cell::Cell;
use std::time::Duration;

/// The length of a sleep in such a wait. The host library cannot wake this process.
const NAP: Duration = Duration::from_micros(50);

/// A rank that naps is missing for longer than another one spins, which then gives up its core: on a busy
/// machine both would take turns in waiting for a core. So a rank naps only in waits that are longer than the
/// time for which a busy kernel may take a core away.
const NAPS_AFTER_NS: u64 = 4_000_000;

/// A test takes longer than this only if there was something to do, such as a part of a long message. Then
/// the rank does not nap.
const WORKS_NS: u64 = 3_000;

/// After this many polls it is worth reading the clock, to check whether the other ranks are still alive.
const POLLS_BETWEEN_CHECKS: u64 = 1024;

/// The same for a look whether another rank needs this core.
const POLLS_BETWEEN_LOOKS: u32 = 256;

/// One wait of the shim. The shim sets it to zero before the first pause.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Pause {
    /// When the wait began; 0 if it has not begun.
    pub began_ticks: u64,
    /// How often the shim has polled.
    pub polls: u64,
    /// How long the wait must last before the other ranks are checked again.
    pub next_check_ns: u64,
    /// Since when the shim has found nothing to do.
    pub idle_since_ticks: u64,
    /// When the last pause ended.
    pub ended_ticks: u64,
}

impl Pause {
    const BEGINS: Pause =
        Pause { began_ticks: 0, polls: 0, next_check_ns: 0, idle_since_ticks: 0, ended_ticks: 0 };
}

/// Pauses between two polls of the shim: spins, yields or sleeps as the policy says. Something of evenkeel's
/// is awaited, so the job ends if another rank has died.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_pause_once(pause: *mut Pause) {
    let Some(process) = Process::get() else { return yield_now() };
    let Some(node) = process.node() else { return yield_now() };
    // SAFETY: a wait of the shim, by the interface.
    let pause = unsafe { &mut *pause };
    pause_between_polls(process, node, pause);
    if pause.polls % POLLS_BETWEEN_CHECKS == 0 {
        let waited_ns = node.clock().ns_since(Ticks(pause.began_ticks));
        if waited_ns >= pause.next_check_ns.max(node.patience_ns) {
            pause.next_check_ns = waited_ns + node.patience_ns;
            node.check_alive(0..node.neighbours.len(), "Wait");
        }
    }
}

/// The same where the host library alone is awaited. What becomes of the job if another rank has died is the
/// library's affair then.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_host_pause_once(pause: *mut Pause) {
    let Some(process) = Process::get() else { return yield_now() };
    let Some(node) = process.node() else { return yield_now() };
    // SAFETY: a wait of the shim, by the interface.
    pause_between_polls(process, node, unsafe { &mut *pause });
}

fn pause_between_polls(process: &Process, node: &Node, pause: &mut Pause) {
    let has_worked = node.clock().ns_since(Ticks(pause.ended_ticks)) > WORKS_NS;
    pause_once(process, node, pause, has_worked);
}

fn pause_once(process: &Process, node: &Node, pause: &mut Pause, has_worked: bool) {
    let now = node.clock().now();
    if pause.began_ticks == 0 {
        pause.began_ticks = now.0.max(1);
    }
    if has_worked || pause.idle_since_ticks == 0 {
        pause.idle_since_ticks = now.0;
    }
    let mut wait = pause::Pause::resume(Ticks(pause.began_ticks), pause.polls as u32);
    if wait.once(&node.waiting, &process.crowding, 0, || true) {
        let idle_ns = node.clock().ns_since(Ticks(pause.idle_since_ticks));
        let naps = !has_worked && (!node.waiting.may_yield() || idle_ns > NAPS_AFTER_NS);
        if naps { std::thread::sleep(NAP) } else { yield_now() }
    }
    pause.polls = u64::from(wait.polls);
    if wait.polls % POLLS_BETWEEN_LOOKS == 0 {
        node.leave_shared_core();
    }
    pause.ended_ticks = node.clock().now().0;
}

/// Returns whether this rank may yield its core in calls that the host library carries out, before it is
/// known whether ranks share cores.
#[unsafe(no_mangle)]
pub extern "C" fn ek_host_waits_may_yield() -> bool {
    !options::OFF.is_on() && options::HOST_WAITS.get() != "host"
}

/// Returns whether this rank is to yield its core while it waits in calls that the host library carries out.
/// `host_keeps_core`: the library does not yield by itself.
#[unsafe(no_mangle)]
pub extern "C" fn ek_host_waits_yield(host_keeps_core: bool) -> bool {
    let Some(process) = Process::get() else { return false };
    let Some(node) = process.node() else { return false };
    let by_default = host_keeps_core && node.waiting.shares_cores();
    match options::HOST_WAITS.get().as_str() {
        "auto" => by_default,
        "yield" => true,
        "host" => false,
        other => {
            note_bad_value(process, &options::HOST_WAITS, other, "evenkeel chooses");
            by_default
        }
    }
}

// ---- the host's looks for something to do, in its own calls ----

/// Times between two looks differ by this much without a reason.
const GAPS_DIFFER_NS: u64 = 100;
const FIRST_USUAL_GAP: UsualTime = UsualTime(100);

/// After so many looks in a row, without anything between them, a program that asks has nothing else to do.
const LOOKS_BEFORE_ASKER_YIELDS: u64 = 64;

/// While the host holds a lock, this rank yields in the first part of each period only. A thread that waits
/// for the lock would otherwise find it taken whenever it gets the core.
const LOCKED_PERIOD_NS: u64 = 1_250_000;
const LOCKED_YIELDS_NS: u64 = 1_000_000;

/// A yield that has taken longer has displaced what was in the caches, so that the next gap tells nothing.
const AWAY_NS: u64 = 500_000;

/// A thread's wait in the host.
#[derive(Clone, Copy)]
struct HostWait {
    /// The number of the call.
    call: u64,
    pause: Pause,
    /// The end of the last look, with its pause.
    ended: Ticks,
    /// The last pause was long.
    was_away: bool,
    /// What the host does between two looks if it has found nothing elsewhere either.
    usual_gap: UsualTime,
}

thread_local! {
    static HOST_WAIT: Cell<HostWait> = const {
        Cell::new(HostWait {
            call: 0,
            pause: Pause::BEGINS,
            ended: Ticks(0),
            was_away: false,
            usual_gap: FIRST_USUAL_GAP,
        })
    };
}

/// The host is about to look for something to do, in the call with this number. If it has done something
/// since the last look, or if the call is another one, a new wait begins.
#[unsafe(no_mangle)]
pub extern "C" fn ek_host_look_begins(call: u64) {
    let Some(node) = Process::get().and_then(Process::node) else { return };
    let mut wait = HOST_WAIT.get();
    let gap_ns = node.clock().ns_since(wait.ended);
    if call != wait.call {
        wait.call = call;
        wait.pause = Pause::BEGINS;
    } else if !wait.was_away && wait.usual_gap.note(gap_ns, GAPS_DIFFER_NS) {
        wait.pause = Pause::BEGINS;
    }
    HOST_WAIT.set(wait);
}

/// The host has looked, and pauses if it has found nothing. `asks`: the call only asks, and the program may
/// have something else to do. `is_locked`: another thread may want a lock that the host holds.
#[unsafe(no_mangle)]
pub extern "C" fn ek_host_look_ends(has_found: bool, asks: bool, is_locked: bool) {
    let Some(process) = Process::get() else { return };
    let Some(node) = process.node() else { return };
    let mut wait = HOST_WAIT.get();
    let began = node.clock().now();
    if has_found {
        wait.pause = Pause::BEGINS;
    } else if asks || is_locked {
        yield_in_host(process, node, &mut wait.pause, asks, is_locked);
    } else {
        pause_once(process, node, &mut wait.pause, false);
    }
    wait.ended = node.clock().now();
    wait.was_away = node.clock().ns_between(began, wait.ended) > AWAY_NS;
    HOST_WAIT.set(wait);
}

/// Yields after some looks, and never sleeps.
fn yield_in_host(process: &Process, node: &Node, pause: &mut Pause, asks: bool, is_locked: bool) {
    let clock = node.clock();
    let first_polls = if asks { LOOKS_BEFORE_ASKER_YIELDS } else { u64::from(node.waiting.first_polls()) };
    if pause.began_ticks == 0 {
        pause.began_ticks = clock.now().0.max(1);
    }
    pause.polls += 1;
    let waited_ns = clock.ns_since(Ticks(pause.began_ticks));
    let leaves_lock = is_locked && waited_ns % LOCKED_PERIOD_NS > LOCKED_YIELDS_NS;
    // Who only asks may have something better to do than to lose its core for a time slice. Ranks that wait
    // yield even so: if they did not, each one's yields would be long because the others keep their cores.
    let may_yield = node.waiting.may_yield() && !(asks && process.crowding.is_crowded(clock));
    if pause.polls > first_polls && may_yield && !leaves_lock {
        process.crowding.yield_core(clock);
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

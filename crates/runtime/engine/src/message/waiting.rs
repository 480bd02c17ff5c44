//! Waiting for messages: as for collectives, but at this process's own event count, and with messages
//! moved on between two looks.

use super::waiter::Waiter;
use crate::process::Process;
use crate::wait::chores::Chores;
use crate::wait::pause::{Pause, yield_now};
use evenkeel_segment::eventcount;

/// What else a wait is for than messages, which no other process announces here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlsoAwaited {
    /// Nothing.
    Nothing,
    /// The completion of a barrier before which what has come was not sent.
    Barrier,
    /// Something of the host library's.
    HostLibrary,
}

/// Longest sleep of a rank that waits for something that no process announces to it.
const NAP_NS: u64 = 50_000;

/// Looks that find nothing after which the core is offered to others, where every rank has one of its own.
const IDLE_LOOKS: u32 = 64;

/// First looks of a wait without the processor's pause between them, which takes about as long as a
/// small message.
const RUSHED_LOOKS: u32 = 50;

/// A test or probe has found nothing. A program that does nothing else in a loop waits, and may take
/// the core from the ranks that it waits for.
pub fn note_idle(process: &Process) {
    // SAFETY: not called from within.
    let Some(port) = (unsafe { process.messages.port() }) else { return };
    port.idle_looks = port.idle_looks.saturating_add(1);
    if port.idle_looks > if port.node.waiting.shares_cores() { 1 } else { IDLE_LOOKS } {
        yield_now();
    }
}

/// Begins a wait, with looks without a pause: the answer to a small message comes soon.
pub fn begin(process: &Process) {
    // SAFETY: not called from within.
    let Some(port) = (unsafe { process.messages.port() }) else { return };
    port.waiter = None;
    let node = port.node;
    for look in 0..node.waiting.first_looks() {
        if process.messages.progress() > 0 {
            return;
        }
        if look >= RUSHED_LOOKS {
            std::hint::spin_loop();
        }
    }
}

/// Between two looks: moves messages on; if none came, spins, yields or sleeps as the policy says.
pub fn pause(process: &Process, also: AlsoAwaited) {
    if process.messages.progress() > 0 {
        return;
    }
    // SAFETY: not called from within, and not kept across `progress`.
    let Some(port) = (unsafe { process.messages.port() }) else { return };
    let node = port.node;
    let (expected_ns, eventcount, fencing) = (port.expected_ns, port.eventcount, port.fencing);
    let is_unannounced = also != AlsoAwaited::Nothing || port.is_outbound() || port.holds();
    let mut waiter = port.waiter.take().unwrap_or_else(|| Waiter {
        pause: Pause::begin(&node.waiting),
        chores: Chores::new(node.patience_ns),
    });
    let everybody = || (0..node.neighbours.len()).collect::<Vec<_>>();
    if waiter.pause.once(&node.waiting, expected_ns, || node.any_is_running(&everybody())) {
        let requests_under_way = process.requests.pending() > 0;
        let timeout = if is_unannounced { NAP_NS } else { waiter.chores.nap_ns(requests_under_way) };
        eventcount::sleep_unless(&eventcount, fencing, timeout, || process.messages.progress() > 0);
    }
    if waiter.pause.looks > 32 {
        let due = waiter.chores.due(node.clock().ns_since(waiter.pause.began));
        if due.library_progress {
            process.progress_library();
        }
        if due.liveness {
            node.check_alive(0..node.neighbours.len(), "Wait");
        }
    }
    // SAFETY: as above.
    if let Some(port) = unsafe { process.messages.port() } {
        port.waiter = Some(waiter);
    }
}

/// Ends a wait: the next ones are expected to last about as long.
pub fn end(process: &Process) {
    // SAFETY: not called from within.
    let Some(port) = (unsafe { process.messages.port() }) else { return };
    if let Some(waiter) = port.waiter.take() {
        let waited = port.node.clock().ns_since(waiter.pause.began);
        port.expected_ns = (3 * port.expected_ns + waited) / 4;
    }
}

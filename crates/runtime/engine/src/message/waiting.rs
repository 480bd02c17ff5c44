//! Waits for messages. Like the waits of collectives, but at this process's own eventcount, and with
//! progress on messages between two polls.

use super::waiter::Waiter;
use crate::process::Process;
use crate::wait::chores::Chores;
use crate::wait::expectation;
use crate::wait::pause::Pause;
use evenkeel_segment::eventcount;

/// Something besides messages that a wait is for, and that no other process announces here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlsoAwaited {
    /// Nothing.
    Nothing,
    /// The completion of a barrier; a message from after it has come already.
    Barrier,
    /// An operation of the host library.
    HostLibrary,
}

/// The longest sleep of a rank that waits for something that no process announces to it.
const NAP_NS: u64 = 50_000;

/// After this many polls that found nothing the rank yields, if every rank has a core of its own.
const IDLE_POLLS: u32 = 64;

/// The first polls of a wait come without the processor's pause instruction between them, which takes about
/// as long as a small message.
const UNPAUSED_POLLS: u32 = 50;

/// A program that does something for longer between two tests is not waiting.
const BETWEEN_IDLE_POLLS_NS: u64 = 2_000;

/// Called when a test or probe has found nothing. A program that does nothing but test in a loop is
/// waiting, and may occupy the core of the ranks that it waits for.
pub fn note_idle(process: &Process) {
    // SAFETY: not called by the port.
    let Some(port) = (unsafe { process.messages.port() }) else { return };
    if process.clock.ns_since(port.idle_since) > BETWEEN_IDLE_POLLS_NS {
        port.idle_polls = 0;
    }
    port.idle_polls = port.idle_polls.saturating_add(1);
    let is_waiting = port.idle_polls > if port.node.waiting.shares_cores() { 1 } else { IDLE_POLLS };
    if is_waiting && process.crowding.is_crowded(process.clock) {
        let (eventcount, fencing) = (port.eventcount, port.fencing);
        eventcount::sleep_unless(&eventcount, fencing, NAP_NS, || process.messages.progress() > 0);
    } else if is_waiting {
        process.crowding.yield_core(process.clock);
    }
    // SAFETY: as above; no reference is kept across `progress`.
    if let Some(port) = unsafe { process.messages.port() } {
        port.idle_since = process.clock.now();
    }
}

/// Begins a wait with polls in quick succession, because the answer to a small message comes soon.
pub fn begin(process: &Process) {
    // SAFETY: not called by the port.
    let Some(port) = (unsafe { process.messages.port() }) else { return };
    port.waiter = None;
    let node = port.node;
    for poll in 0..node.waiting.first_polls() {
        if process.messages.progress() > 0 {
            return;
        }
        if poll >= UNPAUSED_POLLS {
            std::hint::spin_loop();
        }
    }
}

/// Called between two polls of the front end: makes progress on messages. If no record came, it spins,
/// yields or sleeps as the policy says.
pub fn pause(process: &Process, also: AlsoAwaited) {
    if process.messages.progress() > 0 {
        return;
    }
    // SAFETY: not called by the port, and the reference is not kept across `progress`.
    let Some(port) = (unsafe { process.messages.port() }) else { return };
    let node = port.node;
    let (expected_ns, eventcount, fencing) = (port.expected_ns, port.eventcount, port.fencing);
    let is_unannounced = also != AlsoAwaited::Nothing || port.is_outbound() || port.has_blocked();
    let mut waiter = port.waiter.take().unwrap_or_else(|| Waiter {
        pause: Pause::begin(&node.waiting),
        chores: Chores::new(node.patience_ns, process.library.activity()),
        collectives_ns: process.requests.waited_ns(),
    });
    let all_ranks = || (0..node.neighbours.len()).collect::<Vec<_>>();
    let (mut has_slept, mut has_come) = (false, false);
    if waiter.pause.once(&node.waiting, &process.crowding, expected_ns, || node.any_is_running(&all_ranks()))
    {
        if waiter.chores.is_attentive() && !process.crowding.is_crowded(process.clock) {
            process.crowding.yield_core(process.clock);
        } else {
            let waited_ns = node.clock().ns_since(waiter.pause.began);
            let nap_ns = waiter.chores.nap_ns(waited_ns, process.requests.pending() > 0);
            let timeout = if is_unannounced { NAP_NS.min(nap_ns) } else { nap_ns };
            eventcount::sleep_unless(&eventcount, fencing, timeout, || {
                has_come = process.messages.progress() > 0;
                has_come
            });
            has_come = has_come || process.messages.progress() > 0;
            has_slept = true;
        }
    }
    if (waiter.pause.polls > 32 || has_slept) && !has_come {
        let waited_ns = node.clock().ns_since(waiter.pause.began);
        let due = waiter.chores.due(waited_ns);
        if due.library_progress {
            let found = process.library.look(process.clock);
            waiter.chores.looked(waited_ns, found);
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

/// Ends a wait, and includes its duration in the expectation for the next ones.
pub fn end(process: &Process) {
    // SAFETY: not called by the port.
    let Some(port) = (unsafe { process.messages.port() }) else { return };
    if let Some(waiter) = port.waiter.take() {
        let now = port.node.clock().now();
        let waited = port.node.clock().ns_between(waiter.pause.began, now);
        // What was a wait for a nonblocking collective has been counted as such.
        let for_collectives = process.requests.waited_ns() - waiter.collectives_ns;
        let for_messages = waited.saturating_sub(for_collectives);
        if for_collectives == 0 {
            port.node.waited.add(waiter.pause.began, now);
        }
        if port.node.recording && for_messages > 0 {
            port.node.timeline.add(port.node.clock().ns_between(port.node.began, now), for_messages);
            port.waited_for.add(port.latest_peer, for_messages);
        }
        expectation::include(&mut port.expected_ns, waited);
    }
}

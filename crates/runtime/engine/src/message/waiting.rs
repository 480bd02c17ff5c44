//! Waiting for messages: as for collectives, but at this process's own bell, and moving messages on
//! between two looks.

use super::port::{self, port};
use crate::clock::Ticks;
use crate::wait::chores::HostWatch;
use crate::wait::settings::Wait;
use evenkeel_segment::eventcount;

/// One wait, from the first look that failed.
pub(super) struct Waiter {
    wait: Wait,
    watch: HostWatch,
}

/// What else a wait is for than messages, whose coming nobody announces here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    Nothing,
    /// A barrier that what has come is from after.
    Barrier,
    /// Something of the host library's.
    Host,
}

/// Longest sleep of those who wait for something that nobody announces to them.
const NAP_NS: u64 = 50_000;

/// Looks in vain after which the core is offered to others, where every rank has one of its own.
const VAIN: u32 = 64;

/// First looks of a wait without the processor's pause between them, which takes about as long as a
/// small message.
const RUSHED: u32 = 50;

/// A test or probe has found nothing. A program that does nothing else in a loop waits, and may take
/// the core from those it waits for.
pub fn idle() {
    // SAFETY: not called from within.
    if let Some(port) = unsafe { port() } {
        port.vain = port.vain.saturating_add(1);
        if port.vain > if port.world.waiting.oversubscribed() { 1 } else { VAIN } {
            crate::wait::settings::offer_the_core();
        }
    }
}

/// A wait begins: with looks without a pause, as the answer to a small message comes soon.
pub fn begin() {
    // SAFETY: not called from within.
    if let Some(port) = unsafe { port() } {
        port.waiter = None;
        for look in 0..port.world.waiting.first_looks() {
            if port.progress() > 0 {
                return;
            }
            if look >= RUSHED {
                std::hint::spin_loop();
            }
        }
    }
}

/// Between two looks: moves messages on; if nothing came, spins, yields or sleeps as the policy says.
pub fn pause(beside: Beside) {
    // SAFETY: not called from within; what is called below is not in this module, but for `progress`.
    let Some(port) = (unsafe { port() }) else { return };
    let world = port.world;
    if port.progress() > 0 {
        return;
    }
    let patience = world.patience_ns;
    let mut waiter =
        port.waiter.take().unwrap_or_else(|| Waiter { wait: Wait::begin(), watch: HostWatch::new(patience) });
    let all = || (0..world.neighbours.len()).collect::<Vec<_>>();
    if waiter.wait.once(&world.waiting, port.expected_ns, || world.anybody_runs(&all())) {
        let unannounced = beside != Beside::Nothing || port.is_outbound() || port.holds();
        let under_way = crate::nonblocking::request::pending() > 0;
        let timeout = if unannounced { NAP_NS } else { waiter.watch.nap_ns(under_way) };
        let eventcount = port.eventcount;
        eventcount::sleep_unless(&eventcount, world.message_fencing(), timeout, || port::progress() > 0);
    }
    if waiter.wait.looks > 32 && waiter.watch.due(Ticks::now().ns_since(waiter.wait.began)) {
        world.check_alive(0..world.neighbours.len(), "Wait");
    }
    // SAFETY: as above; fetched again because `progress` was called in between.
    if let Some(port) = unsafe { port::port() } {
        port.waiter = Some(waiter);
    }
}

/// A wait ends: the next ones are expected to last about as long.
pub fn end() {
    // SAFETY: not called from within.
    if let Some(port) = unsafe { port() } {
        if let Some(waiter) = port.waiter.take() {
            let waited = Ticks::now().ns_since(waiter.wait.began);
            port.expected_ns = (3 * port.expected_ns + waited) / 4;
        }
    }
}

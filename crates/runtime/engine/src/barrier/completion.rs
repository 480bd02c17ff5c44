//! Completes pending barriers before any process could notice that they are incomplete.

use super::last_to_enter::LastToEnter;
use crate::blocking::awaited::Awaited;
use crate::clock::Ticks;
use crate::collective::call::CollectiveKind::Barrier;
use crate::comm::part::NodePart;
use crate::comm::state::PartState;
use crate::deferral::observer::Observer;
use crate::process::Process;
use crate::wait::crowding::yield_now;
use std::cell::Cell;
use std::thread::sleep;
use std::time::Duration;

/// Completes all pending barriers. May run in the handler of a caught system call.
#[cold]
pub fn complete(process: &Process, observer: Observer) {
    let deferral = &process.deferral;
    deferral.begin_completion();
    deferral.observations.count(observer);
    for part in deferral.parts() {
        // SAFETY: communicators with pending barriers are attached: detaching completes them first.
        complete_barriers_of(process, unsafe { &*part }, observer);
    }
    deferral.end_completion();
}

/// How long a rank waits that can do nothing else meanwhile. It must not wait for ever: the others may need a
/// message that the host library has not moved on.
const PATIENCE_NS: u64 = 10_000_000_000;

/// How often such a rank yields before it sleeps between looks.
const YIELDS: u32 = 1000;
const SLEEP: Duration = Duration::from_micros(50);

/// Completes all pending barriers where the code that was interrupted may hold any lock: in the handler of a
/// fault, or inside an allocator. So this does nothing but look at the other ranks, yield and sleep. Returns
/// false if barriers are still pending after some seconds.
#[cold]
pub fn complete_without_locks(process: &Process, observer: Observer) -> bool {
    let deferral = &process.deferral;
    deferral.begin_completion();
    deferral.observations.count(observer);
    let began = process.clock.now();
    for part in deferral.parts() {
        // SAFETY: communicators with pending barriers are attached: detaching completes them first.
        let part = unsafe { &*part };
        // SAFETY: the one thread in MPI is here. Where a fault was in the engine, the process ends.
        let state = unsafe { part.state_unlocked() };
        state.barriers.count_fast_path(&mut state.tallies, part.shared.node.recording);
        if !look_for_the_last(process, part, state, began) {
            return false;
        }
    }
    deferral.end_completion();
    true
}

/// Completes all pending barriers if all ranks have entered them, so that the gate need not stay closed.
/// Waits for nothing and may run wherever a call was caught.
#[cold]
pub fn complete_if_entered(process: &Process) {
    let deferral = &process.deferral;
    // SAFETY: communicators with pending barriers are attached; the one thread in MPI is here.
    let state_of = |part: *const NodePart| unsafe { (*part).state_unlocked() };
    let is_entered = |part: *const NodePart| {
        let state = state_of(part);
        // SAFETY: as above.
        let part = unsafe { &*part };
        state.barriers.count_fast_path(&mut state.tallies, part.shared.node.recording);
        LastToEnter::default().have_all(&part.shared.board, state.barriers.entered - 1)
    };
    if deferral.parts().all(is_entered) {
        deferral.begin_completion();
        for part in deferral.parts() {
            let barriers = &mut state_of(part).barriers;
            barriers.known = barriers.entered;
        }
        deferral.end_completion();
    }
}

/// Looks again and again whether all ranks have entered all pending barriers of `part`.
fn look_for_the_last(process: &Process, part: &NodePart, state: &mut PartState, began: Ticks) -> bool {
    let (board, clock) = (&part.shared.board, process.clock);
    let number = state.barriers.entered - 1;
    let entered = LastToEnter::default();
    let (waits_from, mut looks) = (clock.now(), 0);
    while !entered.have_all(board, number) {
        if clock.ns_since(began) > PATIENCE_NS {
            return false;
        }
        if looks < YIELDS {
            yield_now()
        } else {
            sleep(SLEEP)
        }
        looks += 1;
    }
    state.barriers.known = number + 1;
    if part.shared.node.recording && looks > 0 {
        let (tally, last) = (state.tallies.of(Barrier, false), entered.rank(board, number));
        let waited_ns = clock.ns_since(waits_from);
        tally.count_wait(waited_ns, last);
        last.iter().for_each(|&last| tally.completed_for.add(last, waited_ns));
    }
    true
}

/// Completes the barriers that must be complete before this rank enters a barrier of `part`.
#[cold]
pub(super) fn complete_before_barrier(process: &Process, part: &NodePart) {
    if process.deferral.must_complete_before_barrier(part) {
        complete(process, Observer::OTHER_COMMUNICATOR);
    }
}

/// Completes the barriers that must be complete before a collective of `part` other than a barrier.
/// `only_contributes` says that this rank receives nothing in it.
#[cold]
pub(crate) fn complete_before_collective(process: &Process, part: &NodePart, only_contributes: bool) {
    if process.deferral.must_complete_before_collective(part, only_contributes) {
        complete(process, Observer::COLLECTIVE);
    }
}

/// Waits until all barriers of `part` that this rank has entered are complete. Some must be pending.
fn complete_barriers_of(process: &Process, part: &NodePart, observer: Observer) {
    let (board, node) = (&part.shared.board, part.shared.node);
    // SAFETY: deferral is for programs with one thread in MPI. That thread is inside MPI or was caught at a
    // system call of its own, so it is not in here already.
    let state = unsafe { part.state_unlocked() };
    state.barriers.count_fast_path(&mut state.tallies, node.recording);
    let pending = state.barriers.pending();
    let number = state.barriers.entered - 1;
    let entered = LastToEnter::default();
    let observed = node.clock().now();
    let was_complete = entered.have_all(board, number);
    if !was_complete {
        wait_for_pending(process, part, state, number, &entered);
    }
    state.barriers.known = number + 1;
    if node.recording && pending == 1 {
        let overlapped_ns = overlapped_ns(part, number, state.barriers.pending_since, observed, was_complete);
        state.tallies.of(Barrier, false).overlapped_ns += overlapped_ns;
    }
    if process.deferral.is_adaptive() {
        let pending_ns = node.clock().ns_between(state.barriers.pending_since, observed);
        let rest = state.barriers.benefit.note(pending, pending_ns, observer.is_system_call());
        if rest > 0 {
            state.barriers.waits_until = state.barriers.entered + rest;
            process.deferral.give_up();
        }
    }
}

/// Waits for pending barriers, and counts the wait as one for deferred barriers.
pub(super) fn wait_for_pending(
    process: &Process,
    part: &NodePart,
    state: &mut PartState,
    number: u64,
    entered: &LastToEnter,
) {
    let board = &part.shared.board;
    let waited = Cell::new(false);
    let awaited = || {
        waited.set(true);
        entered.rank(board, number)
    };
    let before = state.tallies.of(Barrier, false).wait_ns;
    // If the communicator has been revoked, the next call on it reports that.
    let _ = process.wait_briefly(part, state, Awaited::BARRIER, || entered.have_all(board, number), awaited);
    if let Some(last) = entered.rank(board, number).filter(|_| waited.get()) {
        let tally = state.tallies.of(Barrier, false);
        tally.completed_for.add(last, tally.wait_ns - before);
    }
}

/// How long the program computed during the time that a strict barrier would have waited, which ends when
/// the last rank has entered. 0 if that time is unknown because the last rank has entered later barriers.
fn overlapped_ns(part: &NodePart, number: u64, entered: Ticks, observed: Ticks, was_complete: bool) -> u64 {
    let clock = part.shared.node.clock();
    let overlapped_ns = clock.ns_between(entered, observed);
    if !was_complete {
        return overlapped_ns; // all of it: a strict barrier would have waited even longer
    }
    let others = (0..part.ranks).filter(|&rank| rank != part.me);
    let last = others.map(|rank| part.shared.board.entered_at(rank, number)).max().flatten();
    match last {
        Some(ticks) if ticks > 0 => clock.ns_between(entered, Ticks(ticks)).min(overlapped_ns),
        _ => 0,
    }
}

//! Barriers that are entered and left pending.

use super::completion::complete_before_barrier;
use super::trial::Advice;
use super::{central, counters::BarrierCounters};
use crate::clock::Ticks;
use crate::collective::call::CollectiveKind::Barrier;
use crate::comm::part::{NodePart, Revoked};
use crate::comm::state::State;
use crate::deferral::fast_path;
use crate::deferral::gate::GATE;
use crate::deferral::observer::Observer;
use crate::process::Process;
use crate::record::tally::is_sampled;
use std::ffi::c_void;
use std::sync::atomic::{Ordering, compiler_fence};

/// Barriers between two looks at the clock for the trial.
const BARRIERS_A_LOOK: u64 = 8;

/// Enters a barrier of a communicator that the front end knows by the pointer `handle`, and leaves it
/// pending if that pays, or always if deferral is not adaptive.
#[inline]
pub(super) fn run(
    process: &Process,
    part: &NodePart,
    handle: *const c_void,
    state: &mut State,
) -> Result<(), Revoked> {
    if process.deferral.is_adaptive() {
        run_as_advised(process, part, handle, state)
    } else {
        defer_or_wait(process, part, handle, state)
    }
}

#[inline]
fn defer_or_wait(
    process: &Process,
    part: &NodePart,
    handle: *const c_void,
    state: &mut State,
) -> Result<(), Revoked> {
    if defer(process, part, handle, state) { Ok(()) } else { central::run(process, part, state) }
}

/// As the lead of the trial advises; the lead itself waits where a block of the trial ends.
#[inline]
fn run_as_advised(
    process: &Process,
    part: &NodePart,
    handle: *const c_void,
    state: &mut State,
) -> Result<(), Revoked> {
    let (board, clock, began) = (&part.shared.board, part.shared.node.clock(), Ticks(0));
    let number = state.barriers.entered;
    let is_lead = part.me == 0 && number % BARRIERS_A_LOOK == 0;
    if is_lead && state.barriers.trial.is_due(number, clock.ns_since(began)) {
        central::run(process, part, state)?;
        let advice = state.barriers.trial.advance(number, clock.ns_since(began));
        board.advise(advice as u64);
    } else {
        match Advice::from_word(board.advice()) {
            Advice::Defer => defer_or_wait(process, part, handle, state)?,
            Advice::Wait => central::run(process, part, state)?,
        }
    }
    let advice = Advice::from_word(board.advice());
    if state.barriers.advice.replace(advice) != Some(advice) && advice == Advice::Wait {
        process.deferral.give_up();
    }
    Ok(())
}

/// Enters a barrier and leaves it pending; false if this one should be waited for.
#[inline]
fn defer(process: &Process, part: &NodePart, handle: *const c_void, state: &mut State) -> bool {
    let (deferral, node) = (&process.deferral, part.shared.node);
    state.barriers.count_fast_path(&mut state.tallies, node.recording);
    if !deferral.is_only(part) {
        complete_before_barrier(process, part);
    }
    if state.barriers.pending() >= deferral.window() {
        make_room(process, part, state);
    }
    let is_first = state.barriers.pending() == 0;
    if is_first && !deferral.arm() {
        return false;
    }
    let number = state.barriers.enter();
    let sampled = node.recording && is_sampled(number);
    // To read the clock is a good part of so short a call.
    let now = if is_first || sampled { node.clock().now() } else { Ticks(0) };
    part.shared.enter_barrier_and_go_on(part.me, number, now.0);
    if is_first {
        state.barriers.pending_since = now;
        deferral.add(part);
    }
    if node.recording {
        let ahead = state.barriers.pending();
        let tally = state.tallies.of(Barrier, false);
        tally.calls += 1;
        tally.deferred += 1;
        tally.ahead = tally.ahead.max(ahead);
        if sampled {
            tally.sample(node.clock().ns_since(now), 0);
        }
    }
    if deferral.is_only(part) {
        open_fast_path(process, handle, &mut state.barriers);
    }
    true
}

/// Lets the next barriers take the fast path: as long as there is room, and until the next look at the
/// clock and at advice.
#[inline(always)]
fn open_fast_path(process: &Process, handle: *const c_void, barriers: &mut BarrierCounters) {
    let BarrierCounters { entered, known, .. } = *barriers;
    let next_look =
        if process.deferral.is_adaptive() { entered.next_multiple_of(BARRIERS_A_LOOK) } else { u64::MAX };
    barriers.open_fast_path(next_look.min(known + process.deferral.window()));
    fast_path::open(handle);
}

/// The window is full: takes note of what is complete, and waits if that is nothing.
#[cold]
fn make_room(process: &Process, part: &NodePart, state: &mut State) {
    let board = &part.shared.board;
    let BarrierCounters { entered, known, .. } = state.barriers;
    // Half a window at a time: each look may cost a cache line from each rank.
    let half = known + (entered - known).div_ceil(2);
    let number = if board.all_entered(half - 1, &mut 0) { half - 1 } else { known };
    let mut seen = 0;
    if !board.all_entered(number, &mut seen) {
        // If it has been revoked, the next call on the communicator says so.
        let _ = process.wait_briefly(part, state, Barrier, || board.all_entered(number, &mut seen));
    }
    state.barriers.known = number + 1;
    if state.barriers.pending() == 0 {
        process.deferral.remove(part); // a window of one
    }
    process.deferral.observations.count(Observer::WINDOW);
}

/// Enters a barrier of a communicator for which the fast path is open, and leaves it pending, if that
/// is all there is to do; false: nothing was done. Nothing of the host library, nor a message, may need
/// this rank's calls to go on.
///
/// # Safety
/// By the one thread in MPI.
#[inline(always)]
pub(crate) unsafe fn run_fast(part: &NodePart) -> bool {
    // SAFETY: there is one thread in MPI, and nothing below comes back here.
    let barriers = &mut unsafe { part.state_unlocked() }.barriers;
    let number = barriers.entered;
    if number >= barriers.fast_path_limit || is_sampled(number) {
        return false;
    }
    // A signal handler may run in here and make a system call, which must not find a barrier that is half
    // entered; and to wake a rank takes one.
    let gate = GATE.load(Ordering::Relaxed);
    GATE.store(0, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    barriers.entered = number + 1;
    part.shared.enter_barrier_and_go_on(part.me, number, 0);
    compiler_fence(Ordering::SeqCst);
    GATE.store(gate, Ordering::Relaxed);
    true
}

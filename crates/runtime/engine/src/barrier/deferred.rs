//! Barriers that a rank enters and leaves pending.

use super::completion::{complete_before_barrier, wait_for_pending};
use super::last_to_enter::LastToEnter;
use super::trial::{Advice, CLOCK_INTERVAL};
use super::{counters::BarrierCounters, lateness, strict, work};
use crate::clock::Ticks;
use crate::collective::call::CollectiveKind::Barrier;
use crate::comm::part::{NodePart, Revoked};
use crate::comm::state::PartState;
use crate::deferral::fast_path;
use crate::deferral::gate::GATE;
use crate::deferral::observer::Observer;
use crate::process::Process;
use std::ffi::c_void;
use std::sync::atomic::{Ordering, compiler_fence};

/// Enters a barrier of a communicator that the front end knows by the pointer `handle`. Leaves it pending
/// if that pays or, if deferral is not adaptive, always.
#[inline]
pub(super) fn run(process: &Process, part: &NodePart, handle: *const c_void) -> Result<(), Revoked> {
    if !process.deferral.is_adaptive() {
        defer_or_wait(process, part, handle)
    } else if state_of(part).barriers.waits_at_once(part.me) {
        strict::run(process, part)
    } else {
        run_as_advised(process, part, handle)
    }
}

#[inline]
fn defer_or_wait(process: &Process, part: &NodePart, handle: *const c_void) -> Result<(), Revoked> {
    if defer(process, part, handle, state_of(part)) { Ok(()) } else { strict::run(process, part) }
}

/// The state of a communicator whose barrier this rank enters. No reference may be held while a strict
/// barrier runs.
#[inline(always)]
#[allow(clippy::mut_from_ref, reason = "one thread at a time is in the collectives of a communicator")]
fn state_of(part: &NodePart) -> &mut PartState {
    // SAFETY: MPI allows one thread at a time in the collectives of a communicator. What is pending on other
    // communicators is completed while no other thread of the program runs.
    unsafe { part.state_unlocked() }
}

/// Follows the advice of rank 0, which leads the trial. Rank 0 itself waits where a block of the trial
/// ends.
#[inline]
fn run_as_advised(process: &Process, part: &NodePart, handle: *const c_void) -> Result<(), Revoked> {
    let (board, clock, began) = (&part.shared.board, part.shared.node.clock(), Ticks(0));
    let barriers = &state_of(part).barriers;
    let (number, waits_until) = (barriers.entered, barriers.waits_until);
    if barriers.is_reading_due(part.me) && barriers.trial.is_due(number, clock.ns_since(began)) {
        strict::run(process, part)?;
        let advice = state_of(part).barriers.trial.advance(number, clock.ns_since(began));
        board.advise(advice as u64);
    } else if Advice::from_word(board.advice()) == Advice::Defer && number >= waits_until {
        defer_or_wait(process, part, handle)?;
    } else {
        strict::run(process, part)?;
    }
    let advice = Advice::from_word(board.advice());
    if state_of(part).barriers.advice.replace(advice) != Some(advice) && advice == Advice::Wait {
        process.deferral.give_up();
    }
    if advice == Advice::Wait {
        let next_look = (number + 1).next_multiple_of(CLOCK_INTERVAL);
        let barriers = &mut state_of(part).barriers;
        barriers.waits_until = barriers.waits_until.max(next_look);
    }
    Ok(())
}

/// Enters a barrier and leaves it pending. Returns false if the caller must wait for this one.
#[inline]
fn defer(process: &Process, part: &NodePart, handle: *const c_void, state: &mut PartState) -> bool {
    let (deferral, node) = (&process.deferral, part.shared.node);
    state.barriers.count_fast_path(&mut state.tallies, node.recording);
    if !deferral.is_only(part) {
        complete_before_barrier(process, part);
    }
    if state.barriers.pending() >= deferral.window() {
        make_room(process, part, state);
    }
    let is_first = state.barriers.pending() == 0;
    let sampled = node.recording && work::is_sampled(state.barriers.entered);
    // Reading the clock takes a good part of the time of this short call, so it is avoided if possible.
    let now = if is_first || node.recording { node.clock().now() } else { Ticks(0) };
    if is_first && !deferral.arm(node.clock(), now) {
        return false;
    }
    let number = state.barriers.enter();
    if node.recording {
        lateness::note(part, state, number, now);
    }
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
    if deferral.is_only(part) && !state.barriers.work.times_next(number) {
        open_fast_path(process, handle, &mut state.barriers);
    }
    true
}

/// Lets the next barriers take the fast path, as long as the window has room and until the next reading of
/// the clock and of the advice.
#[inline(always)]
fn open_fast_path(process: &Process, handle: *const c_void, barriers: &mut BarrierCounters) {
    let BarrierCounters { entered, known, .. } = *barriers;
    let next_reading =
        if process.deferral.is_adaptive() { entered.next_multiple_of(CLOCK_INTERVAL) } else { u64::MAX };
    let limit = next_reading.min(known + process.deferral.window());
    barriers.open_fast_path(limit.min(work::next_timed(entered)));
    fast_path::open(handle);
}

/// The window is full: finds out which barriers are complete, and waits for the oldest if none is.
#[cold]
fn make_room(process: &Process, part: &NodePart, state: &mut PartState) {
    let board = &part.shared.board;
    let BarrierCounters { entered, known, .. } = state.barriers;
    // Checks half a window at a time, because each check may cost a cache line per rank.
    let half = known + (entered - known).div_ceil(2);
    let number = if board.all_entered(half - 1, &mut 0) { half - 1 } else { known };
    let entered = LastToEnter::default();
    if !entered.have_all(board, number) {
        wait_for_pending(process, part, state, number, &entered);
    }
    state.barriers.known = number + 1;
    if state.barriers.pending() == 0 {
        process.deferral.remove(part); // the window is one barrier
    }
    process.deferral.observations.count(Observer::WINDOW);
}

/// Enters a barrier of a communicator for which the fast path is open, and leaves it pending. Returns false
/// if this barrier needs the normal path; nothing has been done then. No operation of the host library and
/// no message may need this rank's calls to make progress.
///
/// # Safety
/// Only the one thread that is in MPI may call this.
#[inline(always)]
pub(crate) unsafe fn run_fast(part: &NodePart) -> bool {
    // SAFETY: there is one thread in MPI, and nothing below calls this function again.
    let barriers = &mut unsafe { part.state_unlocked() }.barriers;
    let number = barriers.entered;
    if number >= barriers.fast_path_limit {
        return false;
    }
    // The gate is opened for a moment. A signal handler may run in here and make a system call, which must
    // not find a barrier that is half entered. Waking a rank takes a system call, too.
    let gate = GATE.load(Ordering::Relaxed);
    GATE.store(0, Ordering::Relaxed);
    compiler_fence(Ordering::SeqCst);
    barriers.entered = number + 1;
    part.shared.enter_barrier_and_go_on(part.me, number, 0);
    compiler_fence(Ordering::SeqCst);
    GATE.store(gate, Ordering::Relaxed);
    true
}

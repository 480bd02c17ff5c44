//! The strict barrier of programs with one thread in MPI. Every rank writes its epoch, and ranks that wait
//! add to one counter, so that most of them poll a single word.

use super::completion::complete_before_barrier;
use super::last_to_enter::LastToEnter;
use crate::blocking::awaited::Awaited;
use crate::clock::Ticks;
use crate::collective::call::CollectiveKind::Barrier;
use crate::comm::part::{NodePart, Revoked};
use crate::comm::state::PartState;
use crate::deferral::pending::any_pending;
use crate::process::Process;
use crate::record::tally::is_sampled;

/// How many polls of a wait look at the release flag only. Fewer than the polls before any sleep.
const FLAG_ONLY_POLLS: u32 = 4;

/// Enters a barrier and waits until all ranks have entered it.
#[inline]
pub(super) fn run(process: &Process, part: &NodePart, state: &mut PartState) -> Result<(), Revoked> {
    if any_pending() {
        complete_before_barrier(process, part);
    }
    let (board, me, node) = (&part.shared.board, part.me, part.shared.node);
    state.barriers.count_fast_path(&mut state.tallies, node.recording);
    let number = state.barriers.enter();
    let sampled = node.recording && is_sampled(number);
    let began = if sampled { node.clock().now() } else { Ticks(0) };
    board.enter_barrier(me, number, began.0);
    if node.recording {
        state.tallies.of(Barrier, false).calls += 1;
    }
    let waited_before = if sampled { state.tallies.of(Barrier, false).wait_ns } else { 0 };
    if part.ranks == 2 {
        part.shared.notify_entry(me, number);
        let other = 1 - me;
        process.wait_briefly(
            part,
            state,
            Awaited::BARRIER,
            || board.has_entered(other, number),
            || Some(other),
        )?;
    } else {
        let is_last = board.count_waiting(me, number);
        part.shared.notify_entry(me, number);
        if is_last {
            note_last_arrival(part, state, number, sampled);
        } else {
            wait_for_release(process, part, state, number)?;
        }
    }
    if state.barriers.pending() > 1 {
        process.deferral.remove(part); // earlier pending barriers are complete with this one
    }
    state.barriers.known = number + 1;
    state.barriers.work.left_together = true;
    if sampled {
        let tally = state.tallies.of(Barrier, false);
        let waited_ns = tally.wait_ns - waited_before;
        tally.sample(node.clock().ns_since(began), waited_ns);
    }
    Ok(())
}

#[inline]
fn wait_for_release(
    process: &Process,
    part: &NodePart,
    state: &mut PartState,
    number: u64,
) -> Result<(), Revoked> {
    let board = &part.shared.board;
    let (mut polls, entered) = (0u32, LastToEnter::default());
    let is_done = || {
        polls = polls.saturating_add(1);
        // At first only the release flag is polled. Before a sleep the epochs must be checked, because
        // ranks that do not wait are not counted.
        board.is_barrier_released(number) || (polls > FLAG_ONLY_POLLS && entered.have_all(board, number))
    };
    process.wait_briefly(part, state, Awaited::BARRIER, is_done, || entered.rank(board, number))
}

/// Counts that this rank was the last to arrive. For a sampled barrier, also counts for how long the first
/// rank had been waiting.
#[inline]
fn note_last_arrival(part: &NodePart, state: &mut PartState, number: u64, sampled: bool) {
    let tally = state.tallies.of(Barrier, false);
    tally.last += 1;
    if sampled {
        tally.last_sampled += 1;
        tally.late_ns += lateness_ns(part, number);
    }
}

#[cold]
fn lateness_ns(part: &NodePart, number: u64) -> u64 {
    let clock = part.shared.node.clock();
    let now = clock.now();
    let entries = (0..part.ranks).filter_map(|rank| part.shared.board.entered_at(rank, number));
    let first = entries.filter(|&ticks| ticks > 0).min().map_or(now, Ticks);
    clock.ns_between(first, now)
}

//! Running barriers by a schedule.

use super::scheduled::{ReadyBarrier, ScheduledBarrier};
use crate::blocking::awaited::Awaited;
use crate::clock::Ticks;
use crate::collective::call::CollectiveKind::Barrier;
use crate::comm::part::{NodePart, Revoked};
use crate::comm::shared::Shared;
use crate::comm::state::PartState;
use crate::process::Process;
use crate::record::tally::is_sampled;
use evenkeel_segment::{Flags, Mapped};

/// Carries out a barrier by the communicator's schedule. If it cannot be run, all members get `None`.
#[inline]
pub(super) fn run(
    process: &Process,
    schedule: &ScheduledBarrier,
    part: &NodePart,
) -> Option<Result<(), Revoked>> {
    if part.is_known_revoked() {
        return None;
    }
    let ready = schedule.ready(part)?;
    // SAFETY: schedules are for jobs with one thread in MPI, and nothing below calls this function again.
    let state = unsafe { part.state_unlocked() };
    let number = state.barriers.enter_and_pass();
    if is_sampled(number) && part.shared.node.recording {
        return Some(run_sampled(process, part, state, ready, number));
    }
    state.barriers.scheduled += 1;
    Some(run_program(process, part, state, ready, number))
}

#[inline(always)]
fn run_program(
    process: &Process,
    part: &NodePart,
    state: &mut PartState,
    ready: &ReadyBarrier,
    number: u64,
) -> Result<(), Revoked> {
    let flags = &ready.flags;
    ready.program.run(flags, number + 1, |at, value| {
        if comes_soon(&part.shared, flags, at, value) {
            return Ok(());
        }
        wait_for_flag(process, part, state, flags, at, value)
    })
}

/// Like [`run_program`], but timed, and with the time of entry stored where all members can read it.
#[cold]
fn run_sampled(
    process: &Process,
    part: &NodePart,
    state: &mut PartState,
    ready: &ReadyBarrier,
    number: u64,
) -> Result<(), Revoked> {
    let tally = state.tallies.of(Barrier, false);
    tally.calls += 1;
    let waited_before = tally.wait_ns;
    let began = part.shared.node.clock().now();
    // Writes the words of the built-in barrier, for which no rank waits here.
    part.shared.board.enter_barrier(part.me, number, began.0);
    let late_ns = lateness_if_last(part, number, began);
    run_program(process, part, state, ready, number)?;
    note_sample(part, state, number, began, waited_before, late_ns);
    Ok(())
}

/// How long after the first rank this one has entered the barrier at `began`, if all others have entered it.
/// They do not leave it before this rank goes on. Later they may have entered the next one.
fn lateness_if_last(part: &NodePart, number: u64, began: Ticks) -> Option<u64> {
    let entered_at = |rank: usize| part.shared.board.entered_at(rank, number);
    let others = || (0..part.ranks).filter(|&rank| rank != part.me);
    let is_last = others().all(|rank| entered_at(rank).is_some_and(|at| (at, rank) < (began.0, part.me)));
    let first = others().filter_map(entered_at).min().map_or(began, Ticks);
    is_last.then(|| part.shared.node.clock().ns_between(first, began))
}

/// Polls a few times for a word to reach a value.
#[inline(never)]
fn comes_soon(shared: &Shared, flags: &Flags<Mapped>, at: usize, value: u64) -> bool {
    (0..shared.waiting.first_polls()).any(|_| flags.has_reached(at, value))
}

#[cold]
fn wait_for_flag(
    process: &Process,
    part: &NodePart,
    state: &mut PartState,
    flags: &Flags<Mapped>,
    at: usize,
    value: u64,
) -> Result<(), Revoked> {
    let sleep = |timeout, is_done: &mut dyn FnMut() -> bool| flags.sleep_unless(part.me, timeout, is_done);
    let expected_ns = state.expected_ns(Barrier);
    let waited_ns =
        process.wait_asleep(part, &Awaited::BARRIER, expected_ns, || flags.has_reached(at, value), sleep)?;
    state.learn(Barrier, waited_ns);
    if part.shared.node.recording {
        state.tallies.of(Barrier, false).wait_ns += waited_ns;
    }
    Ok(())
}

/// Records a sampled barrier that is complete. Arrivals are not counted here: the times of entry show which
/// rank came last, and the sample stands for all barriers since the one before.
#[cold]
fn note_sample(
    part: &NodePart,
    state: &mut PartState,
    number: u64,
    began: Ticks,
    waited_before: u64,
    late_ns: Option<u64>,
) {
    let barriers = state.barriers.note_sample(number);
    let tally = state.tallies.of(Barrier, false);
    tally.sample(part.shared.node.clock().ns_since(began), tally.wait_ns - waited_before);
    if let Some(late_ns) = late_ns {
        tally.last += barriers;
        tally.last_sampled += 1;
        tally.late_ns += late_ns;
    }
}

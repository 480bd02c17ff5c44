//! Completing pending barriers before any process could notice that they are not complete.

use crate::clock::Ticks;
use crate::collective::call::CollectiveKind::Barrier;
use crate::comm::part::NodePart;
use crate::deferral::observer::Observer;
use crate::process::Process;

/// Completes everything that is pending. May run in the handler of a caught system call.
#[cold]
pub fn complete(process: &Process, observer: Observer) {
    let deferral = &process.deferral;
    deferral.begin_completion();
    deferral.observations.count(observer);
    for part in deferral.parts() {
        // SAFETY: communicators with pending barriers are attached: detaching completes them first.
        complete_barriers_of(process, unsafe { &*part });
    }
    deferral.end_completion();
}

/// Completes what must be complete before this rank enters a barrier of `part`.
#[cold]
pub(super) fn complete_before_barrier(process: &Process, part: &NodePart) {
    if process.deferral.must_complete_before_barrier(part) {
        complete(process, Observer::OTHER_COMMUNICATOR);
    }
}

/// Completes what must be complete before a collective of `part` other than a barrier.
/// `only_contributes`: this rank receives nothing in it.
#[cold]
pub(crate) fn complete_before_collective(process: &Process, part: &NodePart, only_contributes: bool) {
    if process.deferral.must_complete_before_collective(part, only_contributes) {
        complete(process, Observer::COLLECTIVE);
    }
}

/// Waits until all barriers that this rank has entered are complete. There must be pending ones.
fn complete_barriers_of(process: &Process, part: &NodePart) {
    let (board, node) = (&part.shared.board, part.shared.node);
    // SAFETY: deferral is for programs with one thread in MPI; it is inside MPI or caught at a system call
    // of its own, not in here.
    let state = unsafe { part.state_unlocked() };
    state.barriers.count_fast_path(&mut state.tallies, node.recording);
    let pending = state.barriers.pending();
    let number = state.barriers.entered - 1;
    let mut entered = 0;
    let observed = node.clock().now();
    let was_complete = board.all_entered(number, &mut entered);
    if !was_complete {
        // If it has been revoked, the next call on the communicator says so.
        let _ = process.wait_briefly(part, state, Barrier, || board.all_entered(number, &mut entered));
    }
    state.barriers.known = number + 1;
    if node.recording && pending == 1 {
        let overlapped_ns = overlapped_ns(part, number, state.barriers.pending_since, observed, was_complete);
        state.tallies.of(Barrier, false).overlapped_ns += overlapped_ns;
    }
}

/// For how long the program went on where waiting at once would have held it: until the last rank had
/// entered. 0 if that is not known, because the last rank has entered other barriers since.
fn overlapped_ns(part: &NodePart, number: u64, entered: Ticks, observed: Ticks, was_complete: bool) -> u64 {
    let clock = part.shared.node.clock();
    let overlapped_ns = clock.ns_between(entered, observed);
    if !was_complete {
        return overlapped_ns; // all of it: the wait would have been longer still
    }
    let others = (0..part.ranks).filter(|&rank| rank != part.me);
    let last = others.map(|rank| part.shared.board.entered_at(rank, number)).max().flatten();
    match last {
        Some(ticks) if ticks > 0 => clock.ns_between(entered, Ticks(ticks)).min(overlapped_ns),
        _ => 0,
    }
}

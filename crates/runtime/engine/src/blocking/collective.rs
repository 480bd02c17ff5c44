//! Blocking collectives other than barriers.

use super::awaited::Awaited;
use super::step::{Step, carry};
use super::{fast_path, in_parts};
use crate::collective::call::Call;
use crate::collective::plan::{CallPlan, Route};
use crate::comm::part::{NodePart, Revoked};
use crate::communicator::spanning::SpanningCommunicator;
use crate::process::Process;
use crate::spanning::operation::SpanningOperation;

/// Returns whether the fast path may be tried for a call among the ranks of one node. Such calls are never
/// declined.
#[inline(always)]
pub(crate) fn may_run_fast(part: &NodePart, call: &Call) -> bool {
    !part.is_threaded() && fast_path::fits(call)
}

/// Carries out a call for which [`may_run_fast`] returned true. Returns `None` if the call needs the normal
/// path; nothing has been done then.
#[inline]
pub(crate) fn run_fast(process: &Process, part: &NodePart, call: &Call) -> Option<Result<(), Revoked>> {
    // SAFETY: there is one thread in MPI, and nothing below calls this function again.
    let state = unsafe { part.state_unlocked() };
    fast_path::run(process, part, call, state)
}

/// Carries out a call among the ranks of one node. Returns when this rank has contributed what others need
/// and received what it needs.
#[inline(never)]
pub(crate) fn run(process: &Process, part: &NodePart, call: &Call, plan: CallPlan) -> Result<(), Revoked> {
    let node = part.shared.node;
    let began = node.clock().now();
    let carried = if plan.route == Route::Parts {
        in_parts::carry_in_parts(process, part, call, plan)?
    } else {
        carry(process, part, call, plan, &Step { called: call, is_last: true, needs_all: false })?
    };
    if node.recording {
        part.with(|state| {
            let tally = state.tallies.of(call.kind(), false);
            tally.calls += 1;
            // SAFETY: the front end provides the spans that the kind needs.
            tally.bytes += unsafe { call.bytes_moved(part.ranks, part.me) } as u64;
            if carried.waited_ns > 0 {
                tally.count_wait(carried.waited_ns, carried.awaited);
            }
            if carried.is_sampled {
                tally.sample(node.clock().ns_since(began), carried.waited_ns);
            }
        });
    }
    Ok(())
}

/// Carries out a call on a communicator that spans nodes. Returns when this rank has contributed what
/// others need and received what it needs.
#[inline(never)]
pub(crate) fn run_spanning(
    process: &Process,
    communicator: &SpanningCommunicator,
    mut operation: SpanningOperation,
    call: &Call,
) -> Result<(), Revoked> {
    let part = &communicator.service.part;
    let clock = part.shared.node.clock();
    let began = clock.now();
    let mut is_done = || part.with(|state| operation.poll(part, state));
    let waited_ns = if is_done() {
        0
    } else {
        process.wait(part, &Awaited::spanning(call), communicator.expected_ns(call.kind()), is_done)?
    };
    communicator.count(call, clock.ns_since(began), waited_ns);
    Ok(())
}

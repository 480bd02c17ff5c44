//! Chooses the algorithm that carries out a barrier.

use super::{by_schedule, deferred, pair, strict};
use crate::collective::call::CollectiveKind::Barrier;
use crate::comm::part::{NodePart, Revoked};
use crate::communicator::service::{BarrierKind, NodeService};
use crate::process::Process;
use std::ffi::c_void;

/// Carries out a barrier; returns false if the host library must do that. `handle` is the pointer by which
/// the front end knows the communicator. `may_defer` says that no operation of the host library needs this
/// rank's calls to make progress.
#[inline(always)]
pub(crate) fn run(
    process: &Process,
    service: &NodeService,
    handle: *const c_void,
    may_defer: bool,
) -> Result<bool, Revoked> {
    let part = &service.part;
    match &service.barrier {
        BarrierKind::Pair if pair::run(&process.deferral, part) => return Ok(true),
        BarrierKind::Scheduled(schedule) => {
            if let Some(outcome) = by_schedule::run(process, schedule, part) {
                return outcome.map(|()| true);
            }
        }
        BarrierKind::Pair | BarrierKind::Central | BarrierKind::Threaded => {}
    }
    run_central(process, service, handle, may_defer)
}

#[inline(never)]
fn run_central(
    process: &Process,
    service: &NodeService,
    handle: *const c_void,
    may_defer: bool,
) -> Result<bool, Revoked> {
    let part: &NodePart = &service.part;
    if part.is_known_revoked() {
        part.with(|state| state.tallies.of(Barrier, false).host_calls += 1);
        return Ok(false);
    }
    if process.deferral.is_on() && may_defer {
        deferred::run(process, part, handle)?;
    } else {
        strict::run(process, part)?;
    }
    Ok(true)
}

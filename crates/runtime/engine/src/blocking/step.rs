//! One call of the engine among the ranks of one node: all that the program has called, or a step of it.

use super::awaited::Awaited;
use crate::collective::call::Call;
use crate::collective::operation::{NodeOperation, StepOf};
use crate::collective::plan::CallPlan;
use crate::comm::part::{NodePart, Revoked};
use crate::process::Process;

/// What the program has called, of which a call is a step or all.
pub(super) struct Step<'a> {
    pub called: &'a Call,
    /// No other step follows.
    pub is_last: bool,
    /// In this step every rank needs all others, though the collective may have a root.
    pub needs_all: bool,
}

/// What has come of a call.
#[derive(Default)]
pub(super) struct Carried {
    pub waited_ns: u64,
    /// The member that came last of those that this rank has waited for, if that is known.
    pub awaited: Option<usize>,
    pub is_sampled: bool,
}

/// Carries out a call, and counts nothing.
pub(super) fn carry(
    process: &Process,
    part: &NodePart,
    call: &Call,
    plan: CallPlan,
    step: &Step<'_>,
) -> Result<Carried, Revoked> {
    let kind = call.kind();
    let step_of = StepOf { called: step.called.kind(), is_last: step.is_last };
    let (mut operation, expected_ns) = part.with(|state| {
        let mut operation = NodeOperation::reserve_step(part, state, *call, plan, false, step_of);
        let is_done = operation.poll(part, state);
        (operation, (!is_done).then(|| state.expected_ns(kind)))
    });
    let mut waited_ns = 0;
    if let Some(expected_ns) = expected_ns {
        let awaited = Awaited::uncounted(step.called, operation.first());
        let awaited = if step.needs_all { awaited.by_all() } else { awaited };
        let mut is_done = || part.with(|state| operation.poll(part, state));
        waited_ns = process.wait(part, &awaited, expected_ns, &mut is_done)?;
        part.with(|state| state.learn(kind, waited_ns));
    }
    if operation.may_read_directly() && part.is_revoked_since_reading() {
        return Err(Revoked); // the depositor may have changed its buffer before this rank read it
    }
    let awaited = if waited_ns > 0 { operation.awaited(part) } else { None };
    Ok(Carried { waited_ns, awaited, is_sampled: operation.is_sampled() })
}

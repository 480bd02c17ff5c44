//! The entry points for calls: the functions that a front end calls on a communicator, and the choice of the
//! module that carries each of them out. No other module of the engine imports this one.

use crate::barrier;
use crate::barrier::completion::complete_before_collective;
use crate::blocking::collective;
use crate::collective::call::{Call, CollectiveKind};
use crate::collective::operation::NodeOperation;
use crate::comm::part::{NodePart, Revoked};
use crate::communicator::Communicator;
use crate::communicator::spanning::SpanningCommunicator;
use crate::deferral::fast_path;
use crate::deferral::pending::any_pending;
use crate::nonblocking::request::{Request, Work};
use crate::process::Process;
use crate::spanning::choice::{Carrier, Step};
use std::ffi::c_void;
use std::ptr::from_ref;

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<T = ()> {
    /// The engine has carried it out, or started it.
    Done(T),
    /// The host library must carry it out. All members get this answer for a call, or none does. The call
    /// has been counted as one of the host library's.
    Declined,
}

impl Process {
    /// Carries out a blocking collective other than a barrier; returns when this rank has contributed what
    /// others need and has received what it needs.
    ///
    /// # Safety
    /// `call` must satisfy the requirements in the documentation of [`Call`].
    #[inline]
    pub unsafe fn run(&self, communicator: &Communicator, call: *mut Call) -> Result<Outcome, Revoked> {
        match communicator {
            // SAFETY: the caller's promise.
            Communicator::Node(node) => unsafe { self.run_on_node(&node.service.part, call) },
            // SAFETY: the caller's promise.
            Communicator::Spanning(spanning) => unsafe { self.run_spanning(spanning, call) },
            Communicator::Host(host) => {
                // SAFETY: the caller's promise.
                host.count(unsafe { &*call }.kind(), false);
                Ok(Outcome::Declined)
            }
        }
    }

    /// # Safety
    /// As for `run`.
    #[inline]
    unsafe fn run_on_node(&self, part: &NodePart, call: *mut Call) -> Result<Outcome, Revoked> {
        // SAFETY: the caller's promise; no reference is held while `materialize` changes the call.
        unsafe {
            let is_fast = collective::may_run_fast(part, &*call);
            let plan = if is_fast { None } else { NodeOperation::plan_of(part, &*call, false) };
            if part.is_known_revoked() || (plan.is_none() && !is_fast) {
                count_declined(part, (*call).kind(), false);
                return Ok(Outcome::Declined);
            }
            if any_pending() {
                complete_before_collective(self, part, (*call).only_contributes(part.ranks, part.me));
            }
            if !Call::materialize(call) {
                return Ok(Outcome::Declined);
            }
            if is_fast {
                if let Some(outcome) = collective::run_fast(self, part, &*call) {
                    return outcome.map(Outcome::Done);
                }
            }
            let plan = plan
                .or_else(|| NodeOperation::plan_of(part, &*call, false))
                .expect("what fits a cell has a plan");
            collective::run(self, part, &*call, plan).map(Outcome::Done)
        }
    }

    /// Carries out a barrier that ranks carry themselves, or leaves it to the library if that is faster;
    /// `None` if neither is so.
    #[inline(never)]
    fn direct_barrier(&self, spanning: &SpanningCommunicator) -> Option<Result<Outcome, Revoked>> {
        let barrier = Call::empty(CollectiveKind::Barrier);
        if spanning.service.part.is_known_revoked() {
            return None;
        }
        match self.carrier(spanning, &barrier) {
            Ok(Carrier::Library) => {
                spanning.count_declined(CollectiveKind::Barrier, false);
                return Some(Ok(Outcome::Declined));
            }
            Ok(Carrier::Evenkeel) => {}
            Err(revoked) => return Some(Err(revoked)),
        }
        let (direct, description) = spanning.direct_for(&barrier)?;
        // SAFETY: a barrier has no data.
        Some(unsafe { self.run_direct(spanning, direct, &barrier, description) }.map(Outcome::Done))
    }

    /// Who carries a call that evenkeel can carry out. All members get the same answer.
    fn carrier(&self, spanning: &SpanningCommunicator, call: &Call) -> Result<Carrier, Revoked> {
        match spanning.next_step(call) {
            Step::Use(carrier) => Ok(carrier),
            Step::Agree(times) => Ok(spanning.decide(self.add_up(spanning, times)?)),
        }
    }

    /// # Safety
    /// As for `run`.
    unsafe fn run_spanning(
        &self,
        spanning: &SpanningCommunicator,
        call: *mut Call,
    ) -> Result<Outcome, Revoked> {
        // SAFETY: the caller's promise; no reference is held while `materialize` changes the call.
        unsafe {
            let kind = (*call).kind();
            let part = &spanning.service.part;
            if part.is_known_revoked() || !spanning.accepts(&*call, false) {
                spanning.count_declined(kind, false);
                return Ok(Outcome::Declined);
            }
            if self.carrier(spanning, &*call)? == Carrier::Library {
                spanning.count_declined(kind, false);
                return Ok(Outcome::Declined);
            }
            if any_pending() {
                complete_before_collective(self, part, spanning.only_contributes(&*call));
            }
            if !Call::materialize(call) {
                return Ok(Outcome::Declined);
            }
            if let Some((direct, description)) = spanning.direct_for(&*call) {
                return self.run_direct(spanning, direct, &*call, description).map(Outcome::Done);
            }
            let operation = spanning.operation(&*call, false);
            collective::run_spanning(self, spanning, operation, &*call).map(Outcome::Done)
        }
    }

    /// Starts a nonblocking collective.
    ///
    /// # Safety
    /// As for [`Process::run`]; buffers and spans must stay valid and unchanged until the request is
    /// complete.
    pub unsafe fn start(&self, communicator: &Communicator, call: *mut Call) -> Outcome<*mut Request> {
        // SAFETY: the caller's promise; no reference is held while `materialize` changes the call.
        unsafe {
            let kind = (*call).kind();
            let service = match communicator {
                Communicator::Host(host) => {
                    host.count(kind, true);
                    return Outcome::Declined;
                }
                Communicator::Node(node) => &node.service,
                Communicator::Spanning(spanning) => &spanning.service,
            };
            let Some(companion) = service.companion().filter(|_| !service.part.is_known_revoked()) else {
                count_declined_nonblocking(communicator, kind);
                return Outcome::Declined;
            };
            let part = &companion.part;
            let plan = match communicator {
                Communicator::Spanning(spanning) => spanning.accepts(&*call, true).then_some(None),
                _ => NodeOperation::plan_of(part, &*call, true).map(Some),
            };
            let Some(plan) = plan else {
                count_declined_nonblocking(communicator, kind);
                return Outcome::Declined;
            };
            if any_pending() {
                complete_before_collective(self, &service.part, false);
            }
            if !Call::materialize(call) {
                return Outcome::Declined;
            }
            let call = &*call;
            Outcome::Done(self.requests.start(companion, kind, |part, state| match (communicator, plan) {
                (Communicator::Spanning(spanning), _) => Work::Spanning(spanning.operation(call, true)),
                (_, plan) => {
                    let plan = plan.expect("every communicator but a spanning one has a plan here");
                    Work::Node(NodeOperation::reserve(part, state, *call, plan, true))
                }
            }))
        }
    }

    /// Carries out a barrier. With `may_defer` the barrier may return before it is complete; the caller
    /// then guarantees that no operation of the host library needs this rank's calls to make progress.
    #[inline(always)]
    pub fn barrier(&self, communicator: &Communicator, may_defer: bool) -> Result<Outcome, Revoked> {
        let Some(service) = communicator.service() else {
            return Ok(decline_barrier(communicator));
        };
        if let Communicator::Spanning(spanning) = communicator {
            if let Some(outcome) = self.direct_barrier(spanning) {
                return outcome;
            }
        }
        let handle = from_ref(communicator).cast::<c_void>();
        let is_done = barrier::dispatch::run(self, service, handle, may_defer)?;
        Ok(if is_done { Outcome::Done(()) } else { Outcome::Declined })
    }
}

/// Enters a barrier and leaves it pending, if the deferred fast path is open for this communicator. Returns
/// false if it is not; nothing has been done then. No operation of the host library and no message may need
/// this rank's calls to make progress.
///
/// # Safety
/// Only the one thread that is in MPI may call this. The pointer is compared with that of the communicator
/// for which the fast path is open, which is alive, and is used only if the two are equal.
#[inline(always)]
pub unsafe fn barrier_fast_path(communicator: *const Communicator) -> bool {
    if !fast_path::is_open_for(communicator.cast()) {
        return false;
    }
    // SAFETY: the pointer is that of the communicator for which the fast path is open. The fast path is
    // closed before that communicator's pending barriers are completed, and they are completed before it is
    // freed.
    match unsafe { &*communicator }.service() {
        // SAFETY: the caller's promise.
        Some(service) => unsafe { barrier::deferred::run_fast(&service.part) },
        None => false,
    }
}

#[cold]
fn count_declined(part: &NodePart, kind: CollectiveKind, nonblocking: bool) {
    part.with(|state| state.tallies.of(kind, nonblocking).host_calls += 1);
}

#[cold]
fn count_declined_nonblocking(communicator: &Communicator, kind: CollectiveKind) {
    match communicator {
        Communicator::Spanning(spanning) => spanning.count_declined(kind, true),
        _ => {
            if let Some(service) = communicator.service() {
                count_declined(&service.part, kind, true);
            }
        }
    }
}

#[cold]
fn decline_barrier(communicator: &Communicator) -> Outcome {
    if let Communicator::Host(host) = communicator {
        host.count(CollectiveKind::Barrier, false);
    }
    Outcome::Declined
}

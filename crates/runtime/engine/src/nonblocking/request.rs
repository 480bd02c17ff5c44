//! Nonblocking operations: started here, moved on whenever anybody in this process looks.

use crate::clock::Ticks;
use crate::collective::call::{Call, Kind};
use crate::collective::operation::Operation;
use crate::comm::shared::Served;
use crate::comm::state::State;
use crate::communicator::node::{Comm, Revoked, lock};
use crate::deferral::pending as deferral;
use crate::spanning::operation::SpanningOperation;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A nonblocking operation; lives until `free`.
pub struct Request {
    /// The companion of the one it was started on.
    comm: Arc<Comm>,
    kind: Kind,
    work: Work,
    began: Ticks,
    /// Set, with release, when the operation is complete and its result is in place, or it has been given up.
    done: AtomicBool,
    revoked: bool,
}

/// What is under way, on one node or across several.
enum Work {
    Here(Operation),
    Across(SpanningOperation),
}

impl Work {
    fn poll(&mut self, comm: &Comm, served: &Served, state: &mut State) -> bool {
        match self {
            Work::Here(operation) => operation.poll(comm, served, state),
            Work::Across(operation) => operation.poll(comm, served, state),
        }
    }

    fn bytes_moved(&self, comm: &Comm) -> usize {
        match self {
            Work::Here(operation) => operation.bytes_moved(comm),
            Work::Across(operation) => operation.bytes_moved(),
        }
    }

    fn may_read_directly(&self) -> bool {
        matches!(self, Work::Here(operation) if operation.may_read_directly())
    }
}

static PENDING: AtomicUsize = AtomicUsize::new(0);
/// Companions with nonblocking operations under way.
static BUSY: Mutex<Vec<Arc<Comm>>> = Mutex::new(Vec::new());

/// Nonblocking operations of this process that are not complete.
#[inline(always)]
pub fn pending() -> usize {
    PENDING.load(Ordering::Acquire)
}

/// Starts a call that `Comm::takes` has accepted as nonblocking.
pub fn start(comm: &Comm, call: &Call) -> *mut Request {
    if deferral::any_pending() {
        deferral::before_collective(comm, false);
    }
    let across = comm.across();
    let part = across.map_or(comm, |across| &across.local);
    let comm = part.companion().expect("`takes` has said yes").clone();
    let served = comm.served.as_ref().expect("a companion is served");
    let kind = call.kind();
    let began = Ticks::now();
    let (request, busy) = comm.with(|state| {
        let mut work = match across {
            Some(across) => Work::Across(across.operation(call, true)),
            None => Work::Here(Operation::reserve(&comm, served, state, *call, true)),
        };
        let done = work.poll(&comm, served, state);
        if served.world.recording {
            let tally = state.tallies.of(kind, true);
            tally.calls += 1;
            tally.bytes += work.bytes_moved(&comm) as u64;
            if done {
                tally.sample(Ticks::now().ns_since(began), 0);
            }
        }
        let request = Box::into_raw(Box::new(Request {
            comm: comm.clone(),
            kind,
            work,
            began,
            done: AtomicBool::new(done),
            revoked: false,
        }));
        if !done {
            state.active.push(request);
            PENDING.fetch_add(1, Ordering::AcqRel);
        }
        (request, !done && state.active.len() == 1)
    });
    if busy {
        let mut list = lock(&BUSY);
        if !list.iter().any(|c| Arc::ptr_eq(c, &comm)) {
            list.push(comm);
        }
    }
    request
}

/// Moves all nonblocking operations of a communicator on; true when none is left.
fn progress(comm: &Comm) -> bool {
    let Some(served) = &comm.served else { return true };
    comm.with(|state| {
        let mut active = std::mem::take(&mut state.active);
        active.retain(|&request| {
            // SAFETY: requests in the list are alive: only complete ones, which are not in it, may be freed.
            let request = unsafe { &mut *request };
            let complete = request.work.poll(comm, served, state);
            let is_late = || Ticks::now().ns_since(request.began) > served.world.patience_ns;
            if !complete && served.world.reports_faults() && is_late() {
                comm.has_lost_members(served);
            }
            request.revoked = (!complete || request.work.may_read_directly()) && comm.is_revoked();
            if !complete && !request.revoked {
                return true;
            }
            if served.world.recording && complete {
                let ns = Ticks::now().ns_since(request.began);
                // From start to completion; whether the rank waited for it in MPI is not known here.
                state.tallies.of(request.kind, true).sample(ns, ns);
            }
            request.done.store(true, Ordering::Release); // pairs with `is_done`
            PENDING.fetch_sub(1, Ordering::AcqRel);
            false
        });
        state.active = active;
        state.active.is_empty()
    })
}

/// Moves everything on.
pub fn progress_all() {
    let busy: Vec<Arc<Comm>> = lock(&BUSY).clone();
    if busy.iter().fold(false, |idle, comm| progress(comm) | idle) {
        drop_idle();
    }
}

/// Takes communicators without operations off the list: under its lock, so that one that has become
/// busy again stays.
fn drop_idle() {
    lock(&BUSY).retain(|c| c.with(|s| !s.active.is_empty()));
}

/// Whether a request is complete, after moving its communicator on.
///
/// # Safety
/// `request` must come from `start` and not have been freed.
pub unsafe fn is_done(request: *mut Request) -> bool {
    // SAFETY: alive by the caller's promise; only the flag is looked at, the rest is reached under the lock.
    let done = unsafe { &(*request).done };
    if done.load(Ordering::Acquire) {
        return true;
    }
    // SAFETY: as above; the communicator does not change.
    let comm = unsafe { (*request).comm.clone() };
    if progress(&comm) {
        drop_idle();
    }
    done.load(Ordering::Acquire)
}

/// Frees a complete request and says what became of it.
///
/// # Safety
/// As for `is_done`; the request must be complete and not be used again.
pub unsafe fn free(request: *mut Request) -> Result<(), Revoked> {
    // SAFETY: from Box::into_raw, by the caller's promise not freed before.
    let request = unsafe { Box::from_raw(request) };
    if request.revoked { Err(Revoked) } else { Ok(()) }
}

/// Whether it has ended because a member has died ([`Comm::has_failed`]).
///
/// # Safety
/// From `start`, not freed.
pub unsafe fn has_failed(request: *mut Request) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { (*request).comm.has_failed() }
}

//! Nonblocking operations, and the list of those in progress.

use crate::clock::Ticks;
use crate::collective::call::CollectiveKind;
use crate::collective::operation::NodeOperation;
use crate::comm::part::{NodePart, Revoked};
use crate::comm::state::PartState;
use crate::record::tally::SHORTEST_WAIT_NS;
use crate::spanning::operation::SpanningOperation;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The second part of a communicator, for its nonblocking operations, which it numbers separately. MPI
/// demands that members agree on the order of all collective operations. Some programs rely on libraries
/// that only demand it of the blocking and of the nonblocking ones separately; this works here too.
pub struct Companion {
    /// The part itself.
    pub part: NodePart,
    /// Operations that are not complete, oldest first. Only used while the part's state is locked.
    active: UnsafeCell<VecDeque<*mut Request>>,
}

// SAFETY: `active` is used only inside `NodePart::with`, which excludes other threads.
unsafe impl Sync for Companion {}
// SAFETY: requests are allocated on the heap and are not tied to a thread.
unsafe impl Send for Companion {}

impl Companion {
    /// The companion with this part.
    pub(crate) fn new(part: NodePart) -> Companion {
        Companion { part, active: UnsafeCell::new(VecDeque::new()) }
    }
}

/// A nonblocking operation. It lives until [`free`].
pub struct Request {
    companion: Arc<Companion>,
    kind: CollectiveKind,
    work: Work,
    began: Ticks,
    /// When the program began to wait for it; 0 if it does not wait.
    awaited_since: AtomicU64,
    /// Set with release when the operation is complete and its result is in place, or when it has been
    /// given up.
    is_done: AtomicBool,
    is_revoked: bool,
}

/// The operation itself, on one node or across several.
pub enum Work {
    /// An operation among the ranks of one node.
    Node(NodeOperation),
    /// An operation of a communicator that spans nodes.
    Spanning(SpanningOperation),
}

impl Work {
    fn poll(&mut self, part: &NodePart, state: &mut PartState) -> bool {
        match self {
            Work::Node(operation) => operation.poll(part, state),
            Work::Spanning(operation) => operation.poll(part, state),
        }
    }

    /// No later operation of the communicator can have begun, because instances are entered in order.
    fn holds_up_later(&self) -> bool {
        matches!(self, Work::Node(operation) if !operation.has_entered())
    }

    fn bytes_moved(&self, part: &NodePart) -> usize {
        match self {
            Work::Node(operation) => operation.bytes_moved(part),
            Work::Spanning(operation) => operation.bytes_moved(),
        }
    }

    /// The member that came last of those whose contributions were needed, if that is known.
    fn awaited(&self, part: &NodePart) -> Option<usize> {
        match self {
            Work::Node(operation) => operation.awaited(part),
            Work::Spanning(_) => None,
        }
    }

    fn may_read_directly(&self) -> bool {
        matches!(self, Work::Node(operation) if operation.may_read_directly())
    }
}

/// The nonblocking operations of this process that are not complete.
#[derive(Default)]
pub struct Requests {
    pending: AtomicUsize,
    /// Waits of the program up to this time have been counted.
    counted_until: AtomicU64,
    /// How long the program has waited for such operations.
    waited_ns: AtomicU64,
    /// Companions with operations that are not complete.
    busy: Mutex<Vec<Arc<Companion>>>,
}

impl Requests {
    fn busy(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Companion>>> {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of operations that are not complete.
    #[inline(always)]
    pub fn pending(&self) -> usize {
        self.pending.load(Ordering::Acquire)
    }

    /// Starts an operation. `begin` reserves its numbers and makes it.
    pub fn start(
        &self,
        companion: &Arc<Companion>,
        kind: CollectiveKind,
        begin: impl FnOnce(&NodePart, &mut PartState) -> Work,
    ) -> *mut Request {
        let part = &companion.part;
        let node = part.shared.node;
        let began = node.clock().now();
        let (request, is_first) = part.with(|state| {
            let mut work = begin(part, state);
            let is_done = work.poll(part, state);
            if node.recording {
                let tally = state.tallies.of(kind, true);
                tally.calls += 1;
                tally.bytes += work.bytes_moved(part) as u64;
                if is_done {
                    tally.sample(node.clock().ns_since(began), 0);
                }
            }
            let is_revoked = is_done && work.may_read_directly() && part.is_revoked_since_reading();
            let request = Box::into_raw(Box::new(Request {
                companion: companion.clone(),
                kind,
                work,
                began,
                awaited_since: AtomicU64::new(0),
                is_done: AtomicBool::new(is_done),
                // What was read may not have been the contribution of a rank that has left the call
                // meanwhile.
                is_revoked,
            }));
            // SAFETY: the part's state is locked.
            let active = unsafe { &mut *companion.active.get() };
            if !is_done {
                active.push_back(request);
                self.pending.fetch_add(1, Ordering::AcqRel);
            }
            (request, !is_done && active.len() == 1)
        });
        if is_first {
            let mut busy = self.busy();
            if !busy.iter().any(|other| Arc::ptr_eq(other, companion)) {
                busy.push(companion.clone());
            }
        }
        request
    }

    /// Makes progress on all operations.
    pub fn progress(&self) {
        let busy: Vec<Arc<Companion>> = self.busy().clone();
        if busy.iter().fold(false, |any_idle, companion| self.progress_one(companion) | any_idle) {
            self.drop_idle();
        }
    }

    /// Makes progress on the operations of one communicator. Returns true when none is left.
    fn progress_one(&self, companion: &Companion) -> bool {
        let part = &companion.part;
        part.with(|state| {
            // SAFETY: the part's state is locked, and polling does not call this function again.
            let active = unsafe { &mut *companion.active.get() };
            let (mut looked_at, mut kept) = (0, 0);
            while looked_at < active.len() {
                // SAFETY: requests in the list are alive: only complete ones may be freed, and those are
                // not in the list.
                let request = unsafe { &mut *active[looked_at] };
                looked_at += 1;
                if self.advance(request, part, state) {
                    continue;
                }
                active.swap(kept, looked_at - 1); // what was there is complete, or the request itself
                kept += 1;
                if request.work.holds_up_later() {
                    break; // there may be thousands
                }
            }
            active.drain(kept..looked_at);
            active.is_empty()
        })
    }

    /// Makes progress on one operation. Returns true if it is complete or given up.
    fn advance(&self, request: &mut Request, part: &NodePart, state: &mut PartState) -> bool {
        let node = part.shared.node;
        let is_complete = request.work.poll(part, state);
        let is_late = || node.clock().ns_since(request.began) > node.patience_ns;
        if !is_complete && node.reports_faults() && is_late() {
            part.has_lost_members();
        }
        // If data was read from a rank that has left the call, it may not have been that rank's
        // contribution.
        request.is_revoked =
            (!is_complete || request.work.may_read_directly()) && part.is_revoked_since_reading();
        if !is_complete && !request.is_revoked {
            return false;
        }
        if node.recording && is_complete {
            // The duration is that from start to completion. The rank may have worked in the meantime.
            let ns = node.clock().ns_since(request.began);
            state.tallies.of(request.kind, true).sample(ns, ns);
            self.count_wait(request, part, state);
        }
        request.is_done.store(true, Ordering::Release); // pairs with `is_done`
        self.pending.fetch_sub(1, Ordering::AcqRel);
        true
    }

    /// Counts how long the program has waited for a request that is complete now. While it waits for several,
    /// the time until the next one is complete counts only once.
    fn count_wait(&self, request: &Request, part: &NodePart, state: &mut PartState) {
        let since = request.awaited_since.load(Ordering::Relaxed);
        if since == 0 {
            return;
        }
        let node = part.shared.node;
        let now = node.clock().now();
        let counted_until = self.counted_until.swap(now.0, Ordering::Relaxed);
        let began = Ticks(since.max(counted_until));
        let ns = node.clock().ns_between(began, now);
        let awaited = request.work.awaited(part).filter(|_| ns >= SHORTEST_WAIT_NS);
        state.tallies.of(request.kind, true).count_wait(ns, awaited);
        self.waited_ns.fetch_add(ns, Ordering::Relaxed);
        node.waited.add(began, now);
        node.timeline.add(node.clock().ns_between(node.began, now), ns);
    }

    /// How long the program has waited for nonblocking operations, in all.
    pub fn waited_ns(&self) -> u64 {
        self.waited_ns.load(Ordering::Relaxed)
    }

    /// Removes communicators without operations from the list. This happens under the list's lock, so that
    /// one that has become busy again stays.
    fn drop_idle(&self) {
        // SAFETY: the part's state is locked.
        self.busy()
            .retain(|companion| companion.part.with(|_| !unsafe { &*companion.active.get() }.is_empty()));
    }

    /// Makes progress on the operations of a request's communicator, and returns whether the request is
    /// complete.
    ///
    /// # Safety
    /// `request` must come from [`Requests::start`] and not have been freed.
    pub unsafe fn is_done(&self, request: *mut Request) -> bool {
        // SAFETY: alive by the caller's promise. Only the flag is read here; the rest of the request is
        // used under the lock.
        let is_done = unsafe { &(*request).is_done };
        if is_done.load(Ordering::Acquire) {
            return true;
        }
        // SAFETY: as above; the companion of a request never changes.
        let companion = unsafe { (*request).companion.clone() };
        if self.progress_one(&companion) {
            self.drop_idle();
        }
        is_done.load(Ordering::Acquire)
    }
}

/// Returns whether a request is complete, and makes no progress.
///
/// # Safety
/// As for [`Requests::is_done`].
pub unsafe fn is_complete(request: *mut Request) -> bool {
    // SAFETY: by the caller's promise; only the flag is read.
    unsafe { (*request).is_done.load(Ordering::Acquire) }
}

/// Notes that the program waits for a request, or does not any more.
///
/// # Safety
/// `request` must come from [`Requests::start`] and not have been freed.
pub unsafe fn set_awaited(request: *mut Request, is_awaited: bool) {
    // SAFETY: by the caller's promise. The companion of a request never changes, and the time is atomic.
    let (companion, since) = unsafe { (&(*request).companion, &(*request).awaited_since) };
    let node = companion.part.shared.node;
    if node.recording {
        since.store(if is_awaited { node.clock().now().0.max(1) } else { 0 }, Ordering::Relaxed);
    }
}

/// Frees a complete request. Returns an error if it was given up.
///
/// # Safety
/// As for [`Requests::is_done`]; the request must be complete and not be used again.
pub unsafe fn free(request: *mut Request) -> Result<(), Revoked> {
    // SAFETY: from Box::into_raw, and not freed before, by the caller's promise.
    let request = unsafe { Box::from_raw(request) };
    if request.is_revoked { Err(Revoked) } else { Ok(()) }
}

/// Returns whether a request was given up because a member has died ([`NodePart::has_failed`]).
///
/// # Safety
/// `request` must come from [`Requests::start`] and not have been freed.
pub unsafe fn has_failed(request: *mut Request) -> bool {
    // SAFETY: by the caller's promise.
    unsafe { &*request }.companion.part.has_failed()
}

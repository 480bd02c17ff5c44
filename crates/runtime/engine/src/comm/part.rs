//! The part of a communicator that lives on this node, as one rank sees it.

use super::shared::Shared;
use super::stamp::BarrierStamp;
use super::state::State;
use crate::deferral::fast_path;
use crate::wait::pause::yield_now;
use evenkeel_segment::board::revocation;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering};

/// The communicator has been revoked, or a member has died where the host library reports that: what
/// was under way on it has ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revoked;

/// A communicator on this node: a block of the segment, and this rank's state of it. It holds all
/// members, or those on this node and the node's agent. A communicator has a second part for its
/// nonblocking operations.
pub struct NodePart {
    /// This rank among the members.
    pub me: usize,
    /// How many members there are.
    pub ranks: usize,
    /// What they share.
    pub shared: Shared,
    /// This rank knows that it has been revoked: from then on it leaves calls to the host library.
    revoked: AtomicBool,
    locked: AtomicBool,
    threaded: bool,
    state: UnsafeCell<State>,
}

// SAFETY: the state is only reached through `with` and `state_unlocked`, which exclude other threads
// or are for programs that have one thread in MPI.
unsafe impl Sync for NodePart {}
// SAFETY: as above; the pointers in the state are scratch space of the call that holds it.
unsafe impl Send for NodePart {}

impl NodePart {
    /// This rank's part as member number `me`.
    pub(crate) fn new(shared: Shared, me: usize) -> NodePart {
        let ranks = shared.local_ranks.len();
        NodePart {
            me,
            ranks,
            revoked: AtomicBool::new(false),
            locked: AtomicBool::new(false),
            threaded: shared.node.threaded,
            state: UnsafeCell::new(State::new(ranks, &shared.board.geometry)),
            shared,
        }
    }

    /// The id of its block.
    pub fn id(&self) -> u64 {
        self.shared.block.id()
    }

    /// Whether several threads of the program may be in MPI.
    #[inline(always)]
    pub(crate) fn is_threaded(&self) -> bool {
        self.threaded
    }

    /// Exclusive access to the state.
    #[inline(always)]
    pub fn with<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        if self.threaded {
            self.lock();
        }
        // SAFETY: where the program has several threads in MPI, the lock excludes them; otherwise there is
        // one. The bodies never come back here.
        let result = body(unsafe { &mut *self.state.get() });
        if self.threaded {
            self.locked.store(false, Ordering::Release); // pairs with the exchange in `lock`
        }
        result
    }

    #[cold]
    fn lock(&self) {
        while self.locked.compare_exchange_weak(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            yield_now();
        }
    }

    /// The state without the lock.
    ///
    /// # Safety
    /// For programs with one thread in MPI, and no function that is called while the reference lives may
    /// reach the state.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "one thread, by the caller's promise")]
    pub(crate) unsafe fn state_unlocked(&self) -> &mut State {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.state.get() }
    }

    /// The latest barrier that this rank has entered; there must be one.
    pub(crate) fn latest_barrier(&self) -> BarrierStamp {
        // SAFETY: for programs with one thread in MPI: stamps are for these.
        let entered = unsafe { &*self.state.get() }.barriers.entered;
        BarrierStamp { comm: self.id(), ranks: self.ranks as u32, number: entered - 1 }
    }

    // ---- revoking ----

    /// Ends all that is under way on it and all that comes, for every member here: they get [`Revoked`].
    pub(crate) fn revoke(&self) {
        self.note_revoked();
        revocation::revoke(&self.shared.first);
        self.shared.board.notify(); // no rank sleeps at the second block
    }

    /// From now on this rank leaves its calls to the host library.
    fn note_revoked(&self) {
        self.revoked.store(true, Ordering::Relaxed);
        fast_path::close();
    }

    /// Whether this rank has noticed before that it has been revoked.
    #[inline(always)]
    pub(crate) fn is_known_revoked(&self) -> bool {
        self.revoked.load(Ordering::Relaxed)
    }

    /// Whether any member has revoked it.
    #[inline]
    pub fn is_revoked(&self) -> bool {
        let is_revoked = revocation::is_revoked(&self.shared.first);
        if is_revoked {
            self.note_revoked();
        }
        is_revoked
    }

    /// Whether members have died, in a job whose host library reports that. Then what is under way ends
    /// here for every member on this node, and later calls are left to the host library.
    pub(crate) fn has_lost_members(&self) -> bool {
        let node = self.shared.node;
        let has_lost = node.reports_faults() && node.any_has_died(&self.shared.local_ranks);
        if has_lost {
            revocation::mark_failed(&self.shared.first);
            self.shared.board.notify();
            self.is_revoked();
        }
        has_lost
    }

    /// Whether it has ended because a member has died, and not because the program has revoked it.
    pub fn has_failed(&self) -> bool {
        revocation::has_failed(&self.shared.first)
    }
}

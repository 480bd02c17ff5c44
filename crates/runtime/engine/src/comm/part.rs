//! The part of a communicator that lives on this node, as one rank sees it.

use super::shared::Shared;
use super::stamp::BarrierStamp;
use super::state::PartState;
use crate::deferral::fast_path;
use crate::wait::crowding::yield_now;
use evenkeel_segment::board::revocation;
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, Ordering, fence};

/// The communicator has been revoked, or a member has died and the host library reports that. Operations in
/// progress on it have ended without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revoked;

/// A communicator on this node: a block of the segment, and this rank's state. Its members are all members
/// of the communicator, or those on this node and the node's agent. A communicator has a second part for
/// its nonblocking operations.
pub struct NodePart {
    /// This process's rank among the members.
    pub me: usize,
    /// The number of members.
    pub ranks: usize,
    /// The memory and facts that the members share.
    pub shared: Shared,
    /// Set when this rank notices that the communicator has been revoked. Its later calls go to the host
    /// library.
    revoked: AtomicBool,
    locked: AtomicBool,
    threaded: bool,
    state: UnsafeCell<PartState>,
}

// SAFETY: the state is only reached through `with`, which excludes other threads, and `state_unlocked`,
// which is for programs with one thread in MPI.
unsafe impl Sync for NodePart {}
// SAFETY: as above; the pointers in the state are scratch space of the call that uses it.
unsafe impl Send for NodePart {}

impl NodePart {
    /// This process's part as member number `me`.
    pub(crate) fn new(shared: Shared, me: usize) -> NodePart {
        let ranks = shared.local_ranks.len();
        // With an agent the members here are only some of those that a rank waits for.
        let members = if shared.has_agent || !shared.node.recording { 0 } else { ranks };
        NodePart {
            me,
            ranks,
            revoked: AtomicBool::new(false),
            locked: AtomicBool::new(false),
            threaded: shared.node.threaded,
            state: UnsafeCell::new(PartState::new(ranks, members, &shared.board.geometry)),
            shared,
        }
    }

    /// The id of its block.
    pub fn id(&self) -> u64 {
        self.shared.block.id()
    }

    /// Returns whether several threads of the program may be in MPI.
    #[inline(always)]
    pub(crate) fn is_threaded(&self) -> bool {
        self.threaded
    }

    /// Gives `body` exclusive access to the state.
    #[inline(always)]
    pub fn with<R>(&self, body: impl FnOnce(&mut PartState) -> R) -> R {
        if self.threaded {
            self.lock();
        }
        // SAFETY: if the program has several threads in MPI, the lock excludes the others; otherwise there
        // is only one. No body calls `with` again.
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

    /// Returns the state without taking the lock.
    ///
    /// # Safety
    /// Only for programs with one thread in MPI. While the reference lives, the caller must not call any
    /// function that reaches the state.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the caller promises that there is one thread")]
    pub(crate) unsafe fn state_unlocked(&self) -> &mut PartState {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.state.get() }
    }

    /// The latest barrier that this rank has entered. It must have entered one.
    pub(crate) fn latest_barrier(&self) -> BarrierStamp {
        // SAFETY: stamps are only used in programs with one thread in MPI.
        let entered = unsafe { &*self.state.get() }.barriers.entered;
        BarrierStamp { comm: self.id(), ranks: self.ranks as u32, number: entered - 1 }
    }

    // ---- revoking ----

    /// Ends all operations in progress and all later ones, for every member on this node: they get
    /// [`Revoked`].
    pub(crate) fn revoke(&self) {
        self.note_revoked();
        revocation::revoke(&self.shared.first);
        self.shared.board.notify(); // no rank sleeps at the second block
    }

    /// From now on this rank's calls go to the host library.
    fn note_revoked(&self) {
        self.revoked.store(true, Ordering::Relaxed);
        fast_path::close();
    }

    /// Returns whether this rank has already noticed a revocation. Does not look at shared memory.
    #[inline(always)]
    pub(crate) fn is_known_revoked(&self) -> bool {
        self.revoked.load(Ordering::Relaxed)
    }

    /// Returns whether any member has revoked the communicator.
    #[inline]
    pub fn is_revoked(&self) -> bool {
        let is_revoked = revocation::is_revoked(&self.shared.first);
        if is_revoked {
            self.note_revoked();
        }
        is_revoked
    }

    /// The same after data have been read, which their owner may have overwritten if the communicator was
    /// revoked meanwhile.
    pub(crate) fn is_revoked_since_reading(&self) -> bool {
        // Acquire: the loads of the data come before that of the mark, which their owner sees before it
        // writes.
        fence(Ordering::Acquire);
        self.is_revoked()
    }

    /// Returns whether members have died, in a job whose host library reports process faults. In that case
    /// operations in progress end for every member on this node, and later calls go to the host library.
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

    /// Returns whether operations ended because a member died, rather than because the program revoked the
    /// communicator.
    pub fn has_failed(&self) -> bool {
        revocation::has_failed(&self.shared.first)
    }
}

//! Marks that end everything under way on a communicator: it was revoked by the program
//! (`MPI_Comm_revoke`), or one of its members has died. They stand in the communicator's first block, for
//! good; the caller wakes sleepers afterwards.

use crate::layout::REVOKED_AT;
use crate::sync::{Ordering, Words};

const REVOKED: u64 = 1;
const FAILED: u64 = 2;

/// Marks the communicator whose first block this is as revoked.
pub fn revoke(block: &impl Words) {
    // Release: pairs with the load in `is_revoked`, so that what the caller did before is seen with the mark.
    block.word(REVOKED_AT).store(REVOKED, Ordering::Release);
}

/// Marks it as having lost a member. It then counts as revoked, too; an earlier revocation stands.
pub fn mark_failed(block: &impl Words) {
    // Release: pairs with the loads in `is_revoked` and `has_failed`.
    let _ = block.word(REVOKED_AT).compare_exchange(0, FAILED, Ordering::Release, Ordering::Relaxed);
}

/// Whether it has lost a member, and the program has not revoked it.
pub fn has_failed(block: &impl Words) -> bool {
    block.word(REVOKED_AT).load(Ordering::Acquire) == FAILED // pairs with `mark_failed`
}

/// Whether what is under way on it has to end.
#[inline]
pub fn is_revoked(block: &impl Words) -> bool {
    block.word(REVOKED_AT).load(Ordering::Acquire) != 0 // pairs with `revoke` and `mark_failed`
}

//! The strict barrier of two ranks with one thread in MPI: each rank sets one flag.

use crate::comm::part::NodePart;
use crate::comm::shared::Shared;
use crate::deferral::pending::{Deferral, any_pending};
use crate::record::tally::is_sampled;

/// Tries to carry out a barrier on the shortest path. Returns false if something out of the ordinary has to
/// be done first, or if the other rank does not come soon. The caller then uses [`super::central`], which
/// may enter the barrier once more: entering the same barrier twice has no further effect.
#[inline(always)]
pub(super) fn run(deferral: &Deferral, part: &NodePart) -> bool {
    // SAFETY: pairs are for programs with one thread in MPI, and nothing below calls this function again.
    let barriers = &mut unsafe { part.state_unlocked() }.barriers;
    let may_defer = deferral.is_on() && !(deferral.is_adaptive() && barriers.waits_at_once(part.me));
    if may_defer || any_pending() || part.is_known_revoked() {
        return false;
    }
    let (board, number, other) = (&part.shared.board, barriers.entered, 1 - part.me);
    if is_sampled(number) {
        return false;
    }
    board.enter_barrier(part.me, number, 0);
    board.notify_entry(part.me, number);
    let was_there = board.has_entered(other, number);
    if !was_there && !comes_soon(&part.shared, other, number) {
        return false;
    }
    (barriers.entered, barriers.known) = (number + 1, number + 1);
    barriers.quick += 1;
    barriers.quick_last += u64::from(was_there);
    true
}

/// Polls a few times for `other` to enter.
#[inline(never)]
fn comes_soon(shared: &Shared, other: usize, number: u64) -> bool {
    (0..shared.waiting.first_polls()).any(|_| shared.board.has_entered(other, number))
}

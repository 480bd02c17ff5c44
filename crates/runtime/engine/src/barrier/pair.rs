//! The strict barrier of two ranks with one thread in MPI: two flags.

use crate::comm::part::NodePart;
use crate::comm::shared::Shared;
use crate::deferral::pending::{Deferral, any_pending};
use crate::record::tally::is_sampled;

/// Carries out a barrier with nothing out of the ordinary about it. False if there is something, or if
/// the other rank is not there yet: then the barrier has to be carried out by [`super::central`]; to
/// enter a barrier twice is to enter it once.
#[inline(always)]
pub(super) fn run(deferral: &Deferral, part: &NodePart) -> bool {
    if deferral.is_on() || any_pending() || part.is_known_revoked() {
        return false;
    }
    // SAFETY: pairs are of programs with one thread in MPI, and nothing below comes back here.
    let barriers = &mut unsafe { part.state_unlocked() }.barriers;
    let (board, number, other) = (&part.shared.board, barriers.entered, 1 - part.me);
    if is_sampled(number) {
        return false;
    }
    board.enter_barrier(part.me, number, 0);
    board.notify_entry(number);
    let was_there = board.has_entered(other, number);
    if !was_there && !comes_soon(&part.shared, other, number) {
        return false;
    }
    (barriers.entered, barriers.known) = (number + 1, number + 1);
    barriers.quick += 1;
    barriers.quick_last += u64::from(was_there);
    true
}

/// Looks a few times whether `other` has entered.
#[inline(never)]
fn comes_soon(shared: &Shared, other: usize, number: u64) -> bool {
    (0..shared.waiting.first_looks()).any(|_| shared.board.has_entered(other, number))
}

//! Which rank enters a barrier last, as a rank that waits for the barrier sees it.

use evenkeel_segment::{Board, Mapped};
use std::cell::Cell;

/// What a wait has seen of a barrier so far.
#[derive(Default)]
pub(super) struct LastToEnter {
    /// Ranks below this one have entered.
    seen: Cell<usize>,
}

impl LastToEnter {
    /// Returns whether all ranks have entered. Remembers a rank that has not.
    pub(super) fn have_all(&self, board: &Board<Mapped>, number: u64) -> bool {
        let mut seen = self.seen.get();
        let is_complete = board.all_entered(number, &mut seen);
        if !is_complete {
            self.seen.set(seen);
        }
        is_complete
    }

    /// The rank that entered last. If it has not noted that, this is the last rank that the wait found
    /// missing.
    pub(super) fn rank(&self, board: &Board<Mapped>, number: u64) -> Option<usize> {
        board.last_to_enter(number).or(Some(self.seen.get()))
    }
}

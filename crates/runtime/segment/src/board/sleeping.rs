//! Sleeping for what other members of a communicator do, at the eventcount of its block.

use crate::board::Board;
use crate::eventcount::{self, Fencing, Futex};
use crate::layout::ROOM_WANTED_AT;
use crate::sync::{Ordering, Words};

impl<M: Words + Futex> Board<M> {
    /// Wakes the members that sleep. To be called after publishing something that they may sleep for.
    #[inline(always)]
    pub fn notify(&self) {
        eventcount::notify(&self.memory, self.fencing);
    }

    /// Whether a member sleeps or is about to; to be asked after a full fence.
    #[inline(always)]
    pub(crate) fn has_sleepers(&self) -> bool {
        eventcount::has_sleepers(&self.memory)
    }

    /// Wakes members that sleep until there is room. To be called after leaving instances. There is no fence
    /// here: on rare occasions a sleeper is overlooked, and then sleeps until its timeout.
    #[inline(always)]
    pub fn notify_room(&self) {
        if self.memory.word(ROOM_WANTED_AT).load(Ordering::Relaxed) != 0 {
            self.notify();
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn wake_sleepers(&self) {
        eventcount::wake_sleepers(&self.memory);
    }

    /// Sleeps until a member notifies the others, at most `timeout_ns`, unless `happened` holds already.
    /// `fencing` is the board's own, except for entries without a fence
    /// ([`Board::notify_unfenced_entry`]): these take [`Fencing::Sleeper`].
    pub fn sleep_unless(&self, fencing: Fencing, timeout_ns: u64, happened: impl FnMut() -> bool) {
        eventcount::sleep_unless(&self.memory, fencing, timeout_ns, happened);
    }

    /// The same for a member that waits until others have left.
    pub fn sleep_until_room(&self, fencing: Fencing, timeout_ns: u64, happened: impl FnMut() -> bool) {
        let wanted = self.memory.word(ROOM_WANTED_AT);
        wanted.fetch_add(1, Ordering::SeqCst);
        self.sleep_unless(fencing, timeout_ns, happened);
        wanted.fetch_sub(1, Ordering::SeqCst);
    }
}

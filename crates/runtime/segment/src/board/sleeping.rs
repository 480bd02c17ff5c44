//! Sleeping for what other members of a communicator do, at the eventcount of its block.

use crate::board::Board;
use crate::eventcount::{self, Fencing, Futex};
use crate::layout::ROOM_WANTED_AT;
use crate::sync::{Ordering, Words, fence};

/// What a member waits for that cannot enter its next instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The window is not open yet.
    Window,
    /// There is no memory for its deposit.
    Memory,
}

/// How many members that sleep until there is room one counts for.
fn weight(room: Room) -> u64 {
    match room {
        Room::Window => 1,
        Room::Memory => FOR_MEMORY,
    }
}

/// The bit of a futex by which members are woken that sleep until there is room.
const FOR_ROOM: u32 = 1 << 31;

/// More threads than there can be.
const ALL: u32 = i32::MAX as u32;

/// One that waits for memory counts for so many, which is more than there are.
const FOR_MEMORY: u64 = 1 << 32;

impl<M: Words + Futex> Board<M> {
    /// Wakes the members that sleep. To be called after publishing something that they may sleep for.
    #[inline(always)]
    pub fn notify(&self) {
        if eventcount::have_missed(&self.memory, self.fencing) {
            self.wake_sleepers();
        }
    }

    /// Whether a member sleeps or is about to; to be asked after a full fence.
    #[inline(always)]
    pub(crate) fn has_sleepers(&self) -> bool {
        eventcount::has_sleepers(&self.memory)
    }

    /// Wakes members that sleep until there is room. To be called after leaving the instances from `before`
    /// to `after`. There is no fence here unless some member is seen to sleep: on rare occasions a sleeper is
    /// overlooked, and then sleeps until its timeout.
    #[inline(always)]
    pub fn notify_room(&self, before: u64, after: u64) {
        if self.memory.word(ROOM_WANTED_AT).load(Ordering::Relaxed) != 0 {
            self.wake_for_room(before, after);
        }
    }

    #[cold]
    fn wake_for_room(&self, before: u64, after: u64) {
        // Those that wait for the window are not woken for each instance, to make one deposit and sleep
        // again.
        let batch = (self.geometry.window / 2).max(1) as u64;
        let for_memory = self.memory.word(ROOM_WANTED_AT).load(Ordering::Relaxed) >= FOR_MEMORY;
        if !for_memory && before / batch == after / batch {
            return;
        }
        // Of the last two members that leave an instance at the same time, one has to see that both have.
        fence(Ordering::SeqCst);
        let left = self.all_left();
        if left > before && (for_memory || before / batch != left / batch) {
            eventcount::wake_some_sleepers(&self.memory, ALL, FOR_ROOM);
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn wake_sleepers(&self) {
        eventcount::wake_some_sleepers(&self.memory, ALL, !FOR_ROOM);
    }

    /// Sleeps until a member notifies the others, at most `timeout_ns`, unless `happened` holds already.
    /// `fencing` is the board's own, except for entries without a fence
    /// ([`Board::notify_unfenced_entry`]): these take [`Fencing::Sleeper`].
    pub fn sleep_unless(&self, fencing: Fencing, timeout_ns: u64, happened: impl FnMut() -> bool) {
        eventcount::sleep_as(&self.memory, fencing, !FOR_ROOM, timeout_ns, happened);
    }

    /// Sleeps until others have left, at most `timeout_ns`, unless `happened` holds already. What
    /// [`Board::notify`] announces does not end it.
    pub fn sleep_until_room(&self, room: Room, timeout_ns: u64, happened: impl FnMut() -> bool) {
        let count = (ROOM_WANTED_AT, weight(room));
        eventcount::sleep_counted(&self.memory, count, FOR_ROOM, timeout_ns, happened);
    }

    /// Like [`Board::sleep_unless`], for a member that also goes on when others have left.
    pub fn sleep_unless_or_room(
        &self,
        room: Room,
        fencing: Fencing,
        timeout_ns: u64,
        happened: impl FnMut() -> bool,
    ) {
        let wanted = self.memory.word(ROOM_WANTED_AT);
        wanted.fetch_add(weight(room), Ordering::SeqCst);
        eventcount::sleep_unless(&self.memory, fencing, timeout_ns, happened);
        wanted.fetch_sub(weight(room), Ordering::SeqCst);
    }
}

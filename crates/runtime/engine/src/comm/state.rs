//! What changes from call to call on one communicator: the numbers of instances, the window, and the memory
//! for payload.
//!
//! A collective call consists of one or more *instances*. All ranks give the same instance the same number.
//! A rank *enters* an instance when it publishes its deposit there, and *leaves* it when it will not read
//! any other rank's deposit there again. At most [`WINDOW`] instances are in progress at once. The position
//! of an instance in the window is its number modulo [`WINDOW`].

use super::backlog::OwnBacklog;
use super::ring_allocator::RingAllocator;
use crate::barrier::counters::BarrierCounters;
use crate::clock::Ticks;
use crate::copy::streaming::StreamingCopy;
use crate::record::arrivals::Arrivals;
use crate::record::tally::Tallies;
use crate::wait::expectation;
use evenkeel_record::OpRecord;
use evenkeel_segment::board::geometry::WINDOW;
use evenkeel_segment::board::sleeping::Room;
use evenkeel_segment::{Board, Geometry, Mapped, Seq};
use evenkeel_spanning::CollectiveKind;

/// What a rank waits for that cannot enter its next instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WantsRoom {
    pub(crate) room: Room,
    /// It also waits for data of an instance that it has entered.
    pub(crate) awaits_data: bool,
}

/// One rank's own state of one communicator.
pub struct PartState {
    /// The number of the next instance.
    next: u64,
    /// How many instances this rank has entered. Instances are entered in order.
    entered: u64,
    /// This rank has left all instances below `left`. Bit `n` of `left_ahead` says that it has also left
    /// instance `left + n`.
    left: u64,
    left_ahead: u64,
    /// All ranks have left the instances below this one, as of the last look at the board.
    all_left: u64,
    /// How many instances with counted arrivals there have been, per window position.
    rounds: [u64; WINDOW],
    /// One bit per window position: this rank was the last to arrive there.
    was_last: u64,
    /// Offset of the common piece of each window position.
    common_at: [usize; WINDOW],
    /// This rank's ring.
    pub(crate) ring: RingAllocator,
    /// The area that all ranks share. All ranks allocate from it in the same order.
    pub(crate) common: RingAllocator,
    /// Running mean of recent waits, per kind, in nanoseconds.
    expected_ns: [u64; CollectiveKind::COUNT],
    /// Scratch space: the contributions to a reduction.
    pub(crate) sources: Vec<*const u8>,
    pub(crate) copies: StreamingCopy,
    /// The next instance cannot be entered until other ranks leave earlier ones.
    pub(crate) wants_room: Option<WantsRoom>,
    /// Meanwhile this rank looks whether it may enter it by its backlog.
    pub(crate) may_go_ahead: bool,
    /// What this rank has deposited beyond the window.
    pub(crate) backlog: OwnBacklog,
    pub(crate) barriers: BarrierCounters,
    /// How many collectives have been posted to the node's agent.
    posted: u64,
    pub(crate) tallies: Tallies,
    /// When this rank arrived at the latest sampled instance.
    pub(crate) arrivals: Arrivals,
    /// How long it worked before that, if that is known.
    pub(crate) worked: Option<Ticks>,
}

impl PartState {
    /// The state of a communicator on which nothing has been called.
    /// Waits are attributed to the `members`; there may be none.
    pub fn new(ranks: usize, members: usize, geometry: &Geometry) -> PartState {
        PartState {
            next: 0,
            entered: 0,
            left: 0,
            left_ahead: 0,
            all_left: 0,
            rounds: [0; WINDOW],
            was_last: 0,
            common_at: [0; WINDOW],
            ring: RingAllocator::new(geometry.ring_bytes),
            common: RingAllocator::new(geometry.common_bytes),
            expected_ns: [0; CollectiveKind::COUNT],
            sources: Vec::with_capacity(ranks),
            copies: StreamingCopy::default(),
            wants_room: None,
            may_go_ahead: false,
            backlog: OwnBacklog::default(),
            barriers: BarrierCounters::default(),
            posted: 0,
            tallies: Tallies::new(members),
            arrivals: Arrivals::default(),
            worked: None,
        }
    }

    /// The counters, by operation.
    pub fn records(&mut self) -> Vec<OpRecord> {
        self.barriers.settle(&mut self.tallies);
        self.tallies.records()
    }

    /// The expected duration of the next wait of this kind, in nanoseconds.
    #[inline(always)]
    pub(crate) fn expected_ns(&self, kind: CollectiveKind) -> u64 {
        self.expected_ns[kind as usize]
    }

    /// Includes a wait in the expectation for its kind.
    pub(crate) fn learn(&mut self, kind: CollectiveKind, waited_ns: u64) {
        expectation::include(&mut self.expected_ns[kind as usize], waited_ns);
    }

    /// The number of the next instance.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns whether instances have been numbered that this rank has not entered yet.
    #[inline(always)]
    pub(crate) fn is_behind(&self) -> bool {
        self.entered != self.next
    }

    /// Numbers the next `count` instances and returns the first.
    pub(crate) fn reserve(&mut self, count: u64) -> Seq {
        let first = self.next;
        self.next += count;
        Seq(first)
    }

    /// Returns the number of the next collective that is posted to the node's agent.
    pub(crate) fn next_posted(&mut self) -> u64 {
        self.posted += 1;
        self.posted - 1
    }

    /// Returns whether instance `seq` may be entered now: it is the next one, the window is open, and there
    /// is room for `ring` bytes in this rank's ring and for `common` bytes in the common area.
    #[inline]
    pub(crate) fn may_enter(&mut self, board: &Board<Mapped>, seq: Seq, ring: usize, common: usize) -> bool {
        if seq.0 != self.entered {
            return false;
        }
        if seq.0 < self.all_left + WINDOW as u64 && ring == 0 && common == 0 {
            return true;
        }
        if self.fits(seq, ring, common) {
            return true;
        }
        self.all_left = board.all_left();
        let room = if self.is_open(seq) { Room::Memory } else { Room::Window };
        self.wants_room = (!self.fits(seq, ring, common)).then_some(WantsRoom { room, awaits_data: false });
        self.wants_room.is_none()
    }

    fn is_open(&self, seq: Seq) -> bool {
        seq.0 < self.all_left + WINDOW as u64
    }

    fn fits(&mut self, seq: Seq, ring: usize, common: usize) -> bool {
        self.is_open(seq)
            && (ring == 0 || self.ring.has_room(ring, self.all_left))
            && (common == 0 || self.common.has_room(common, self.all_left))
    }

    /// Records that the next instance has been entered.
    #[inline]
    pub(crate) fn note_entered(&mut self) {
        self.entered += 1;
        self.wants_room = None;
        self.may_go_ahead = false;
    }

    /// Leaves `seq`, and wakes ranks that wait for room.
    #[inline]
    pub(crate) fn leave(&mut self, board: &Board<Mapped>, me: usize, seq: Seq) {
        let before = self.left;
        if self.leave_quietly(board, me, seq) {
            board.notify_room(before, self.left);
        }
    }

    /// Leaves `seq` without waking any rank. Returns true if some rank may be waiting for that.
    #[inline]
    pub(crate) fn leave_quietly(&mut self, board: &Board<Mapped>, me: usize, seq: Seq) -> bool {
        if seq.0 != self.left {
            self.left_ahead |= 1 << (seq.0 - self.left);
            return false;
        }
        self.left += 1;
        self.left_ahead >>= 1;
        while self.left_ahead & 1 != 0 {
            self.left += 1;
            self.left_ahead >>= 1;
        }
        board.leave(me, self.left);
        true
    }

    // ---- by window position ----

    /// How many instances with counted arrivals there have been at the window position of `seq`.
    #[inline(always)]
    pub(crate) fn round(&self, seq: Seq) -> u64 {
        self.rounds[position(seq)]
    }

    /// Counts `seq` as one of them, before this rank arrives there, and returns the new count.
    #[inline(always)]
    pub(crate) fn next_round(&mut self, seq: Seq) -> u64 {
        let round = &mut self.rounds[position(seq)];
        *round += 1;
        *round
    }

    /// Whether this rank was the last to arrive at `seq`.
    pub(crate) fn was_last(&self, seq: Seq) -> bool {
        self.was_last & 1 << position(seq) != 0
    }

    /// Records whether this rank was the last to arrive at `seq`.
    pub(crate) fn note_last(&mut self, seq: Seq, is_last: bool) {
        self.was_last = self.was_last & !(1 << position(seq)) | u64::from(is_last) << position(seq);
    }

    /// The offset in the block of the common piece of `seq`.
    pub(crate) fn common_at(&self, seq: Seq) -> usize {
        self.common_at[position(seq)]
    }

    /// Allocates the common piece of `seq` and returns its offset in the block. There must be room.
    pub(crate) fn allocate_common(&mut self, geometry: &Geometry, seq: Seq, bytes: usize) -> usize {
        let at = geometry.common() + self.common.allocate(bytes, seq.0);
        self.common_at[position(seq)] = at;
        at
    }

    /// Allocates a piece of this rank's ring for `seq` and returns its offset in the block. There must be
    /// room.
    pub(crate) fn allocate_ring(&mut self, geometry: &Geometry, me: usize, seq: Seq, bytes: usize) -> usize {
        geometry.ring(me) + self.ring.allocate(bytes, seq.0)
    }
}

#[inline(always)]
fn position(seq: Seq) -> usize {
    seq.0 as usize % WINDOW
}

//! What changes from call to call on one communicator: the numbering of instances, the window, and the
//! room for data.
//!
//! A collective call consists of one or more *instances*, which all ranks number alike. A rank *enters*
//! an instance when it has published its deposit there, and *leaves* it when it will read no other
//! rank's deposit in it any more. At most [`WINDOW`] instances are under way at once; the position of
//! an instance in the window is its number modulo that.

use super::ring_allocator::RingAllocator;
use crate::barrier::counters::BarrierCounters;
use crate::copy::streaming::StreamingCopy;
use crate::record::tally::Tallies;
use evenkeel_record::OpRecord;
use evenkeel_segment::board::geometry::WINDOW;
use evenkeel_segment::{Board, Geometry, Mapped, Seq};
use evenkeel_spanning::CollectiveKind;

/// One rank's own state of one communicator.
pub struct State {
    /// Number of the next instance to be handed out.
    next: u64,
    /// Instances this rank has entered; they are entered in order.
    entered: u64,
    /// This rank has left all instances below; of later ones that it has left too, bit `n` of `left_ahead`
    /// stands for instance `left + n`.
    left: u64,
    left_ahead: u64,
    /// All ranks have left the instances below, as last looked up.
    all_left: u64,
    /// Instances with counted arrivals so far, per window position.
    rounds: [u64; WINDOW],
    /// One bit a window position: this rank was the last to arrive there.
    was_last: u64,
    /// Where the common piece of each window position lies.
    common_at: [usize; WINDOW],
    /// This rank's ring.
    pub(crate) ring: RingAllocator,
    /// The area that all ranks share, allocated alike by all.
    pub(crate) common: RingAllocator,
    /// How long waits lasted lately, per kind, in nanoseconds.
    expected_ns: [u64; CollectiveKind::COUNT],
    /// Scratch: the contributions of a reduction.
    pub(crate) sources: Vec<*const u8>,
    pub(crate) copies: StreamingCopy,
    /// The next instance cannot be entered before other ranks have left earlier ones.
    pub(crate) wants_room: bool,
    pub(crate) barriers: BarrierCounters,
    /// Collectives that have been posted to the node's agent.
    posted: u64,
    pub(crate) tallies: Tallies,
}

impl State {
    /// The state of a communicator on which nothing has been called.
    pub fn new(ranks: usize, geometry: &Geometry) -> State {
        State {
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
            wants_room: false,
            barriers: BarrierCounters::default(),
            posted: 0,
            tallies: Tallies::default(),
        }
    }

    /// What has been counted, by operation.
    pub fn records(&mut self) -> Vec<OpRecord> {
        self.barriers.settle(&mut self.tallies);
        self.tallies.records()
    }

    /// How long the next wait of a kind is expected to last.
    #[inline(always)]
    pub(crate) fn expected_ns(&self, kind: CollectiveKind) -> u64 {
        self.expected_ns[kind as usize]
    }

    /// Takes a wait into what is expected of the next ones of its kind.
    pub(crate) fn learn(&mut self, kind: CollectiveKind, waited_ns: u64) {
        let expected = &mut self.expected_ns[kind as usize];
        *expected = (*expected * 7 + waited_ns) / 8;
    }

    /// The number of the next instance.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether instances have been handed out that are not entered yet.
    #[inline(always)]
    pub(crate) fn is_behind(&self) -> bool {
        self.entered != self.next
    }

    /// Hands out the numbers of `count` instances.
    pub(crate) fn reserve(&mut self, count: u64) -> Seq {
        let first = self.next;
        self.next += count;
        Seq(first)
    }

    /// Hands out the number of the next collective that is posted to the node's agent.
    pub(crate) fn next_posted(&mut self) -> u64 {
        self.posted += 1;
        self.posted - 1
    }

    /// Whether instance `seq` may be entered now: it is the next one, the window is open, and there is room
    /// for `ring` bytes in this rank's ring and `common` bytes in the common area.
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
        self.wants_room = !self.fits(seq, ring, common);
        !self.wants_room
    }

    fn fits(&mut self, seq: Seq, ring: usize, common: usize) -> bool {
        seq.0 < self.all_left + WINDOW as u64
            && (ring == 0 || self.ring.has_room(ring, self.all_left))
            && (common == 0 || self.common.has_room(common, self.all_left))
    }

    /// The next instance has been entered.
    #[inline]
    pub(crate) fn note_entered(&mut self) {
        self.entered += 1;
        self.wants_room = false;
    }

    /// Leaves `seq`, and wakes ranks that wait for room.
    #[inline]
    pub(crate) fn leave(&mut self, board: &Board<Mapped>, me: usize, seq: Seq) {
        if self.leave_quietly(board, me, seq) {
            board.notify_room();
        }
    }

    /// Leaves `seq` without waking any rank; true if one may wait for that.
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

    /// Instances with counted arrivals so far at the window position of `seq`.
    #[inline(always)]
    pub(crate) fn round(&self, seq: Seq) -> u64 {
        self.rounds[position(seq)]
    }

    /// Counts `seq` among those, before this rank arrives there.
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

    /// Takes note whether this rank was the last to arrive at `seq`.
    pub(crate) fn note_last(&mut self, seq: Seq, is_last: bool) {
        self.was_last = self.was_last & !(1 << position(seq)) | u64::from(is_last) << position(seq);
    }

    /// Offset in the block of the common piece of `seq`.
    pub(crate) fn common_at(&self, seq: Seq) -> usize {
        self.common_at[position(seq)]
    }

    /// Allocates the common piece of `seq`, for which there is room; its offset in the block.
    pub(crate) fn allocate_common(&mut self, geometry: &Geometry, seq: Seq, bytes: usize) -> usize {
        let at = geometry.common() + self.common.allocate(bytes, seq.0);
        self.common_at[position(seq)] = at;
        at
    }

    /// Allocates a piece of this rank's ring for `seq`, for which there is room; its offset in the block.
    pub(crate) fn allocate_ring(&mut self, geometry: &Geometry, me: usize, seq: Seq, bytes: usize) -> usize {
        geometry.ring(me) + self.ring.allocate(bytes, seq.0)
    }
}

#[inline(always)]
fn position(seq: Seq) -> usize {
    seq.0 as usize % WINDOW
}

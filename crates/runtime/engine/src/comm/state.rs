//! What changes from call to call on one communicator: numbering, the window, room, what is under way.

use crate::barrier::central::Barriers;
use crate::collective::call::Kind;
use crate::comm::ring_allocator::Strip;
use crate::copy::streaming::Bulk;
use crate::nonblocking::request::Request;
use crate::record::tally::Tallies;
use evenkeel_record::OpRecord;
use evenkeel_segment::board::geometry::WINDOW;
use evenkeel_segment::{Board, Geometry, Mapped, Seq};

/// One rank's own state of one communicator.
pub struct State {
    /// Number of the next instance to be handed out.
    next: u64,
    /// Instances this rank has entered; they are entered in order.
    entered: u64,
    /// All instances below are done here; later ones that are done too have their bit set in `done_ahead`.
    done: u64,
    done_ahead: u64,
    /// Everybody has left the instances below, as last looked up.
    all_left: u64,
    /// Counted instances so far, per window position.
    pub rounds: [u64; WINDOW],
    /// One bit a window position: this rank was the last to arrive there.
    pub was_last: u64,
    /// Where the common piece of each window position lies.
    pub common_at: [usize; WINDOW],
    pub ring: Strip,
    pub common: Strip,
    /// How long waits lasted lately, per kind, in nanoseconds.
    pub expected_ns: [u64; Kind::COUNT],
    /// Nonblocking operations that are not complete, oldest first.
    pub active: Vec<*mut Request>,
    pub sources: Vec<*const u8>,
    pub bulk: Bulk,
    /// The next instance cannot be entered before others have left earlier ones.
    pub wants_room: bool,
    pub barriers: Barriers,
    /// Collectives across nodes that have been numbered.
    spanning_calls: u64,
    pub tallies: Tallies,
}

impl State {
    /// The number of the next collective across nodes.
    pub(crate) fn next_spanning_call(&mut self) -> u64 {
        self.spanning_calls += 1;
        self.spanning_calls - 1
    }

    pub fn round(&self, seq: Seq) -> u64 {
        self.rounds[seq.0 as usize % WINDOW]
    }

    pub fn new(ranks: usize, geometry: &Geometry) -> State {
        State {
            next: 0,
            entered: 0,
            done: 0,
            done_ahead: 0,
            all_left: 0,
            rounds: [0; WINDOW],
            was_last: 0,
            common_at: [0; WINDOW],
            ring: Strip::new(geometry.ring_bytes),
            common: Strip::new(geometry.common_bytes),
            expected_ns: [0; Kind::COUNT],
            active: Vec::new(),
            sources: Vec::with_capacity(ranks),
            bulk: Bulk::default(),
            wants_room: false,
            barriers: Barriers::default(),
            spanning_calls: 0,
            tallies: Tallies::default(),
        }
    }

    /// What has been counted, by operation.
    pub fn records(&mut self) -> Vec<OpRecord> {
        self.barriers.settle(&mut self.tallies);
        self.tallies.records()
    }

    /// Takes a wait into what is expected of the next ones of its kind.
    pub fn learn(&mut self, kind: Kind, waited_ns: u64) {
        let expected = &mut self.expected_ns[kind as usize];
        *expected = (*expected * 7 + waited_ns) / 8;
    }

    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether instances have been handed out that are not entered yet.
    #[inline(always)]
    pub fn is_behind(&self) -> bool {
        self.entered != self.next
    }

    /// Hands out the numbers of `count` instances.
    pub fn reserve(&mut self, count: u64) -> Seq {
        let first = self.next;
        self.next += count;
        Seq(first)
    }

    /// Whether instance `seq` may be entered now: it is the next one, the window is open, and both strips
    /// have room.
    #[inline]
    pub fn may_enter(&mut self, board: &Board<Mapped>, seq: Seq, ring: usize, common: usize) -> bool {
        if seq.0 != self.entered {
            return false;
        }
        if seq.0 < self.all_left + WINDOW as u64 && ring == 0 && common == 0 {
            return true;
        }
        let fits = |state: &mut State| {
            seq.0 < state.all_left + WINDOW as u64
                && (ring == 0 || state.ring.has_room(ring, state.all_left))
                && (common == 0 || state.common.has_room(common, state.all_left))
        };
        if fits(self) {
            return true;
        }
        self.all_left = board.all_left();
        self.wants_room = !fits(self);
        !self.wants_room
    }

    #[inline]
    pub fn note_entered(&mut self) {
        self.entered += 1;
        self.wants_room = false;
    }

    /// This rank is through with `seq`: it will read nobody's deposit there any more.
    #[inline]
    pub fn finish(&mut self, board: &Board<Mapped>, me: usize, seq: Seq) {
        if self.leave(board, me, seq) {
            board.notify_room();
        }
    }

    /// As `finish`, but wakes nobody; true if somebody may have waited for that.
    #[inline]
    pub(crate) fn leave(&mut self, board: &Board<Mapped>, me: usize, seq: Seq) -> bool {
        if seq.0 != self.done {
            self.done_ahead |= 1 << (seq.0 - self.done);
            return false;
        }
        self.done += 1;
        self.done_ahead >>= 1;
        while self.done_ahead & 1 != 0 {
            self.done += 1;
            self.done_ahead >>= 1;
        }
        board.leave(me, self.done);
        true
    }
}

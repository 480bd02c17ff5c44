//! The agent's seat in the part of a communicator on its node: what it takes in from the ranks there,
//! and what it gives them.
//!
//! The agent takes its turns in the order in which the ranks have called, but what it has to give may
//! come later and in another order. So it first *claims* a turn, with room for what it will hand in,
//! and hands in when it can. Nobody waits in a turn for an earlier one.
//!
//! Whom it has news for is woken later ([`Seat::announce`]): who is woken may take the agent's core for
//! a time slice, and other nodes are to have theirs before.

use super::comm::part;
use super::description::Description;
use super::nodes::INHERITED;
use super::orders::{NewComm, Setup};
use crate::clock::Ticks;
use crate::collective::call::{Call, Combine, Kind};
use crate::collective::deposit::{self, Piece};
use crate::collective::plan::NodeFacts;
use crate::comm::communicator::Comm;
use crate::comm::shared::Served;
use crate::job::node::{Neighbour, World};
use crate::record::tally::Timeline;
use crate::reduction::fold::fold;
use crate::wait::policy::{Policy, Waiting};
use evenkeel_segment::block::Block;
use evenkeel_segment::board::geometry::CELL_BYTES;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::{Segment, Seq};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::OnceLock;

/// A member of a communicator's part on one node: the agent, or a rank by its seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    Agent,
    Rank(usize),
}

/// One collective among the ranks here and the agent, which the agent has its place in.
#[derive(Debug)]
pub struct Turn {
    seq: Seq,
    /// Which arrival of its window position, where arrivals are counted.
    round: u64,
    /// Where what is handed in goes, if not into the cell: in the ring, or in the common area.
    room_at: usize,
    from_common: bool,
}

/// The agent in one communicator's part.
pub struct Seat {
    comm: Arc<Comm>,
    /// Collectives taken from the docket.
    taken: u64,
    news: News,
}

/// What the ranks here have not been woken for yet.
#[derive(Default)]
struct News {
    /// Something has been handed in, or taken from a full docket.
    any: Cell<bool>,
    /// Turns have been left.
    room: Cell<bool>,
    /// So many barriers have been entered; 0: none since.
    barriers: Cell<u64>,
}

impl Seat {
    /// Takes the agent's seats in a communicator's part: for blocking collectives, and for nonblocking
    /// ones. None: there is no room for the second.
    pub fn take(world: &'static World, told: &NewComm) -> Option<[Seat; 2]> {
        let comm = part(world, Block::from_id(told.block)?, &told.members, told.members.len());
        let companion = Arc::clone(comm.companion()?);
        Some([comm, companion].map(|comm| Seat { comm, taken: 0, news: News::default() }))
    }

    fn served(&self) -> &Served {
        self.comm.served.as_ref().expect("a part is served")
    }

    /// How many ranks are here.
    pub fn ranks(&self) -> usize {
        self.comm.ranks - 1
    }

    // ---- the docket
    // -----------------------------------------------------------------------------------------------

    /// The next collective that a rank has called, if any; `Err` if what stands there is none.
    pub fn next_on_docket(&self) -> Option<Result<Description, [u64; 2]>> {
        self.served()
            .board
            .call_queue()
            .posted(self.taken)
            .map(|words| Description::from_words(words).ok_or(words))
    }

    /// Says that it has been taken up.
    pub fn taken_up(&mut self) {
        self.taken += 1;
        let board = &self.served().board;
        board.call_queue().take(self.taken);
        if board.call_queue().is_room_awaited(self.taken) {
            self.news.any.set(true);
        }
    }

    // ---- turns
    // ----------------------------------------------------------------------------------------------------

    /// Claims the next turn: a collective of this kind with this root, of which all know `bytes`, with room
    /// for `handed_in` by the agent. None: not yet.
    pub fn claim(&self, kind: Kind, root: Member, bytes: usize, handed_in: usize) -> Option<Turn> {
        let (served, comm) = (self.served(), &self.comm);
        let board = &served.board;
        comm.with(|state| {
            let common = if kind == Kind::Bcast && bytes > CELL_BYTES { bytes } else { 0 };
            let ring = if common == 0 && handed_in > CELL_BYTES { handed_in } else { 0 };
            let seq = Seq(state.next());
            if !state.may_enter(board, seq, ring, common) {
                return None;
            }
            state.reserve(1);
            let room_at = if common > 0 {
                board.geometry.common() + state.common.take(common, seq.0)
            } else if ring > 0 {
                board.geometry.ring(comm.me) + state.ring.take(ring, seq.0)
            } else {
                0
            };
            state.note_entered();
            let mut round = 0;
            if kind.is_counted() && comm.ranks > 2 {
                let slot = seq.0 as usize % state.rounds.len();
                state.rounds[slot] += 1;
                round = state.rounds[slot];
                // Who only takes in arrives at once; who hands in does so with that.
                if root == Member::Agent && board.arrive(comm.me, seq, round) {
                    self.news.any.set(true);
                }
            }
            Some(Turn { seq, round, room_at, from_common: common > 0 })
        })
    }

    /// Hands in what the turn was claimed for, and leaves it.
    pub fn hand_in(&self, turn: &Turn, bytes: &[u8]) {
        let (board, me) = (&self.served().board, self.comm.me);
        // SAFETY: the turn's claim gave the cell, and the room if that is too small; nobody reads them before
        // they are published.
        unsafe { deposit::hand_in(board, me, turn.seq, turn.room_at, bytes) };
        board.publish(me, turn.seq);
        if turn.round > 0 {
            board.arrive(me, turn.seq, turn.round);
        }
        self.news.any.set(true);
        self.leave(turn);
    }

    /// Whether all ranks here have handed in.
    pub fn is_full(&self, turn: &Turn) -> bool {
        let board = &self.served().board;
        if turn.round > 0 { board.all_arrived(turn.seq, turn.round) } else { board.is_published(0, turn.seq) }
    }

    /// Whether a rank has handed in.
    pub fn has_from(&self, turn: &Turn, rank: usize) -> bool {
        self.served().board.is_published(rank, turn.seq)
    }

    /// Combines what all ranks here have handed in, in their order, and leaves the turn.
    pub fn take_combined(&self, turn: &Turn, combine: Combine, width: usize, into: &mut [u8]) {
        let board = &self.served().board;
        let sources: Vec<*const u8> =
            (0..self.ranks()).map(|rank| Piece::of(board, rank, turn.seq).pointer.cast_const()).collect();
        let call = Call {
            kind: Kind::Reduce as u32,
            root: 0,
            bytes: into.len(),
            send: std::ptr::null(),
            recv: into.as_mut_ptr(),
            send_spans: std::ptr::null(),
            recv_spans: std::ptr::null(),
            combine: Some(combine),
            combine_context: std::ptr::null_mut(),
            elem_bytes: width,
        };
        // SAFETY: the turn is full: all deposits are there, of the length that all ranks know, until the
        // agent leaves.
        unsafe { fold(&call, &sources, into.as_mut_ptr(), into.len() / width) };
        self.leave(turn);
    }

    /// Puts what each of the ranks here has handed in, of `bytes` each, one after the other, and leaves the
    /// turn.
    pub fn take_all(&self, turn: &Turn, bytes: usize, into: &mut [u8]) {
        if bytes > 0 {
            for (rank, place) in into.chunks_exact_mut(bytes).take(self.ranks()).enumerate() {
                place.copy_from_slice(self.bytes_of(&Piece::of(&self.served().board, rank, turn.seq), bytes));
            }
        }
        self.leave(turn);
    }

    /// Puts what the ranks here have handed in, as much as each has, one after the other, and leaves the
    /// turn.
    pub fn take_each(&self, turn: &Turn, into: &mut [u8]) {
        let mut rest = into;
        for rank in 0..self.ranks() {
            let piece = Piece::of(&self.served().board, rank, turn.seq);
            // Ranks that have more than they have told each other are in error; nothing beyond what was told
            // is taken.
            let (place, others) = rest.split_at_mut(piece.bytes.min(rest.len()));
            place.copy_from_slice(self.bytes_of(&piece, place.len()));
            rest = others;
        }
        self.leave(turn);
    }

    /// What the root of a broadcast has handed in, so many bytes; leaves the turn.
    pub fn take_broadcast(&self, turn: &Turn, root: usize, bytes: usize) -> Vec<u8> {
        let board = &self.served().board;
        let taken = if turn.from_common {
            // SAFETY: the root has published it, at the place that all find alike.
            unsafe { std::slice::from_raw_parts(board.memory.pointer(turn.room_at), bytes) }.to_vec()
        } else {
            self.bytes_of(&Piece::of(board, root, turn.seq), bytes).to_vec()
        };
        self.leave(turn);
        taken
    }

    /// The agent's part of what the root of a scatter has handed in; leaves the turn.
    pub fn take_part(&self, turn: &Turn, root: usize, into: &mut [u8]) {
        let piece = Piece::of(&self.served().board, root, turn.seq).entry(self.comm.me);
        into.copy_from_slice(self.bytes_of(&piece, into.len()));
        self.leave(turn);
    }

    /// Leaves a turn of which the agent needs nothing.
    pub fn pass(&self, turn: &Turn) {
        self.leave(turn);
    }

    fn bytes_of<'a>(&'a self, piece: &Piece, bytes: usize) -> &'a [u8] {
        if bytes == 0 {
            return &[];
        }
        assert!(
            !piece.pointer.is_null() && piece.bytes >= bytes,
            "{} bytes were handed in where {bytes} are due",
            piece.bytes
        );
        // SAFETY: published, in the segment, and not written again before the agent leaves.
        unsafe { std::slice::from_raw_parts(piece.pointer, bytes) }
    }

    fn leave(&self, turn: &Turn) {
        if self.comm.with(|state| state.leave(&self.served().board, self.comm.me, turn.seq)) {
            self.news.room.set(true);
        }
    }

    /// Wakes the ranks here that sleep for what has been done since the last time.
    pub fn announce(&self) {
        let News { any, room, barriers } = &self.news;
        let (any, room, barriers) = (any.take(), room.take(), barriers.take());
        let board = &self.served().board;
        if any {
            board.notify();
            return;
        }
        if room {
            board.notify_room();
        }
        if barriers > 0 {
            board.notify_entry(barriers - 1);
        }
    }

    // ---- barriers
    // -------------------------------------------------------------------------------------------------

    /// How many barriers all ranks here have entered.
    pub fn entered_here(&self) -> u64 {
        let board = &self.served().board;
        (0..self.ranks()).map(|rank| board.entered(rank)).min().unwrap_or(0)
    }

    /// Enters all barriers below `count`, for all that is elsewhere.
    pub fn enter_barriers(&self, count: u64) {
        let board = &self.served().board;
        board.enter_barrier(self.comm.me, count - 1, 0);
        self.news.barriers.set(count);
    }

    // ---- the end
    // --------------------------------------------------------------------------------------------------

    /// Marks the communicator as revoked for the ranks here.
    pub fn revoke(&self) {
        self.comm.revoke();
    }

    /// Gives the seat up.
    pub fn give_up(self) {
        let served = self.served();
        served.world.blocks().drop_reference(served.block, &served.board.geometry);
    }
}

/// The world as the agent of a node has it, in the segment that it has inherited.
pub fn world_of_agent(setup: &Setup) -> Result<&'static World, String> {
    let segment =
        Segment::open(std::process::id(), INHERITED[0], setup.token).map_err(|error| error.to_string())?;
    let (ranks, here) = (setup.ranks as usize, setup.here.len());
    let mut local = vec![None; ranks + 1];
    setup.here.iter().enumerate().for_each(|(place, (rank, _))| local[*rank as usize] = Some(place));
    local[ranks] = Some(here);
    let neighbours = setup
        .here
        .iter()
        .map(|(rank, pid)| Neighbour { world_rank: *rank as usize, pid: *pid, watched: OnceLock::new() })
        .collect();
    Ok(crate::job::node::enter(World {
        segment,
        me: ranks,
        ranks,
        local,
        neighbours,
        my_place: here,
        facts: NodeFacts { cores: 1, direct_reads: false },
        fencing: Fencing::Both,
        enters_unfenced: false,
        waiting: Waiting { policy: Policy::Auto, ranks: here, cores: 1, yield_works: true },
        patience_ns: u64::MAX,
        threaded: false,
        recording: false,
        began: Ticks::now(),
        began_cpu_ns: 0,
        timeline: Timeline::default(),
        table: None,
        job: OnceLock::new(),
        reports_faults: OnceLock::new(),
    }))
}

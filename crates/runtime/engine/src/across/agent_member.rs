//! The agent's seat in the part of a communicator on its node: what it takes in from the ranks there,
//! and what it gives them.
//!
//! The agent takes its turns in the order in which the ranks have called, but what it has to give may
//! come later and in another order. So it first *claims* a turn, with room for what it will hand in,
//! and hands in when it can. Nobody waits in a turn for an earlier one.
//!
//! Whom it has news for is woken later ([`Seat::announce`]): who is woken may take the agent's core for
//! a time slice, and other nodes are to have theirs before.

use super::commands::{NewComm, Setup};
use super::communicator::part;
use super::nodes::INHERITED;
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
use evenkeel_spanning::{LocalCollective, LocalMember, PieceDescription};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::OnceLock;

/// One collective among the ranks here and the agent, which the agent has its place in.
#[derive(Debug)]
pub struct Turn {
    collective: LocalCollective,
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
    pub fn next_on_docket(&self) -> Option<Result<PieceDescription, [u64; 2]>> {
        self.served()
            .board
            .call_queue()
            .posted(self.taken)
            .map(|words| PieceDescription::from_words(words).ok_or(words))
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

    /// Claims the next turn, which is this collective, with room for what the agent contributes. None: not
    /// yet.
    pub fn claim(&self, collective: LocalCollective) -> Option<Turn> {
        let LocalCollective { kind, root, bytes, from_agent, .. } = collective;
        let (served, comm) = (self.served(), &self.comm);
        let board = &served.board;
        comm.with(|state| {
            let common = if kind == Kind::Bcast && bytes > CELL_BYTES { bytes } else { 0 };
            let ring = if common == 0 && from_agent > CELL_BYTES { from_agent } else { 0 };
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
                if root == LocalMember::Agent && board.arrive(comm.me, seq, round) {
                    self.news.any.set(true);
                }
            }
            Some(Turn { collective, seq, round, room_at, from_common: common > 0 })
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

    /// Whether everything that the agent gets has been contributed.
    pub fn is_ready(&self, turn: &Turn) -> bool {
        let board = &self.served().board;
        match (turn.collective.kind, turn.collective.root) {
            (Kind::Bcast | Kind::Scatterv, LocalMember::Rank(root)) => board.is_published(root, turn.seq),
            (Kind::Scan | Kind::Exscan, _) => {
                (0..self.ranks()).all(|rank| board.is_published(rank, turn.seq))
            }
            _ if turn.round > 0 => board.all_arrived(turn.seq, turn.round),
            _ => board.is_published(0, turn.seq),
        }
    }

    /// What the agent gets, once [`Seat::is_ready`]; leaves the turn. `operator`: of a reduction, with bytes
    /// of an element. `capacity`: how much room to make for what is going to follow.
    pub fn collect(&self, turn: &Turn, operator: Option<(Combine, usize)>, capacity: usize) -> Vec<u8> {
        let mut into = Vec::with_capacity(capacity);
        let LocalCollective { kind, root, bytes, to_agent, .. } = turn.collective;
        match (kind, root) {
            (Kind::Bcast, LocalMember::Rank(root)) => self.collect_broadcast(turn, root, bytes, &mut into),
            (Kind::Scatterv, LocalMember::Rank(root)) => {
                let piece = self.contribution(root, turn).entry(self.comm.me);
                into.extend_from_slice(self.bytes_of(&piece, to_agent));
            }
            (Kind::Reduce | Kind::Scan | Kind::Exscan, _) => {
                into.resize(to_agent, 0);
                self.combine(turn, operator.expect("reductions have an operator that all know"), &mut into);
            }
            // Each rank as much as it has. Ranks that have more than they have told each other are in error;
            // nothing beyond what was told is taken.
            _ if bytes == 0 => (0..self.ranks()).for_each(|rank| {
                let piece = self.contribution(rank, turn);
                into.extend_from_slice(self.bytes_of(&piece, piece.bytes.min(to_agent - into.len())));
            }),
            _ => (0..self.ranks()).for_each(|rank| {
                into.extend_from_slice(self.bytes_of(&self.contribution(rank, turn), bytes));
            }),
        }
        self.leave(turn);
        into
    }

    fn contribution(&self, rank: usize, turn: &Turn) -> Piece {
        Piece::of(&self.served().board, rank, turn.seq)
    }

    fn collect_broadcast(&self, turn: &Turn, root: usize, bytes: usize, into: &mut Vec<u8>) {
        if turn.from_common {
            let common = self.served().board.memory.pointer(turn.room_at);
            // SAFETY: the root has published it, at the place that all find alike.
            into.extend_from_slice(unsafe { std::slice::from_raw_parts(common, bytes) });
        } else {
            into.extend_from_slice(self.bytes_of(&self.contribution(root, turn), bytes));
        }
    }

    /// Combines what all ranks here have contributed, in their order.
    fn combine(&self, turn: &Turn, (combine, width): (Combine, usize), into: &mut [u8]) {
        let sources: Vec<*const u8> =
            (0..self.ranks()).map(|rank| self.contribution(rank, turn).pointer.cast_const()).collect();
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
        // SAFETY: all deposits are there, of the length that all ranks know, until the agent leaves.
        unsafe { fold(&call, &sources, into.as_mut_ptr(), into.len() / width) };
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

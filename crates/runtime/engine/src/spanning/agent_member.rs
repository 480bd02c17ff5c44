//! The agent as a member of a communicator's part on its node: what it gets from the ranks there, and what it
//! gives them.
//!
//! The agent takes part in collectives in the order in which the ranks have called them, but what it has to
//! contribute may come later and in another order. So it first *claims* an instance, with room for its
//! contribution, and contributes when it can. No collective waits for an earlier one.
//!
//! Wake-ups are batched until [`AgentMember::announce`]: a woken rank may occupy the agent's core for a whole
//! time slice, so messages to other nodes are sent first.

use crate::collective::call::{Call, Combine, Kind};
use crate::collective::deposit::{self, Piece};
use crate::comm::shared::Served;
use crate::communicator::node::Comm;
use crate::communicator::spanning::part;
use crate::job::agent_commands::NewCommunicator;
use crate::job::node::World;
use crate::reduction::fold::fold;
use evenkeel_segment::Seq;
use evenkeel_segment::block::Block;
use evenkeel_segment::board::geometry::CELL_BYTES;
use evenkeel_spanning::{LocalCollective, LocalMember, PieceDescription};
use std::cell::Cell;
use std::sync::Arc;

/// The agent as a member of one communicator, for its blocking or for its nonblocking collectives.
pub struct AgentMember {
    comm: Arc<Comm>,
    /// How many collectives have been taken from the call queue.
    taken: u64,
    pending: PendingWakeUps,
}

/// A collective among the ranks here and the agent, in which the agent has its place.
#[derive(Debug)]
pub struct ClaimedInstance {
    collective: LocalCollective,
    seq: Seq,
    /// The how-manieth use of its window position this is, where arrivals are counted; 0 where not.
    round: u64,
    /// Where the agent's contribution goes if it is too large for the cell: in the ring, or in the common
    /// area.
    room_at: usize,
    is_in_common_area: bool,
}

/// What the ranks here have not been woken for yet.
#[derive(Default)]
struct PendingWakeUps {
    /// The agent has contributed, or made room in a full call queue.
    contribution: Cell<bool>,
    /// The agent has left instances, so that their window positions may be free.
    room: Cell<bool>,
    /// The agent has entered so many barriers; 0: none since.
    barriers: Cell<u64>,
}

impl AgentMember {
    /// Joins a communicator: for its blocking collectives, and for its nonblocking ones. None if the segment
    /// has no room for the second.
    pub fn join(world: &'static World, new: &NewCommunicator) -> Option<[AgentMember; 2]> {
        let comm = part(world, Block::from_id(new.block)?, &new.members, new.members.len());
        let companion = Arc::clone(comm.companion()?);
        let member = |comm| AgentMember { comm, taken: 0, pending: PendingWakeUps::default() };
        Some([comm, companion].map(member))
    }

    fn served(&self) -> &Served {
        self.comm.served.as_ref().expect("the part of a communicator on a node is served by its segment")
    }

    /// How many ranks are here.
    pub fn ranks(&self) -> usize {
        self.comm.ranks - 1
    }

    /// The next collective that a rank has called, if any.
    ///
    /// # Errors
    /// If what was posted describes no collective: the words.
    pub fn next_call(&self) -> Option<Result<PieceDescription, [u64; 2]>> {
        let words = self.served().board.call_queue().posted(self.taken)?;
        Some(PieceDescription::from_words(words).ok_or(words))
    }

    /// Takes the next collective from the call queue.
    pub fn take_call(&mut self) {
        self.taken += 1;
        let queue = self.served().board.call_queue();
        queue.take(self.taken);
        if queue.is_room_awaited(self.taken) {
            self.pending.contribution.set(true);
        }
    }

    /// Claims the next instance, which is of this collective, with room for what the agent contributes. None:
    /// there is no room yet.
    pub fn claim(&self, collective: LocalCollective) -> Option<ClaimedInstance> {
        let LocalCollective { kind, root, bytes, from_agent, .. } = collective;
        let (board, comm) = (&self.served().board, &self.comm);
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
                let position = seq.0 as usize % state.rounds.len();
                state.rounds[position] += 1;
                round = state.rounds[position];
                // As the root the agent only gets something, and arrives at once. Otherwise it arrives
                // with its contribution.
                if root == LocalMember::Agent && board.arrive(comm.me, seq, round) {
                    self.pending.contribution.set(true);
                }
            }
            Some(ClaimedInstance { collective, seq, round, room_at, is_in_common_area: common > 0 })
        })
    }

    /// Contributes what the instance was claimed for, and leaves it.
    pub fn contribute(&self, claimed: ClaimedInstance, bytes: &[u8]) {
        let (board, me) = (&self.served().board, self.comm.me);
        // SAFETY: the claim gave the cell, and room if that is too small; no rank reads them before they are
        // published.
        unsafe { deposit::hand_in(board, me, claimed.seq, claimed.room_at, bytes) };
        board.publish(me, claimed.seq);
        if claimed.round > 0 {
            board.arrive(me, claimed.seq, claimed.round);
        }
        self.pending.contribution.set(true);
        self.leave(claimed);
    }

    /// Whether everything that the agent gets has been contributed.
    pub fn is_ready(&self, claimed: &ClaimedInstance) -> bool {
        let (board, seq) = (&self.served().board, claimed.seq);
        match (claimed.collective.kind, claimed.collective.root) {
            (Kind::Bcast | Kind::Scatterv, LocalMember::Rank(root)) => board.is_published(root, seq),
            (Kind::Scan | Kind::Exscan, _) => (0..self.ranks()).all(|rank| board.is_published(rank, seq)),
            _ if claimed.round > 0 => board.all_arrived(seq, claimed.round),
            _ => board.is_published(0, seq),
        }
    }

    /// What the agent gets, once [`AgentMember::is_ready`]; leaves the instance.
    ///
    /// * `operator`: of a reduction, with bytes of an element.
    /// * `capacity`: how many bytes the result has to have room for.
    pub fn collect(
        &self,
        claimed: ClaimedInstance,
        operator: Option<(Combine, usize)>,
        capacity: usize,
    ) -> Vec<u8> {
        let mut into = Vec::with_capacity(capacity);
        let LocalCollective { kind, root, bytes, to_agent, .. } = claimed.collective;
        let ranks = 0..self.ranks();
        match (kind, root) {
            (Kind::Bcast, LocalMember::Rank(root)) => {
                self.collect_broadcast(&claimed, root, bytes, &mut into)
            }
            (Kind::Scatterv, LocalMember::Rank(root)) => {
                let piece = self.contribution(root, &claimed).entry(self.comm.me);
                into.extend_from_slice(self.bytes_of(&piece, to_agent));
            }
            (Kind::Reduce | Kind::Scan | Kind::Exscan, _) => {
                into.resize(to_agent, 0);
                let operator = operator.expect("agents carry reductions whose operator they know");
                self.combine(&claimed, operator, &mut into);
            }
            // Blocks of unequal length. A rank that has more than all have been told is in error; nothing
            // beyond that is taken.
            _ if bytes == 0 => ranks.for_each(|rank| {
                let piece = self.contribution(rank, &claimed);
                into.extend_from_slice(self.bytes_of(&piece, piece.bytes.min(to_agent - into.len())));
            }),
            _ => ranks.for_each(|rank| {
                into.extend_from_slice(self.bytes_of(&self.contribution(rank, &claimed), bytes));
            }),
        }
        self.leave(claimed);
        into
    }

    fn collect_broadcast(&self, claimed: &ClaimedInstance, root: usize, bytes: usize, into: &mut Vec<u8>) {
        if claimed.is_in_common_area {
            let common = self.served().board.memory.pointer(claimed.room_at);
            // SAFETY: the root has published so many bytes there: all members work the place out alike.
            into.extend_from_slice(unsafe { std::slice::from_raw_parts(common, bytes) });
        } else {
            into.extend_from_slice(self.bytes_of(&self.contribution(root, claimed), bytes));
        }
    }

    /// Combines what the ranks here have contributed, in rank order.
    fn combine(&self, claimed: &ClaimedInstance, (combine, width): (Combine, usize), into: &mut [u8]) {
        let sources: Vec<*const u8> =
            (0..self.ranks()).map(|rank| self.contribution(rank, claimed).pointer.cast_const()).collect();
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
            materialize: None,
            materialize_context: std::ptr::null_mut(),
        };
        // SAFETY: all deposits are there, of the length that all ranks know, until the agent leaves.
        unsafe { fold(&call, &sources, into.as_mut_ptr(), into.len() / width) };
    }

    fn contribution(&self, rank: usize, claimed: &ClaimedInstance) -> Piece {
        Piece::of(&self.served().board, rank, claimed.seq)
    }

    fn bytes_of<'a>(&'a self, piece: &Piece, bytes: usize) -> &'a [u8] {
        if bytes == 0 {
            return &[];
        }
        assert!(
            !piece.pointer.is_null() && piece.bytes >= bytes,
            "a rank has contributed {} bytes where {bytes} were due",
            piece.bytes
        );
        // SAFETY: published, in the segment, and not written again before the agent leaves.
        unsafe { std::slice::from_raw_parts(piece.pointer, bytes) }
    }

    /// Leaves an instance without taking anything from it.
    pub fn leave(&self, claimed: ClaimedInstance) {
        if self.comm.with(|state| state.leave(&self.served().board, self.comm.me, claimed.seq)) {
            self.pending.room.set(true);
        }
    }

    /// How many barriers all ranks here have entered.
    pub fn barriers_entered(&self) -> u64 {
        let board = &self.served().board;
        (0..self.ranks()).map(|rank| board.entered(rank)).min().unwrap_or(0)
    }

    /// Enters all barriers below `count` in the name of all ranks on other nodes.
    pub fn enter_barriers(&self, count: u64) {
        self.served().board.enter_barrier(self.comm.me, count - 1, 0);
        self.pending.barriers.set(count);
    }

    /// Wakes the ranks here that sleep for what has been done since the last time.
    pub fn announce(&self) {
        let PendingWakeUps { contribution, room, barriers } = &self.pending;
        let (contribution, room, barriers) = (contribution.take(), room.take(), barriers.take());
        let board = &self.served().board;
        if contribution {
            board.notify(); // wakes those that sleep for the others as well
            return;
        }
        if room {
            board.notify_room();
        }
        if barriers > 0 {
            board.notify_entry(barriers - 1);
        }
    }

    /// Marks the communicator as revoked for the ranks here.
    pub fn revoke(&self) {
        self.comm.revoke();
    }

    /// Gives its place in the communicator up.
    pub fn resign(self) {
        let served = self.served();
        served.world.blocks().drop_reference(served.block, &served.board.geometry);
    }
}

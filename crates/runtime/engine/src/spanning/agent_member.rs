//! The agent as a member of a communicator's part on its node: what it receives from the ranks there, and
//! what it contributes.
//!
//! The agent takes part in collectives in the order in which the ranks have called them, but the data that
//! it has to contribute may come later and in another order. So it first *claims* an instance, with room
//! for its contribution, and contributes when it can. No collective waits for an earlier one.
//!
//! Wake-ups are batched until [`AgentMember::announce`]: a woken rank may occupy the agent's core for a
//! whole time slice, so messages to other nodes are sent first.

use crate::collective::call::{Call, CollectiveKind as Kind, Combine};
use crate::collective::deposit;
use crate::collective::piece::Piece;
use crate::comm::part::NodePart;
use crate::comm::shared::Shared;
use crate::job::agent_commands::NewCommunicator;
use crate::job::node::Node;
use crate::reduction::fold::fold;
use evenkeel_segment::block::Block;
use evenkeel_segment::board::geometry::CELL_BYTES;
use evenkeel_segment::{Board, Mapped, Seq};
use evenkeel_spanning::{LocalCollective, LocalMember, PieceDescription};
use std::cell::Cell;

/// The agent as a member of one communicator, for its blocking or for its nonblocking collectives.
pub struct AgentMember {
    part: NodePart,
    /// How many collectives have been taken from the call queue.
    taken: u64,
    pending: PendingWakeUps,
}

/// A collective among the ranks here and the agent, for which the agent has reserved its instance.
#[derive(Debug)]
pub struct ClaimedInstance {
    collective: LocalCollective,
    seq: Seq,
    /// How often the window position has been used, including this instance, if arrivals are counted; else
    /// 0.
    round: u64,
    /// Where the agent's contribution goes if it is too large for the cell: an offset in the ring or in the
    /// common area.
    room_at: usize,
    is_in_common_area: bool,
}

/// Reasons to wake ranks here that have not been announced yet.
#[derive(Default)]
struct PendingWakeUps {
    /// The agent has contributed to a collective, or has made room in a full call queue.
    contribution: Cell<bool>,
    /// The agent has left instances, so that their window positions may be free.
    room: Cell<bool>,
    /// How many barriers the agent has entered in total, if it has entered any since the last announcement;
    /// else 0.
    barriers: Cell<u64>,
}

impl AgentMember {
    /// Joins a communicator: once for its blocking collectives, and once for its nonblocking ones. Returns
    /// `None` if the segment has no room for the second part.
    pub fn join(node: &'static Node, new: &NewCommunicator) -> Option<[AgentMember; 2]> {
        let shared = Shared::of_members_and_agent(node, Block::from_id(new.block)?, &new.members);
        let companion = shared.companion()?;
        let me = new.members.len();
        Some([shared, companion].map(|shared| AgentMember {
            part: NodePart::new(shared, me),
            taken: 0,
            pending: PendingWakeUps::default(),
        }))
    }

    fn board(&self) -> &Board<Mapped> {
        &self.part.shared.board
    }

    /// How many ranks of the communicator are on this node.
    pub fn ranks(&self) -> usize {
        self.part.ranks - 1
    }

    /// Returns the next collective that a rank has called, if there is one.
    ///
    /// # Errors
    /// The posted words, if they do not describe a collective.
    pub fn next_call(&self) -> Option<Result<PieceDescription, [u64; 2]>> {
        let words = self.board().call_queue().posted(self.taken)?;
        Some(PieceDescription::from_words(words).ok_or(words))
    }

    /// Removes the next collective from the call queue.
    pub fn take_call(&mut self) {
        self.taken += 1;
        let queue = self.board().call_queue();
        queue.take(self.taken);
        if queue.is_room_awaited(self.taken) {
            self.pending.contribution.set(true);
        }
    }

    /// Claims the next instance for this collective, with room for the agent's contribution. Returns `None`
    /// if there is no room yet.
    pub fn claim(&self, collective: LocalCollective) -> Option<ClaimedInstance> {
        let LocalCollective { kind, root, bytes, from_agent, .. } = collective;
        let (board, part) = (self.board(), &self.part);
        part.with(|state| {
            let common = if kind == Kind::Bcast && bytes > CELL_BYTES { bytes } else { 0 };
            let ring = if common == 0 && from_agent > CELL_BYTES { from_agent } else { 0 };
            let seq = Seq(state.next());
            if !state.may_enter(board, seq, ring, common) {
                return None;
            }
            state.reserve(1);
            let room_at = if common > 0 {
                state.allocate_common(&board.geometry, seq, common)
            } else if ring > 0 {
                state.allocate_ring(&board.geometry, part.me, seq, ring)
            } else {
                0
            };
            state.note_entered();
            let mut round = 0;
            if kind.is_counted() && part.ranks > 2 {
                round = state.next_round(seq);
                // As the root the agent only receives, so it arrives at once. Otherwise it arrives with its
                // contribution.
                if root == LocalMember::Agent && board.arrive(part.me, seq, round) {
                    self.pending.contribution.set(true);
                }
            }
            Some(ClaimedInstance { collective, seq, round, room_at, is_in_common_area: common > 0 })
        })
    }

    /// Contributes `bytes` to a claimed instance, and leaves it.
    pub fn contribute(&self, claimed: ClaimedInstance, bytes: &[u8]) {
        let (board, me) = (self.board(), self.part.me);
        // SAFETY: the claim reserved the cell, and room in case it is too small. No rank reads them before
        // they are published.
        unsafe {
            deposit::write_bytes(board, me, claimed.seq, claimed.collective.kind, claimed.room_at, bytes)
        };
        board.publish(me, claimed.seq);
        if claimed.round > 0 {
            board.arrive(me, claimed.seq, claimed.round);
        }
        self.pending.contribution.set(true);
        self.leave(claimed);
    }

    /// Returns whether everything that the agent receives in this instance has been contributed.
    pub fn is_ready(&self, claimed: &ClaimedInstance) -> bool {
        let (board, seq) = (self.board(), claimed.seq);
        match (claimed.collective.kind, claimed.collective.root) {
            (Kind::Bcast | Kind::Scatterv, LocalMember::Rank(root)) => board.is_published(root, seq),
            (Kind::Scan | Kind::Exscan, _) => (0..self.ranks()).all(|rank| board.is_published(rank, seq)),
            _ if claimed.round > 0 => board.all_arrived(seq, claimed.round),
            _ => board.is_published(0, seq),
        }
    }

    /// Returns the data that the agent receives, and leaves the instance. [`AgentMember::is_ready`] must
    /// have returned true.
    ///
    /// * `operator`: for a reduction, its function and the size of an element in bytes.
    /// * `capacity`: the capacity that the result must have, in bytes.
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
                let piece = self.contribution(root, &claimed).entry(self.part.me);
                into.extend_from_slice(self.bytes_of(&piece, to_agent));
            }
            (Kind::Reduce | Kind::Scan | Kind::Exscan, _) => {
                into.resize(to_agent, 0);
                let operator = operator.expect("agents carry out only reductions whose operator they know");
                self.combine(&claimed, operator, &mut into);
            }
            // Blocks of different lengths. If a rank contributes more than the lengths that all ranks
            // agreed on, the rank is in error, and the excess is ignored.
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
            let common = self.board().memory.pointer(claimed.room_at);
            // SAFETY: the root has published this many bytes there. All members compute the same place.
            into.extend_from_slice(unsafe { std::slice::from_raw_parts(common, bytes) });
        } else {
            into.extend_from_slice(self.bytes_of(&self.contribution(root, claimed), bytes));
        }
    }

    /// Combines the contributions of the ranks here, in rank order.
    fn combine(&self, claimed: &ClaimedInstance, (combine, width): (Combine, usize), into: &mut [u8]) {
        let sources: Vec<*const u8> =
            (0..self.ranks()).map(|rank| self.contribution(rank, claimed).pointer.cast_const()).collect();
        let call = Call { combine: Some(combine), elem_bytes: width, ..Call::empty(Kind::Reduce) };
        // SAFETY: all deposits are published, have the length that all ranks know, and stay until the agent
        // leaves.
        unsafe { fold(&call, &sources, into.as_mut_ptr(), into.len() / width) };
    }

    fn contribution(&self, rank: usize, claimed: &ClaimedInstance) -> Piece {
        Piece::of(self.board(), rank, claimed.seq)
    }

    fn bytes_of<'a>(&'a self, piece: &Piece, bytes: usize) -> &'a [u8] {
        if bytes == 0 {
            return &[];
        }
        assert!(
            !piece.pointer.is_null() && piece.bytes >= bytes,
            "a rank has contributed {} bytes instead of {bytes}",
            piece.bytes
        );
        // SAFETY: published, in the segment, and not overwritten before the agent leaves.
        unsafe { std::slice::from_raw_parts(piece.pointer, bytes) }
    }

    /// Leaves an instance without receiving anything from it.
    pub fn leave(&self, claimed: ClaimedInstance) {
        if self.part.with(|state| state.leave_quietly(self.board(), self.part.me, claimed.seq)) {
            self.pending.room.set(true);
        }
    }

    /// How many barriers all ranks here have entered.
    pub fn barriers_entered(&self) -> u64 {
        let board = self.board();
        (0..self.ranks()).map(|rank| board.entered(rank)).min().unwrap_or(0)
    }

    /// Enters all barriers below `count` on behalf of all ranks on other nodes.
    pub fn enter_barriers(&self, count: u64) {
        self.board().enter_barrier(self.part.me, count - 1, 0);
        self.pending.barriers.set(count);
    }

    /// Wakes the ranks here that sleep for anything that the agent has done since the last call.
    pub fn announce(&self) {
        let PendingWakeUps { contribution, room, barriers } = &self.pending;
        let (contribution, room, barriers) = (contribution.take(), room.take(), barriers.take());
        let board = self.board();
        if contribution {
            board.notify();
        }
        if room {
            board.notify_room(0, u64::MAX); // it may have left several instances
        }
        if barriers > 0 && !contribution {
            board.notify_entry(self.part.me, barriers - 1);
        }
    }

    /// Marks the communicator as revoked for the ranks here.
    pub fn revoke(&self) {
        self.part.revoke();
    }

    /// Gives up the agent's membership.
    pub fn resign(self) {
        self.part.shared.release();
    }
}

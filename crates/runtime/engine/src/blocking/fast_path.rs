//! The fast path of the most frequent calls: Bcast, Reduce and Allreduce of at most one cell's payload.
//!
//! It follows the same protocol as [`crate::collective::operation`], written as straight-line code: one
//! instance, deposits inside cells, no allocation, no clock reading unless the rank has to wait. It returns
//! `None` for anything out of the ordinary (several threads, a full window, an instance that is timed in
//! full), which then goes through [`super::collective`].

use super::awaited::Awaited;
use crate::collective::call::{Call, CollectiveKind as Kind};
use crate::collective::deposit;
use crate::collective::mismatch;
use crate::collective::piece::{PartOf, Piece};
use crate::collective::ranks_ahead::RanksAhead;
use crate::collective::shared_fold::OVERDUE_NS;
use crate::comm::part::{NodePart, Revoked};
use crate::comm::state::PartState;
use crate::copy::copy_small;
use crate::process::Process;
use crate::record::tally::is_sampled;
use evenkeel_schedule::deposits::fold_order;
use evenkeel_segment::Seq;
use evenkeel_segment::board::geometry::CELL_BYTES;

/// Room for one cell's payload, aligned for any predefined type.
#[repr(align(16))]
struct Cell([u8; CELL_BYTES]);

/// Returns whether the fast path handles calls of this kind and size.
#[inline(always)]
pub(super) fn fits(call: &Call) -> bool {
    matches!(call.kind(), Kind::Bcast | Kind::Reduce | Kind::Allreduce) && call.bytes <= CELL_BYTES
}

/// Carries out a call that [`fits`]. Returns `None` if it needs the normal path. For programs with one
/// thread in MPI.
#[inline]
pub(super) fn run(
    process: &Process,
    part: &NodePart,
    call: &Call,
    state: &mut PartState,
) -> Option<Result<(), Revoked>> {
    let kind = call.kind();
    let seq = enter_next(part, state)?;
    if part.shared.node.recording {
        let tally = state.tallies.of(kind, false);
        tally.calls += 1;
        tally.bytes += call.bytes as u64;
    }
    let this = FastCall { process, part, call, seq };
    let outcome = match kind {
        Kind::Bcast => this.bcast(state),
        Kind::Reduce => this.reduce(state),
        _ => this.allreduce(state),
    };
    if outcome.is_ok() {
        state.leave(&part.shared.board, part.me, seq);
    }
    Some(outcome)
}

/// Enters the next instance, unless something out of the ordinary prevents it.
#[inline(always)]
fn enter_next(part: &NodePart, state: &mut PartState) -> Option<Seq> {
    let seq = Seq(state.next());
    if state.is_behind() || is_sampled(seq.0) || !state.may_enter(&part.shared.board, seq, 0, 0) {
        return None;
    }
    state.reserve(1);
    state.note_entered();
    Some(seq)
}

/// A call that has entered its only instance.
struct FastCall<'a> {
    process: &'a Process,
    part: &'a NodePart,
    call: &'a Call,
    seq: Seq,
}

impl FastCall<'_> {
    #[inline(always)]
    fn part_of(&self) -> PartOf {
        PartOf::call(self.call.kind(), true)
    }

    /// The root has broadcast less than this rank has room for. Ends the job if it has done something else.
    #[cold]
    fn take_short_broadcast(&self) {
        let FastCall { part, call, seq, .. } = *self;
        let root = call.root as usize;
        let piece = Piece::of(&part.shared.board, root, seq);
        if piece.part != self.part_of() || piece.bytes > call.bytes {
            mismatch::end(part, call.kind(), call.bytes, root, piece.part.kind());
        }
        // SAFETY: published, shorter than a cell, and this rank has not left.
        unsafe { copy_small(piece.pointer, call.recv, piece.bytes) };
    }

    /// Ends the job if a rank has not contributed to this call.
    #[inline(always)]
    fn check_contributions(&self) {
        let FastCall { part, call, seq, .. } = *self;
        for rank in (0..part.ranks).filter(|&rank| rank != part.me) {
            if !Piece::is_in_cell(&part.shared.board, rank, seq, self.part_of(), call.bytes) {
                mismatch::end(
                    part,
                    call.kind(),
                    call.bytes,
                    rank,
                    Piece::of(&part.shared.board, rank, seq).part.kind(),
                );
            }
        }
    }

    #[inline]
    fn bcast(&self, state: &mut PartState) -> Result<(), Revoked> {
        let FastCall { part, call, seq, .. } = *self;
        let board = &part.shared.board;
        let root = call.root as usize;
        if Kind::Bcast.participation(part.ranks, root, part.me).contributes {
            // SAFETY: the instance is entered, so the cell belongs to this rank.
            unsafe { deposit::write_cell(board, root, seq, self.part_of(), call) };
            board.publish(root, seq);
            board.notify();
        } else {
            let is_done = || board.is_published(root, seq);
            self.process.wait_briefly(part, state, Awaited::counted(call, seq), is_done, || Some(root))?;
            if !Piece::is_in_cell(board, root, seq, self.part_of(), call.bytes) {
                self.take_short_broadcast();
                return Ok(());
            }
            // SAFETY: published, and this rank has not left.
            unsafe { copy_small(Piece::in_cell(board, root, seq), call.recv, call.bytes) };
        }
        Ok(())
    }

    #[inline]
    fn reduce(&self, state: &mut PartState) -> Result<(), Revoked> {
        let FastCall { part, call, seq, .. } = *self;
        let board = &part.shared.board;
        let root = call.root as usize;
        let round = if part.ranks > 2 { state.next_round(seq) } else { 0 };
        if Kind::Reduce.participation(part.ranks, root, part.me).contributes {
            // SAFETY: as in `bcast`.
            unsafe { deposit::write_cell(board, part.me, seq, self.part_of(), call) };
            board.publish(part.me, seq);
            if part.ranks == 2 {
                board.notify();
            } else if board.arrive(part.me, seq, round) {
                state.tallies.of(Kind::Reduce, false).last += 1;
                board.notify();
            }
            return Ok(());
        }
        let ahead = RanksAhead::new(part, seq, round, false);
        if part.ranks == 2 {
            let is_done = || board.is_published(1 - root, seq) || ahead.enter();
            self.process
                .wait_briefly(part, state, Awaited::counted(call, seq), is_done, || Some(1 - root))?;
        } else if board.arrive(root, seq, round) {
            state.tallies.of(Kind::Reduce, false).last += 1;
        } else {
            let is_done = || board.all_arrived(seq, round) || ahead.enter();
            self.process.wait_briefly(part, state, Awaited::counted(call, seq), is_done, || {
                board.last_to_arrive(seq)
            })?;
            state.tallies.of(Kind::Reduce, false).last += u64::from(ahead.came_last());
        }
        // SAFETY: all contributions are published.
        unsafe { self.fold(call.recv) };
        Ok(())
    }

    #[inline]
    fn allreduce(&self, state: &mut PartState) -> Result<(), Revoked> {
        let FastCall { part, call, seq, .. } = *self;
        let board = &part.shared.board;
        // SAFETY: as in `bcast`.
        unsafe { deposit::write_cell(board, part.me, seq, self.part_of(), call) };
        board.publish(part.me, seq);
        if part.ranks == 2 {
            board.notify();
            let other = 1 - part.me;
            let is_done = || board.is_published(other, seq);
            self.process.wait_briefly(part, state, Awaited::counted(call, seq), is_done, || Some(other))?;
            // SAFETY: both contributions are published.
            unsafe { self.fold(call.recv) };
            return Ok(());
        }
        let round = state.next_round(seq);
        let result = board.memory.pointer(board.geometry.release_payload(seq.0));
        if board.arrive(part.me, seq, round) {
            state.tallies.of(Kind::Allreduce, false).last += 1;
            // SAFETY: all contributions are published; only the last rank to arrive writes the result
            // before the release.
            unsafe { self.fold(result) };
            board.release(seq);
            board.notify();
            // SAFETY: the result is complete.
            unsafe { copy_small(result, call.recv, call.bytes) };
            return Ok(());
        }
        let is_overdue = self.wait_for_result(state, round)?;
        // SAFETY: if the result is not overdue, it has been released. If it is overdue, all contributions
        // are published, and this rank combines them itself.
        unsafe {
            if is_overdue {
                self.fold(call.recv);
            } else {
                copy_small(result, call.recv, call.bytes);
            }
        }
        Ok(())
    }

    /// Waits until the last rank to arrive has combined. Returns true if that takes too long.
    #[inline]
    fn wait_for_result(&self, state: &mut PartState, round: u64) -> Result<bool, Revoked> {
        let FastCall { part, call, seq, .. } = *self;
        let (board, clock) = (&part.shared.board, part.shared.node.clock());
        let (mut polls, mut complete_since) = (0u32, None);
        let mut is_overdue = false;
        let is_done = || {
            polls = polls.wrapping_add(1);
            if board.is_released(seq) {
                return true;
            }
            if polls % 16 == 0 && board.all_arrived(seq, round) {
                let since = *complete_since.get_or_insert_with(|| clock.now());
                is_overdue = clock.ns_since(since) > OVERDUE_NS;
            }
            is_overdue
        };
        self.process
            .wait_briefly(part, state, Awaited::counted(call, seq), is_done, || board.last_to_arrive(seq))?;
        Ok(is_overdue)
    }

    /// Combines the cells of all ranks in rank order into `out`.
    ///
    /// # Safety
    /// All ranks' cells of this instance are published; this rank's own contribution is `call.send`.
    #[inline]
    unsafe fn fold(&self, out: *mut u8) {
        let FastCall { part, call, seq, .. } = *self;
        self.check_contributions();
        let mut result = Cell([0; CELL_BYTES]);
        let result = result.0.as_mut_ptr();
        let cells = Piece::in_cells(&part.shared.board, seq);
        let source = |rank: usize| if rank == part.me { call.send } else { cells(rank).cast_const() };
        let (innermost, rest) = fold_order(part.ranks);
        let count = if call.bytes == call.elem_bytes { 1 } else { call.bytes / call.elem_bytes.max(1) };
        // SAFETY: every source has `call.bytes` bytes, and the result has room for them.
        unsafe {
            copy_small(source(innermost), result, call.bytes);
            if let Some(combine) = call.combine {
                for rank in rest {
                    combine(call.combine_context, source(rank).cast(), result.cast(), count);
                }
            }
            copy_small(result, out, call.bytes);
        }
    }
}

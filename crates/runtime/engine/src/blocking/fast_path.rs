//! The short way for what programs call most: Barrier, Bcast, Reduce and Allreduce of at most a cell's
//! payload.
//!
//! The same protocol as [`crate::collective::operation`], written straight: one instance, deposits inside cells,
//! nothing allocated, no clock read unless the rank has to wait. Whatever is out of the ordinary
//! (several threads, a full window, an instance that is timed in full) goes the long way.

use crate::clock::Ticks;
use crate::collective::call::{Call, Kind};
use crate::collective::deposit::{self, Piece};
use crate::comm::shared::Served;
use crate::comm::state::State;
use crate::communicator::node::{Comm, Revoked};
use crate::record::tally::is_sampled;
use evenkeel_schedule::deposits::fold_order;
use evenkeel_segment::Seq;
use evenkeel_segment::board::geometry::{CELL_BYTES, WINDOW};

/// How long a result may be overdue before a rank that needs it combines for itself.
pub const OVERDUE_NS: u64 = 50_000;

/// Room for one cell's payload, aligned for any predefined type.
#[repr(align(16))]
struct Cell([u8; CELL_BYTES]);

impl Comm {
    /// Carries the call out if it is an ordinary one; None if it must go the long way. Not for threaded
    /// programs.
    #[inline]
    pub fn run_small(&self, served: &Served, call: &Call, state: &mut State) -> Option<Result<(), Revoked>> {
        let seq = state.enter_ordinary(served)?;
        let kind = call.kind();
        if served.world.recording {
            let tally = state.tallies.of(kind, false);
            tally.calls += 1;
            tally.bytes += call.bytes as u64;
        }
        let outcome = match kind {
            Kind::Bcast => self.small_bcast(served, call, state, seq),
            Kind::Reduce => self.small_reduce(served, call, state, seq),
            _ => self.small_allreduce(served, call, state, seq),
        };
        if outcome.is_ok() {
            state.finish(&served.board, self.me, seq);
        }
        Some(outcome)
    }

    #[inline]
    fn small_bcast(&self, served: &Served, call: &Call, state: &mut State, seq: Seq) -> Result<(), Revoked> {
        let board = &served.board;
        let root = call.root as usize;
        if Kind::Bcast.participation(self.ranks, root, self.me).contributes {
            // SAFETY: the instance is entered: the cell is this rank's.
            unsafe { deposit::write_cell(board, root, seq, call.send, call.bytes) };
            board.publish(root, seq);
            board.notify();
        } else {
            self.wait_small(served, state, Kind::Bcast, || board.is_published(root, seq))?;
            // SAFETY: published, and this rank has not left.
            unsafe { copy_small(Piece::cell(board, root, seq), call.recv, call.bytes) };
        }
        Ok(())
    }

    #[inline]
    fn small_reduce(&self, served: &Served, call: &Call, state: &mut State, seq: Seq) -> Result<(), Revoked> {
        let board = &served.board;
        let root = call.root as usize;
        let round = if self.ranks > 2 { state.next_round(seq) } else { 0 };
        if Kind::Reduce.participation(self.ranks, root, self.me).contributes {
            // SAFETY: as in `small_bcast`.
            unsafe { deposit::write_cell(board, self.me, seq, call.send, call.bytes) };
            board.publish(self.me, seq);
            if self.ranks == 2 {
                board.notify();
            } else if board.arrive(self.me, seq, round) {
                state.tallies.of(Kind::Reduce, false).last += 1;
                board.notify();
            }
            return Ok(());
        }
        if self.ranks == 2 {
            self.wait_small(served, state, Kind::Reduce, || board.is_published(1 - root, seq))?;
        } else if board.arrive(root, seq, round) {
            state.tallies.of(Kind::Reduce, false).last += 1;
        } else {
            self.wait_small(served, state, Kind::Reduce, || board.all_arrived(seq, round))?;
        }
        state.tallies.of(Kind::Reduce, false).rooted += 1;
        // SAFETY: all contributions are there.
        unsafe { self.fold_small(served, call, seq, call.recv) };
        Ok(())
    }

    #[inline]
    fn small_allreduce(
        &self,
        served: &Served,
        call: &Call,
        state: &mut State,
        seq: Seq,
    ) -> Result<(), Revoked> {
        let board = &served.board;
        // SAFETY: as in `small_bcast`.
        unsafe { deposit::write_cell(board, self.me, seq, call.send, call.bytes) };
        board.publish(self.me, seq);
        if self.ranks == 2 {
            board.notify();
            self.wait_small(served, state, Kind::Allreduce, || board.is_published(1 - self.me, seq))?;
            // SAFETY: both contributions are there.
            unsafe { self.fold_small(served, call, seq, call.recv) };
            return Ok(());
        }
        let round = state.next_round(seq);
        let result = board.memory.pointer(board.geometry.release_payload(seq.0));
        if board.arrive(self.me, seq, round) {
            state.tallies.of(Kind::Allreduce, false).last += 1;
            // SAFETY: all contributions are there; only the last to arrive writes the result before the
            // release.
            unsafe { self.fold_small(served, call, seq, result) };
            board.release(seq);
            board.notify();
            // SAFETY: the result stands.
            unsafe { copy_small(result, call.recv, call.bytes) };
            return Ok(());
        }
        let (mut looks, mut full_since) = (0u32, None);
        let mut alone = false;
        self.wait_small(served, state, Kind::Allreduce, || {
            looks = looks.wrapping_add(1);
            if board.is_released(seq) {
                return true;
            }
            if looks % 16 == 0 && board.all_arrived(seq, round) {
                let since = *full_since.get_or_insert_with(Ticks::now);
                alone = Ticks::now().ns_since(since) > OVERDUE_NS;
            }
            alone
        })?;
        // SAFETY: released, or full: then the contributions are there and this rank combines for itself.
        unsafe {
            if alone {
                self.fold_small(served, call, seq, call.recv);
            } else {
                copy_small(result, call.recv, call.bytes);
            }
        }
        Ok(())
    }

    /// Combines the cells of all ranks in rank order into `out`.
    ///
    /// # Safety
    /// All ranks' cells of this instance are published, this rank's own contribution is `call.send`.
    #[inline]
    unsafe fn fold_small(&self, served: &Served, call: &Call, seq: Seq, out: *mut u8) {
        let mut result = Cell([0; CELL_BYTES]);
        let result = result.0.as_mut_ptr();
        let source = |rank: usize| {
            if rank == self.me { call.send } else { Piece::cell(&served.board, rank, seq).cast_const() }
        };
        let (innermost, rest) = fold_order(self.ranks);
        let count = if call.bytes == call.elem_bytes { 1 } else { call.bytes / call.elem_bytes.max(1) };
        // SAFETY: every source has `call.bytes` bytes, and so has the room for the result.
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

    /// Waits for something close at hand.
    #[inline(always)]
    pub(crate) fn wait_small(
        &self,
        served: &Served,
        state: &mut State,
        kind: Kind,
        mut done: impl FnMut() -> bool,
    ) -> Result<(), Revoked> {
        if done() {
            if self.ranks == 2 && served.world.recording {
                state.tallies.of(kind, false).last += 1; // the other one was there before
            }
            return Ok(());
        }
        for _ in 0..served.waiting.first_looks() {
            if done() {
                return Ok(());
            }
        }
        self.wait_long(served, state, kind, &mut done)
    }

    #[cold]
    fn wait_long(
        &self,
        served: &Served,
        state: &mut State,
        kind: Kind,
        done: &mut dyn FnMut() -> bool,
    ) -> Result<(), Revoked> {
        let waited = self.wait(served, kind, state.expected_ns[kind as usize], done)?;
        state.learn(kind, waited);
        if served.world.recording {
            state.tallies.of(kind, false).wait_ns += waited;
        }
        Ok(())
    }
}

impl State {
    /// Enters the next instance if nothing stands in the way; None if the call must go the long way.
    #[inline(always)]
    fn enter_ordinary(&mut self, served: &Served) -> Option<Seq> {
        let seq = Seq(self.next());
        if self.is_behind() || is_sampled(seq.0) {
            return None;
        }
        if !self.may_enter(&served.board, seq, 0, 0) {
            return None;
        }
        self.reserve(1);
        self.note_entered();
        Some(seq)
    }

    #[inline(always)]
    fn next_round(&mut self, seq: Seq) -> u64 {
        let round = &mut self.rounds[seq.0 as usize % WINDOW];
        *round += 1;
        *round
    }
}

/// Copies at most a cell's payload; eight bytes without a call.
///
/// # Safety
/// Both places must be valid for `bytes`; they may be the same, but not overlap otherwise.
#[inline(always)]
unsafe fn copy_small(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if bytes == 8 {
            to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned());
        } else {
            crate::copy::copy(from, to, bytes);
        }
    }
}

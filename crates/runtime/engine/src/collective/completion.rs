//! What a rank does when the deposits it needs are there: copies them out, or combines them in rank order.

use crate::clock::Ticks;
use crate::collective::call::Kind;
use crate::collective::deposit::Piece;
use crate::collective::operation::Operation;
use crate::collective::plan::Route;
use crate::comm::shared::Served;
use crate::comm::state::State;
use crate::communicator::node::Comm;
use crate::copy::copy;
use crate::record::tally::is_sampled;
use crate::reduction::fold::fold;
use evenkeel_schedule::deposits::others;
use evenkeel_segment::Seq;
use evenkeel_segment::board::geometry::CELL_BYTES;

impl Operation {
    /// What a rank that needs nothing from others still moves: its own data to its own result.
    pub(crate) fn own_part(&self, comm: &Comm, at: usize, len: usize) {
        let call = &self.call;
        match self.kind {
            // SAFETY: buffers as the call's table says; `copy` leaves data in place alone.
            Kind::Scatter => unsafe {
                copy(call.send.wrapping_add(comm.me * call.bytes + at), call.recv.wrapping_add(at), len)
            },
            Kind::Scatterv => unsafe {
                let span = call.send_span(comm.me);
                copy(call.send.wrapping_offset(span.offset), call.recv, span.bytes.min(call.bytes));
            },
            Kind::Scan => unsafe { copy(call.send.wrapping_add(at), call.recv.wrapping_add(at), len) },
            _ => {}
        }
    }

    /// Pointers to the vectors that are combined here, from `at` on, in the order of ranks: this rank's own
    /// where the program has it, the others' in their deposits.
    pub(crate) fn contributions(
        &self,
        comm: &Comm,
        served: &Served,
        seq: Seq,
        at: usize,
        into: &mut Vec<*const u8>,
    ) {
        let scatters = matches!(self.kind, Kind::ReduceScatter | Kind::ReduceScatterBlock);
        into.clear();
        into.extend((0..self.kind.operands(comm.ranks, comm.me)).map(|rank| {
            if rank == comm.me && !scatters {
                self.call.send.wrapping_add(at)
            } else {
                // Reduce_scatter in place writes where its input stands: there even the own part is read from
                // the deposit.
                Piece::of(&served.board, rank, seq).pointer.cast_const()
            }
        }));
    }

    /// Copies or combines what has been deposited.
    ///
    /// # Safety
    /// `is_ready` has said yes for this instance; buffers are as the call's table says.
    pub(crate) unsafe fn take(
        &mut self,
        comm: &Comm,
        served: &Served,
        state: &mut State,
        seq: Seq,
        at: usize,
        len: usize,
    ) {
        let call = &self.call;
        let board = &served.board;
        let (me, ranks) = (comm.me, comm.ranks);
        let recv = |offset: usize| call.recv.wrapping_add(offset);
        let fetch = |rank: usize, from: usize, to: *mut u8, bytes: usize| {
            let piece = Piece::of(board, rank, seq);
            // SAFETY: the deposit is published, `to` is this rank's.
            unsafe { piece.fetch(comm, served, rank, from, to, bytes) }
        };
        let elem = call.elem_bytes.max(1);
        // SAFETY (for the whole match): deposits are published and stay until this rank leaves; the call's
        // buffers are valid for what the kind's table says.
        unsafe {
            match self.kind {
                Kind::Barrier => {}
                Kind::Bcast => {
                    let root = call.root as usize;
                    if len > CELL_BYTES && self.plan.route == Route::Segment {
                        let slot = seq.0 as usize % state.rounds.len();
                        copy(board.memory.pointer(state.common_at[slot]), recv(at), len);
                    } else {
                        fetch(root, 0, recv(at), len);
                    }
                }
                Kind::Reduce | Kind::Allreduce | Kind::Scan | Kind::Exscan => {
                    let mut sources = std::mem::take(&mut state.sources);
                    self.contributions(comm, served, seq, at, &mut sources);
                    fold(call, &sources, recv(at), len / elem);
                    state.sources = sources;
                }
                Kind::ReduceScatter | Kind::ReduceScatterBlock => {
                    let (offset, bytes) = if self.kind == Kind::ReduceScatterBlock {
                        (me * call.bytes, call.bytes)
                    } else {
                        let span = call.recv_span(me);
                        (span.offset as usize, span.bytes)
                    };
                    let (from, to) = (at.max(offset), (at + len).min(offset + bytes));
                    if from < to {
                        let mut sources = std::mem::take(&mut state.sources);
                        self.contributions(comm, served, seq, at, &mut sources);
                        sources.iter_mut().for_each(|s| *s = s.wrapping_add(from - at));
                        fold(call, &sources, recv(from - offset), (to - from) / elem);
                        state.sources = sources;
                    }
                }
                Kind::Gather | Kind::Allgather => {
                    for rank in others(ranks, me) {
                        fetch(rank, 0, recv(rank * call.bytes + at), len);
                    }
                    copy(call.send.wrapping_add(at), recv(me * call.bytes + at), len);
                }
                Kind::Gatherv => {
                    for rank in others(ranks, me) {
                        let span = call.recv_span(rank);
                        let bytes = Piece::of(board, rank, seq).bytes.min(span.bytes);
                        fetch(rank, 0, call.recv.wrapping_offset(span.offset), bytes);
                    }
                    copy(call.send, call.recv.wrapping_offset(call.recv_span(me).offset), call.bytes);
                }
                Kind::Allgatherv => {
                    for rank in others(ranks, me) {
                        let span = call.recv_span(rank);
                        let bytes = span.bytes.saturating_sub(at).min(len);
                        fetch(rank, 0, call.recv.wrapping_offset(span.offset).wrapping_add(at), bytes);
                    }
                    let own = call.bytes.saturating_sub(at).min(len);
                    let target = call.recv.wrapping_offset(call.recv_span(me).offset);
                    copy(call.send.wrapping_add(at), target.wrapping_add(at), own);
                }
                Kind::Scatter => {
                    let root = call.root as usize;
                    let from = if self.plan.route == Route::Direct { me * call.bytes } else { me * len };
                    fetch(root, from, recv(at), len);
                }
                Kind::Alltoall => {
                    for rank in others(ranks, me) {
                        let from = if self.plan.route == Route::Direct { me * call.bytes } else { me * len };
                        fetch(rank, from, recv(rank * call.bytes + at), len);
                    }
                    copy(call.send.wrapping_add(me * call.bytes + at), recv(me * call.bytes + at), len);
                }
                Kind::Scatterv => {
                    let piece = Piece::of(board, call.root as usize, seq).entry(me);
                    let bytes = piece.bytes.min(call.bytes);
                    piece.fetch(comm, served, call.root as usize, 0, call.recv, bytes);
                }
                Kind::Alltoallv | Kind::Alltoallw => {
                    for rank in others(ranks, me) {
                        let span = call.recv_span(rank);
                        let piece = Piece::of(board, rank, seq).entry(me);
                        let bytes = piece.bytes.min(span.bytes);
                        piece.fetch(comm, served, rank, 0, call.recv.wrapping_offset(span.offset), bytes);
                    }
                    let (from, to) = (call.send_span(me), call.recv_span(me));
                    let target = call.recv.wrapping_offset(to.offset);
                    copy(call.send.wrapping_offset(from.offset), target, from.bytes.min(to.bytes));
                }
            }
        }
    }

    /// What a library without bypass would have cost: there a rank waits until all ranks below it in a
    /// binomial tree have arrived. Computed by the root from everybody's arrival stamps, for all of them.
    pub(crate) fn tally_savings(&self, comm: &Comm, served: &Served, state: &mut State, seq: Seq) {
        let tally = state.tallies.of(self.kind, self.nonblocking);
        tally.rooted += 1;
        if !is_sampled(seq.0) {
            return;
        }
        tally.rooted_sampled += 1;
        let root = self.call.root as usize;
        let ranks = comm.ranks;
        let mut arrival: Vec<Ticks> = (0..ranks)
            .map(|relative| {
                crate::collective::deposit::stamp_of(&served.board, (relative + root) % ranks, seq)
            })
            .collect();
        let own = arrival.clone();
        let mut saved_ns = 0;
        let mut bit = 1;
        while bit < ranks {
            for relative in (0..ranks).step_by(2 * bit).filter(|r| r + bit < ranks) {
                arrival[relative] = arrival[relative].max(arrival[relative + bit]);
            }
            bit *= 2;
        }
        for relative in 1..ranks {
            saved_ns += arrival[relative].ns_since(own[relative]);
        }
        tally.saved_ns += saved_ns;
    }
}

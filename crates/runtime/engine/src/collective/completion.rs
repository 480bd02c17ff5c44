//! What a rank does once the deposits that it needs are there: it copies them out, or combines them in rank
//! order.

use super::call::{Call, Span};
use super::mismatch;
use super::piece::{PartOf, Piece};
use super::plan::Route;
use super::remote_read::{ReadProgress, Reads};
use crate::comm::part::NodePart;
use crate::comm::state::PartState;
use crate::copy::copy;
use crate::reduction::fold::fold;
use evenkeel_schedule::deposits::others;
use evenkeel_segment::Seq;
use evenkeel_segment::board::geometry::CELL_BYTES;
use evenkeel_spanning::CollectiveKind as Kind;

/// One instance of a call at one rank.
#[derive(Clone, Copy)]
pub struct Instance<'a> {
    /// The call.
    pub call: &'a Call,
    /// Its kind.
    pub kind: Kind,
    /// What the program has called.
    pub called: Kind,
    /// How its bytes travel.
    pub route: Route,
    /// The instance's number.
    pub seq: Seq,
    /// Where its part of the cut dimension starts.
    pub at: usize,
    /// The length of that part.
    pub len: usize,
    /// It is the last one of the call.
    pub is_last: bool,
}

impl Instance<'_> {
    /// For a rank that needs nothing from others: moves the rank's own data to its own result, if the kind
    /// demands it.
    pub(crate) fn take_own(&self, me: usize) {
        let Instance { call, at, len, .. } = *self;
        match self.kind {
            // SAFETY: buffers are valid as the call's kind says; `copy` does nothing for data in place.
            Kind::Scatter => unsafe {
                copy(call.send.wrapping_add(me * call.bytes + at), call.recv.wrapping_add(at), len);
            },
            // SAFETY: as above.
            Kind::Scatterv => unsafe {
                let span = call.send_span(me);
                copy(call.send.wrapping_offset(span.offset), call.recv, span.bytes.min(call.bytes));
            },
            // SAFETY: as above.
            Kind::Scan => unsafe { copy(call.send.wrapping_add(at), call.recv.wrapping_add(at), len) },
            _ => {}
        }
    }

    /// Collects pointers to the vectors that are combined here, in rank order: this rank's own vector in
    /// the program's buffer, the others' in their deposits.
    pub(crate) fn contributions(&self, part: &NodePart, into: &mut Vec<*const u8>) {
        let scatters = matches!(self.kind, Kind::ReduceScatter | Kind::ReduceScatterBlock);
        into.clear();
        into.extend((0..self.kind.operands(part.ranks, part.me)).map(|rank| {
            if rank == part.me && !scatters {
                self.call.send.wrapping_add(self.at)
            } else {
                // An in-place reduce_scatter writes over its input, so even this rank's own vector is read
                // from its deposit.
                self.piece(part, rank).pointer.cast_const()
            }
        }));
    }

    /// Copies or combines the deposits that this rank needs. Returns false if data have been asked for that
    /// have not come.
    ///
    /// # Safety
    /// All deposits that this rank needs are published. Buffers are valid as the call's kind says.
    pub(crate) unsafe fn take(
        &self,
        part: &NodePart,
        state: &mut PartState,
        progress: &mut ReadProgress,
    ) -> bool {
        let mut reads = Reads::new(part, self.seq, progress);
        // SAFETY: deposits are published and stay until this rank leaves. The call's buffers are valid as
        // its kind says.
        unsafe {
            match self.kind {
                Kind::Barrier => {}
                Kind::Bcast => return self.take_broadcast(part, state, &mut reads),
                Kind::Reduce | Kind::Allreduce | Kind::Scan | Kind::Exscan => {
                    self.fold_slice(part, state, 0, self.call.recv.wrapping_add(self.at), self.len);
                }
                Kind::ReduceScatter | Kind::ReduceScatterBlock => self.take_reduced_part(part, state),
                Kind::Gather | Kind::Allgather => return self.take_blocks(part, &mut reads),
                Kind::Gatherv => return self.take_gathered_parts(part, &mut reads),
                Kind::Allgatherv => return self.take_slices_of_parts(part, &mut reads),
                Kind::Scatter => {
                    let root = self.call.root as usize;
                    let piece = self.piece(part, root);
                    let from = self.offset_of_block(&piece, part.me);
                    return reads.fetch(&piece, root, from, self.recv(self.at), self.len);
                }
                Kind::Alltoall => return self.take_blocks_from_all(part, &mut reads),
                Kind::Scatterv => {
                    let root = self.call.root as usize;
                    let piece = self.piece(part, root).entry(part.me);
                    let bytes = self.room_for(part, root, &piece, self.call.bytes);
                    return reads.fetch(&piece, root, 0, self.call.recv, bytes);
                }
                Kind::Alltoallv | Kind::Alltoallw => return self.take_parts_from_all(part, &mut reads),
            }
        }
        true
    }

    /// The deposit of another rank, which must be a part of the same call.
    #[inline]
    pub(super) fn piece(&self, part: &NodePart, rank: usize) -> Piece {
        let piece = Piece::of(&part.shared.board, rank, self.seq);
        if piece.part != PartOf::call(self.called, self.is_last)
            || self.bytes_expected(part.ranks, rank).is_some_and(|bytes| bytes != piece.bytes)
        {
            self.look_closely(part, rank, &piece);
        }
        piece
    }

    /// How long the deposit of `rank` is, if all ranks know.
    #[inline]
    fn bytes_expected(&self, ranks: usize, rank: usize) -> Option<usize> {
        match self.kind {
            Kind::Barrier | Kind::Gatherv | Kind::Scatterv | Kind::Alltoallv | Kind::Alltoallw => None,
            Kind::Scatter | Kind::Alltoall | Kind::ReduceScatterBlock if self.route == Route::Direct => {
                Some(self.call.bytes * ranks)
            }
            Kind::Scatter | Kind::Alltoall => Some(self.len * ranks),
            Kind::Allgatherv => {
                // SAFETY: one span per rank, by the promise of the front end.
                let bytes = unsafe { self.call.recv_span(rank) }.bytes;
                Some(bytes.saturating_sub(self.at).min(self.len))
            }
            _ => Some(self.len),
        }
    }

    /// Ends the job if a deposit is not what this rank expects. Less than it has room for is accepted where
    /// all ranks cut the call alike nevertheless, because most libraries accept it.
    #[cold]
    fn look_closely(&self, part: &NodePart, rank: usize, piece: &Piece) {
        if part.shared.has_agent {
            return; // the agent and the ranks of a node divide a call differently
        }
        let is_whole = self.is_last && self.at == 0;
        let may_be_short = match self.kind {
            Kind::Bcast => is_whole && self.len <= CELL_BYTES,
            Kind::Gather | Kind::Allgather => is_whole,
            Kind::Allgatherv => true, // it is cut by the lengths that each rank expects
            _ => false,
        };
        let expected = self.bytes_expected(part.ranks, rank);
        let is_same = piece.part == PartOf::call(self.called, self.is_last);
        if is_same && may_be_short && expected.is_some_and(|bytes| piece.bytes < bytes) {
            return;
        }
        mismatch::end(part, self.called, self.call.bytes, rank, piece.part.kind());
    }

    /// How many bytes of the piece that `rank` has for this one to take. Ends the job if there is less room.
    #[inline]
    fn room_for(&self, part: &NodePart, rank: usize, piece: &Piece, room: usize) -> usize {
        if piece.bytes > room && !part.shared.has_agent {
            mismatch::end(part, self.called, self.call.bytes, rank, Some(self.called));
        }
        piece.bytes.min(room)
    }

    fn recv(&self, offset: usize) -> *mut u8 {
        self.call.recv.wrapping_add(offset)
    }

    /// The offset of the slice for `rank` in a deposit that has one slice for each rank: in the segment one
    /// lies behind the other, in the depositor's memory each is a part of a block.
    pub(super) fn offset_of_block(&self, piece: &Piece, rank: usize) -> usize {
        rank * if piece.address().is_some() { self.call.bytes } else { self.len }
    }

    /// # Safety
    /// As for `take`.
    unsafe fn take_broadcast(&self, part: &NodePart, state: &PartState, reads: &mut Reads<'_>) -> bool {
        let (board, root) = (&part.shared.board, self.call.root as usize);
        // SAFETY: the caller's promise.
        unsafe {
            let piece = self.piece(part, root);
            if self.len > CELL_BYTES && self.route == Route::Segment {
                copy(board.memory.pointer(state.common_at(self.seq)), self.recv(self.at), self.len);
                return true;
            }
            reads.fetch(&piece, root, 0, self.recv(self.at), piece.bytes.min(self.len))
        }
    }

    /// Combines `bytes` of all contributions into `out`, starting at offset `from` of this instance.
    ///
    /// # Safety
    /// As for `take`.
    unsafe fn fold_slice(
        &self,
        part: &NodePart,
        state: &mut PartState,
        from: usize,
        out: *mut u8,
        bytes: usize,
    ) {
        let mut sources = std::mem::take(&mut state.sources);
        self.contributions(part, &mut sources);
        sources.iter_mut().for_each(|source| *source = source.wrapping_add(from));
        // SAFETY: the caller's promise.
        unsafe { fold(self.call, &sources, out, bytes / self.call.elem_bytes.max(1)) };
        state.sources = sources;
    }

    /// # Safety
    /// As for `take`.
    unsafe fn take_reduced_part(&self, part: &NodePart, state: &mut PartState) {
        let Instance { call, at, len, .. } = *self;
        // SAFETY: the caller's promise.
        let Span { offset, bytes } = unsafe { call.reduced_part(part.me) };
        let offset = offset as usize;
        let (from, to) = (at.max(offset), (at + len).min(offset + bytes));
        if from < to {
            // SAFETY: the caller's promise.
            unsafe { self.fold_slice(part, state, from - at, self.recv(from - offset), to - from) };
        }
    }

    /// # Safety
    /// As for `take`.
    unsafe fn take_blocks(&self, part: &NodePart, reads: &mut Reads<'_>) -> bool {
        let Instance { call, at, len, .. } = *self;
        let place = |rank: usize| self.recv(rank * call.bytes + at);
        // SAFETY: the caller's promise.
        unsafe {
            for rank in others(part.ranks, part.me) {
                let piece = self.piece(part, rank);
                if !reads.fetch(&piece, rank, 0, place(rank), piece.bytes.min(len)) {
                    return false;
                }
            }
            copy(call.send.wrapping_add(at), place(part.me), len);
        }
        true
    }

    /// # Safety
    /// As for `take`.
    unsafe fn take_gathered_parts(&self, part: &NodePart, reads: &mut Reads<'_>) -> bool {
        let call = self.call;
        // SAFETY: the caller's promise.
        unsafe {
            for rank in others(part.ranks, part.me) {
                let span = call.recv_span(rank);
                let piece = self.piece(part, rank);
                let to = call.recv.wrapping_offset(span.offset);
                if !reads.fetch(&piece, rank, 0, to, self.room_for(part, rank, &piece, span.bytes)) {
                    return false;
                }
            }
            copy(call.send, call.recv.wrapping_offset(call.recv_span(part.me).offset), call.bytes);
        }
        true
    }

    /// # Safety
    /// As for `take`.
    unsafe fn take_slices_of_parts(&self, part: &NodePart, reads: &mut Reads<'_>) -> bool {
        let Instance { call, at, len, .. } = *self;
        // SAFETY: the caller's promise.
        unsafe {
            let place = |rank: usize| call.recv.wrapping_offset(call.recv_span(rank).offset).wrapping_add(at);
            for rank in others(part.ranks, part.me) {
                let bytes = call.recv_span(rank).bytes.saturating_sub(at).min(len);
                let piece = self.piece(part, rank);
                if !reads.fetch(&piece, rank, 0, place(rank), piece.bytes.min(bytes)) {
                    return false;
                }
            }
            copy(call.send.wrapping_add(at), place(part.me), call.bytes.saturating_sub(at).min(len));
        }
        true
    }

    /// # Safety
    /// As for `take`.
    unsafe fn take_blocks_from_all(&self, part: &NodePart, reads: &mut Reads<'_>) -> bool {
        let Instance { call, at, len, .. } = *self;
        let me = part.me;
        // SAFETY: the caller's promise.
        unsafe {
            for rank in others(part.ranks, me) {
                let place = self.recv(rank * call.bytes + at);
                let piece = self.piece(part, rank);
                if !reads.fetch(&piece, rank, self.offset_of_block(&piece, me), place, len) {
                    return false;
                }
            }
            copy(call.send.wrapping_add(me * call.bytes + at), self.recv(me * call.bytes + at), len);
        }
        true
    }

    /// # Safety
    /// As for `take`.
    unsafe fn take_parts_from_all(&self, part: &NodePart, reads: &mut Reads<'_>) -> bool {
        let call = self.call;
        // SAFETY: the caller's promise.
        unsafe {
            for rank in others(part.ranks, part.me) {
                let span = call.recv_span(rank);
                let piece = self.piece(part, rank).entry(part.me);
                let to = call.recv.wrapping_offset(span.offset);
                if !reads.fetch(&piece, rank, 0, to, self.room_for(part, rank, &piece, span.bytes)) {
                    return false;
                }
            }
            let (from, to) = (call.send_span(part.me), call.recv_span(part.me));
            let target = call.recv.wrapping_offset(to.offset);
            copy(call.send.wrapping_offset(from.offset), target, from.bytes.min(to.bytes));
        }
        true
    }
}

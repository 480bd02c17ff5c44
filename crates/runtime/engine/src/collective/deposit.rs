//! What a rank writes to the bill-board: payload in its cell, in its ring or in the common area, or where
//! else it is: in the rank's bounce buffer or in its own memory.

use super::call::{Call, Span};
use super::piece::{
    ENTRY_BYTES, IN_BLOCK, IN_CELL, IN_MEMORY, LENGTH_AT, PAYLOAD_AT, PartOf, describe, describe_entry,
};
use super::plan::{LARGEST_BOUNCED, Route};
use crate::comm::backlog::BacklogRoom;
use crate::comm::shared::Shared;
use crate::copy::streaming::StreamingCopy;
use crate::copy::{copy, copy_small};
use crate::job::bounce_buffer::Readers;
use evenkeel_segment::board::geometry::CELL_BYTES;
use evenkeel_segment::sync::{Ordering, Words};
use evenkeel_segment::{Board, Mapped, Seq};
use evenkeel_spanning::CollectiveKind as Kind;

/// Where the deposit of one instance goes and how much memory it needs. Made before the instance is
/// entered.
#[derive(Clone, Copy, Debug)]
pub struct DepositPlan {
    kind: Kind,
    part_of: PartOf,
    ranks: usize,
    /// Start and length of the instance's part of the cut dimension.
    at: usize,
    len: usize,
    payload: usize,
    /// How many bytes of the rank's ring it needs.
    pub ring_bytes: usize,
    /// What readers are told of its length.
    described: usize,
    /// The payload has no place at the board.
    is_long: bool,
    /// Of a long payload: its place in the rank's bounce buffer, as an offset from the board.
    bounce_at: Option<usize>,
}

/// The memory that was allocated for a deposit, as offsets in the block.
#[derive(Clone, Copy, Debug)]
pub struct DepositRoom {
    /// Offset of a piece of this rank's ring; unused if the deposit needs none.
    pub ring_at: usize,
    /// Offset of the instance's common piece; unused if the deposit needs none.
    pub common_at: usize,
}

impl DepositPlan {
    /// For the instance of `call` that carries `len` bytes starting at `at`, among `ranks` ranks whose rings
    /// have `ring` bytes each. `part_of` says of what the program has called it is.
    ///
    /// # Safety
    /// The call must have the spans that its kind needs.
    pub unsafe fn new(
        call: &Call,
        part_of: PartOf,
        route: Route,
        ranks: usize,
        ring: usize,
        (at, len): (usize, usize),
    ) -> DepositPlan {
        let kind = call.kind();
        // SAFETY: the caller's promise.
        let spans_total = || (0..ranks).map(|rank| unsafe { call.send_span(rank) }.bytes).sum::<usize>();
        let (table, payload) = match kind {
            Kind::Barrier => (0, 0),
            Kind::Scatter | Kind::Alltoall => (0, len * ranks),
            Kind::ReduceScatterBlock if route == Route::Direct => (0, len * ranks),
            Kind::Gatherv => (0, call.bytes),
            Kind::Scatterv | Kind::Alltoallv | Kind::Alltoallw => (ranks * ENTRY_BYTES, spans_total()),
            Kind::Allgatherv => (0, call.bytes.saturating_sub(at).min(len)),
            _ => (0, len),
        };
        let direct = route == Route::Direct || (kind.is_private() && table + payload > ring);
        let in_common = kind == Kind::Bcast && payload > CELL_BYTES && !direct;
        let ring_bytes = if direct {
            table
        } else if table > 0 || (payload > CELL_BYTES && !in_common) {
            table + payload
        } else {
            0
        };
        let is_long = direct && payload > 0;
        // Readers find their slice by the length of a block, on which therefore all have to agree.
        let described = match kind {
            Kind::Scatter | Kind::Alltoall | Kind::ReduceScatterBlock if direct => call.bytes * ranks,
            _ => payload,
        };
        DepositPlan {
            kind,
            part_of,
            ranks,
            at,
            len,
            payload,
            ring_bytes,
            described,
            is_long,
            bounce_at: None,
        }
    }

    /// Other ranks will read this rank's memory, which must stay unchanged until they have done so.
    pub(super) fn offers_memory(&self) -> bool {
        self.is_long && self.bounce_at.is_none()
    }

    /// A long payload goes to this rank's bounce buffer, if it has room and that is faster than if others
    /// read this rank's memory. Then the rank need not stay. `only` is the rank that reads it, if there is
    /// only one.
    ///
    /// # Safety
    /// As for `new`.
    pub(super) unsafe fn bounce(
        &mut self,
        call: &Call,
        shared: &Shared,
        (me, seq): (usize, Seq),
        only: Option<usize>,
    ) {
        // SAFETY: the caller's promise.
        let is_wanted = || self.payload - unsafe { self.own_part(call, me) }.bytes <= LARGEST_BOUNCED;
        if !self.is_long || shared.has_agent || !is_wanted() {
            return;
        }
        let (board, first) = (shared.board.clone(), shared.first);
        let readers = Readers { board, block: shared.block, seq, only, first };
        let at = shared.node.bounce_buffer().reserve(&shared.node.allocator(), self.payload, readers);
        // The buffer may lie before the board: readers add the difference, wrapping around.
        self.bounce_at = at.map(|at| at.wrapping_sub(shared.block.offset()));
    }

    /// Writes the deposit of instance `seq` of `call` for rank `me`. The caller publishes it.
    ///
    /// # Safety
    /// The rank has entered the instance, and `room` was allocated for it. The call's buffers are valid as
    /// its kind says.
    pub unsafe fn write(
        &self,
        call: &Call,
        shared: &Shared,
        me: usize,
        seq: Seq,
        room: DepositRoom,
        copies: &mut StreamingCopy,
    ) {
        let memory = &shared.board.memory;
        let cell = shared.board.geometry.cell(me, seq.0);
        let describe_cell = |kind: u64, place: Option<u64>| {
            // Relaxed: the flag's release store publishes them.
            memory.word(cell + LENGTH_AT).store(self.describe(kind), Ordering::Relaxed);
            if let Some(place) = place {
                memory.word(cell + PAYLOAD_AT).store(place, Ordering::Relaxed);
            }
        };
        if matches!(self.kind, Kind::Scatterv | Kind::Alltoallv | Kind::Alltoallw) {
            // SAFETY: the ring piece has room for the table and, unless they have another place, for the
            // data.
            unsafe { self.write_table(call, memory, me, room.ring_at) };
            return describe_cell(IN_BLOCK, Some(room.ring_at as u64));
        }
        if let Some(at) = self.bounce_at {
            // SAFETY: the place was reserved for the payload, which the send buffer holds.
            unsafe { self.write_long(call, me, memory.pointer(at)) };
            return describe_cell(IN_BLOCK, Some(at as u64));
        }
        if self.is_long {
            return describe_cell(IN_MEMORY, Some(call.send.wrapping_add(self.at) as u64));
        }
        let target = match self.kind {
            Kind::Bcast if self.payload > CELL_BYTES => Some(room.common_at),
            _ => (self.ring_bytes > 0).then_some(room.ring_at),
        };
        let pointer = memory.pointer(target.unwrap_or(cell + PAYLOAD_AT));
        // SAFETY: the send buffer holds what is deposited, and the target was sized for it.
        unsafe {
            if matches!(self.kind, Kind::Scatter | Kind::Alltoall) {
                self.write_blocks(call, None, pointer);
            } else if shared.waiting.shares_cores() {
                // Most readers will run on this core later, so its cache should keep the data.
                copy(call.send.wrapping_add(self.at), pointer, self.payload);
            } else {
                copies.copy(shared.node.clock(), call.send.wrapping_add(self.at), pointer, self.payload);
            }
        }
        match target {
            Some(offset) => describe_cell(IN_BLOCK, Some(offset as u64)),
            None => describe_cell(IN_CELL, None),
        }
    }

    fn describe(&self, place: u64) -> u64 {
        describe(place, self.part_of, self.described)
    }

    /// How many bytes of the payload do not fit into a cell, for a deposit that is a vector or a block.
    pub(super) fn bytes_outside_cell(&self) -> usize {
        if self.payload > CELL_BYTES { self.payload } else { 0 }
    }

    /// Writes the deposit of `call`, a vector or a block, into a cell of this rank's backlog. The caller
    /// publishes it.
    ///
    /// # Safety
    /// `room` was reserved for this deposit, and the call's buffers are valid as its kind says.
    pub(super) unsafe fn write_ahead(&self, call: &Call, seq: Seq, room: &BacklogRoom) {
        let (memory, cell) = (&room.backlog.memory, room.backlog.cell(seq));
        let is_outside = self.bytes_outside_cell() > 0;
        let kind = if is_outside { IN_BLOCK } else { IN_CELL };
        // Relaxed: the flag's release store publishes them.
        memory.word(cell + LENGTH_AT).store(self.describe(kind), Ordering::Relaxed);
        if is_outside {
            memory.word(cell + PAYLOAD_AT).store(room.from_board, Ordering::Relaxed);
        }
        let target = if is_outside { room.payload_at } else { cell + PAYLOAD_AT };
        // SAFETY: the caller's promise.
        unsafe { copy(call.send.wrapping_add(self.at), memory.pointer(target), self.payload) };
    }

    /// Writes the slices of all ranks' blocks, one after the other, but for that of rank `left_out`.
    ///
    /// # Safety
    /// The send buffer holds `ranks` blocks of `call.bytes`; the target has room for `ranks × len` bytes.
    unsafe fn write_blocks(&self, call: &Call, left_out: Option<usize>, target: *mut u8) {
        for rank in (0..self.ranks).filter(|&rank| Some(rank) != left_out) {
            let from = call.send.wrapping_add(rank * call.bytes + self.at);
            // SAFETY: the caller's promise.
            unsafe { copy(from, target.wrapping_add(rank * self.len), self.len) };
        }
    }

    /// Which part of a long payload this rank takes from its own memory, so that it needs no other place.
    ///
    /// # Safety
    /// As for `new`.
    unsafe fn own_part(&self, call: &Call, me: usize) -> Span {
        // SAFETY: the caller's promise.
        unsafe {
            match self.kind {
                Kind::ReduceScatter => call.reduced_part(me),
                Kind::Scatter | Kind::Alltoall | Kind::ReduceScatterBlock => {
                    Span { offset: (me * self.len) as isize, bytes: self.len }
                }
                Kind::Scatterv | Kind::Alltoallv | Kind::Alltoallw => call.send_span(me),
                _ => Span { offset: self.payload as isize, bytes: 0 },
            }
        }
    }

    /// Writes a long payload that is no table, but for this rank's own part.
    ///
    /// # Safety
    /// As for `write`; the target has room for the payload.
    unsafe fn write_long(&self, call: &Call, me: usize, target: *mut u8) {
        if matches!(self.kind, Kind::Scatter | Kind::Alltoall | Kind::ReduceScatterBlock) {
            // SAFETY: the caller's promise.
            return unsafe { self.write_blocks(call, Some(me), target) };
        }
        // SAFETY: as above.
        let own = unsafe { self.own_part(call, me) };
        let (before, after) = (own.offset as usize, own.offset as usize + own.bytes);
        let from = call.send.wrapping_add(self.at);
        // SAFETY: as above.
        unsafe {
            copy(from, target, before);
            copy(from.wrapping_add(after), target.wrapping_add(after), self.payload - after);
        }
    }

    /// Writes one entry per rank, and the data unless other ranks read this rank's memory: behind the entries
    /// or into the bounce buffer.
    ///
    /// # Safety
    /// As for `write`.
    unsafe fn write_table(&self, call: &Call, memory: &Mapped, me: usize, ring_at: usize) {
        let mut data_at = self.bounce_at.unwrap_or(ring_at + self.ranks * ENTRY_BYTES);
        for rank in 0..self.ranks {
            // SAFETY: the call has one span per rank.
            let span = unsafe { call.send_span(rank) };
            let from = call.send.wrapping_offset(span.offset);
            let (kind, place) = if self.offers_memory() {
                (IN_MEMORY, from as u64)
            } else {
                // A rank takes its own data from its own memory.
                let bytes = if rank == me && self.bounce_at.is_some() { 0 } else { span.bytes };
                // SAFETY: the place was sized by the same spans.
                unsafe { copy(from, memory.pointer(data_at), bytes) };
                (IN_BLOCK, data_at as u64)
            };
            memory
                .word(ring_at + rank * ENTRY_BYTES)
                .store(describe_entry(kind, span.bytes), Ordering::Relaxed);
            memory.word(ring_at + rank * ENTRY_BYTES + 8).store(place, Ordering::Relaxed);
            data_at = data_at.wrapping_add(span.bytes);
        }
    }
}

/// Writes the contribution to a small call, all of it, into this rank's cell. The caller publishes it.
///
/// # Safety
/// The caller has entered the instance; `call.send` is valid for `call.bytes`, at most [`CELL_BYTES`].
#[inline(always)]
pub unsafe fn write_cell(board: &Board<Mapped>, me: usize, seq: Seq, part: PartOf, call: &Call) {
    let cell = board.geometry.cell(me, seq.0);
    board.memory.word(cell + LENGTH_AT).store(describe(IN_CELL, part, call.bytes), Ordering::Relaxed);
    // SAFETY: the caller's promise.
    unsafe { copy_small(call.send, board.memory.pointer(cell + PAYLOAD_AT), call.bytes) };
}

/// Writes bytes into this rank's cell or, if they do not fit there, at offset `room_at` of the block, as its
/// whole part of a call of this kind. The caller publishes them.
///
/// # Safety
/// The caller has entered the instance, and has allocated `room_at` for `bytes` if they do not fit the
/// cell.
pub unsafe fn write_bytes(
    board: &Board<Mapped>,
    me: usize,
    seq: Seq,
    kind: Kind,
    room_at: usize,
    bytes: &[u8],
) {
    let part = PartOf::call(kind, true);
    let cell = board.geometry.cell(me, seq.0);
    let (place, target) =
        if bytes.len() <= CELL_BYTES { (IN_CELL, cell + PAYLOAD_AT) } else { (IN_BLOCK, room_at) };
    // Relaxed: the flag's release store publishes them.
    board.memory.word(cell + LENGTH_AT).store(describe(place, part, bytes.len()), Ordering::Relaxed);
    if place == IN_BLOCK {
        board.memory.word(cell + PAYLOAD_AT).store(room_at as u64, Ordering::Relaxed);
    }
    // SAFETY: the caller's promise.
    unsafe { copy(bytes.as_ptr(), board.memory.pointer(target), bytes.len()) };
}

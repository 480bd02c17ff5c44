//! A deposit as its readers see it.
//!
//! A cell of the bill-board has four fields: flag | description | time of arrival | 40 bytes. The last field
//! holds the payload, or says where the payload is. The description says of which call the payload is, so
//! that readers notice if ranks do not call the same.

use crate::clock::Ticks;
use evenkeel_segment::sync::{Ordering, Words};
use evenkeel_segment::{Board, Mapped, Seq};
use evenkeel_spanning::CollectiveKind as Kind;

pub(super) const LENGTH_AT: usize = 8;
const ARRIVAL_AT: usize = 16;
pub(super) const PAYLOAD_AT: usize = 24;

/// The payload is in the cell.
pub(super) const IN_CELL: u64 = 0;
/// The payload is at an offset of the block.
pub(super) const IN_BLOCK: u64 = 1;
/// The payload is at an address in the depositor's memory.
pub(super) const IN_MEMORY: u64 = 2;

/// Size of an entry in the table of SCATTERV and ALLTOALLV: kind and length, place.
pub(super) const ENTRY_BYTES: usize = 16;

/// Bits of a description: place of the payload (2) | last instance of its call (1) | collective (5) | bytes.
const PLACE_SHIFT: u32 = 62;
const LAST_SHIFT: u32 = 61;
const CALL_SHIFT: u32 = 56;
const LENGTH_MASK: u64 = (1 << CALL_SHIFT) - 1;

/// Of which call a deposit is a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartOf {
    /// The number of its [`Kind`].
    kind: u8,
    /// It is the last instance of the call.
    is_last: bool,
}

impl PartOf {
    /// An instance of a call of this kind.
    #[inline(always)]
    pub fn call(kind: Kind, is_last: bool) -> PartOf {
        PartOf { kind: kind as u8, is_last }
    }

    /// The collective; None if the memory holds something else.
    pub fn kind(self) -> Option<Kind> {
        Kind::from_u32(u32::from(self.kind))
    }

    /// It is the last instance of the call.
    pub fn is_last(self) -> bool {
        self.is_last
    }
}

/// Encodes the second field of a cell.
#[inline(always)]
pub(super) fn describe(place: u64, part: PartOf, bytes: usize) -> u64 {
    place << PLACE_SHIFT
        | u64::from(part.is_last) << LAST_SHIFT
        | u64::from(part.kind) << CALL_SHIFT
        | bytes as u64
}

/// Encodes the first field of an entry of a table.
pub(super) fn describe_entry(place: u64, bytes: usize) -> u64 {
    place << PLACE_SHIFT | bytes as u64
}

/// A published deposit, or one entry of a deposit that is a table.
#[derive(Clone, Copy)]
pub struct Piece {
    /// Its length in bytes.
    pub bytes: usize,
    /// Of which call it is a part. It says nothing about an entry of a table.
    pub part: PartOf,
    /// Its address in this process's mapping of the block; null if it is in the depositor's memory.
    pub pointer: *mut u8,
    address: u64,
    block: Mapped,
}

impl Piece {
    fn at(memory: Mapped, description_at: usize, place_at: usize) -> Piece {
        // Relaxed: the flag or the counter was loaded with acquire before.
        let description = memory.word(description_at).load(Ordering::Relaxed);
        let place = || memory.word(place_at).load(Ordering::Relaxed);
        let (pointer, address) = match description >> PLACE_SHIFT {
            IN_CELL => (memory.pointer(place_at), 0),
            IN_BLOCK => (memory.pointer(place() as usize), 0),
            _ => (std::ptr::null_mut(), place()),
        };
        let part = PartOf {
            kind: (description >> CALL_SHIFT & 0x1f) as u8,
            is_last: description >> LAST_SHIFT & 1 != 0,
        };
        Piece { bytes: (description & LENGTH_MASK) as usize, part, pointer, address, block: memory }
    }

    /// The deposit of `rank` in instance `seq`.
    pub fn of(board: &Board<Mapped>, rank: usize, seq: Seq) -> Piece {
        let cell = board.geometry.cell(rank, seq.0);
        Piece::at(board.memory, cell + LENGTH_AT, cell + PAYLOAD_AT)
    }

    /// Whether the deposit of `rank` in instance `seq` is in its cell, and is so long a part of such a call.
    #[inline(always)]
    pub fn is_in_cell(board: &Board<Mapped>, rank: usize, seq: Seq, part: PartOf, bytes: usize) -> bool {
        let cell = board.geometry.cell(rank, seq.0);
        board.memory.word(cell + LENGTH_AT).load(Ordering::Relaxed) == describe(IN_CELL, part, bytes)
    }

    /// The payload of `rank` in instance `seq`, which must be inside its cell.
    #[inline(always)]
    pub fn in_cell(board: &Board<Mapped>, rank: usize, seq: Seq) -> *mut u8 {
        board.memory.pointer(board.geometry.cell(rank, seq.0) + PAYLOAD_AT)
    }

    /// The payloads of all ranks in instance `seq`, by rank. Each must be inside its cell.
    #[inline(always)]
    pub fn in_cells(board: &Board<Mapped>, seq: Seq) -> impl Fn(usize) -> *mut u8 {
        let first = Piece::in_cell(board, 0, seq);
        let stride = board.geometry.cell_stride();
        move |rank| first.wrapping_add(rank * stride)
    }

    /// The entry for `rank` of a deposit that is a table.
    pub fn entry(&self, rank: usize) -> Piece {
        let table = self.pointer as usize - self.block.pointer(0) as usize;
        Piece::at(self.block, table + rank * ENTRY_BYTES, table + rank * ENTRY_BYTES + 8)
    }

    /// Where the payload is in the depositor's memory; None if it is in the block.
    #[inline]
    pub(super) fn address(&self) -> Option<u64> {
        self.pointer.is_null().then_some(self.address)
    }
}

/// Writes the time of arrival into this rank's cell, at offset `cell` of the board or of the backlog.
pub(super) fn note_arrival(memory: &Mapped, cell: usize, now: Ticks) {
    memory.word(cell + ARRIVAL_AT).store(now.0, Ordering::Relaxed);
}

/// When `rank` arrived at a sampled instance that is complete.
pub fn arrival_of(board: &Board<Mapped>, rank: usize, seq: Seq) -> Ticks {
    Ticks(board.memory.word(board.geometry.cell(rank, seq.0) + ARRIVAL_AT).load(Ordering::Relaxed))
}

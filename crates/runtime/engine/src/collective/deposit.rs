//! What a rank puts on the board: inside its cell, in its ring, in the common area, or an address to
//! read from.
//!
//! The cell: flag | kind and length | arrival stamp | 40 bytes (payload, or where the payload is).

use crate::clock::Ticks;
use crate::collective::call::Kind;
use crate::collective::operation::Operation;
use crate::collective::plan::Route;
use crate::comm::shared::Served;
use crate::communicator::node::Comm;
use crate::copy::copy;
use crate::copy::streaming::Bulk;
use evenkeel_segment::board::geometry::CELL_BYTES;
use evenkeel_segment::sync::{Ordering, Words};
use evenkeel_segment::{Board, Mapped, Seq, cross_memory};

const LENGTH_AT: usize = 8;
const STAMP_AT: usize = 16;
const PAYLOAD_AT: usize = 24;

const IN_CELL: u64 = 0;
/// At an offset of the block.
const IN_BLOCK: u64 = 1;
/// At an address of the depositor's memory.
const IN_MEMORY: u64 = 2;

/// Bytes of an entry in the table of SCATTERV and ALLTOALLV: kind and length, place.
const ENTRY_BYTES: usize = 16;

/// Where a deposit goes, before it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deposit {
    pub ring_bytes: usize,
    pub payload: usize,
    /// Others will read this rank's memory: it must stay as it is until they have.
    pub offers_memory: bool,
}

impl Deposit {
    pub fn plan(operation: &Operation, comm: &Comm, served: &Served, _at: usize, len: usize) -> Deposit {
        let call = &operation.call;
        let ring = served.board.geometry.ring_bytes;
        // SAFETY: the front end provides the spans that the kind calls for.
        let spans_total = || (0..comm.ranks).map(|r| unsafe { call.send_span(r) }.bytes).sum::<usize>();
        let (table, payload) = match operation.kind() {
            Kind::Scatter | Kind::Alltoall => (0, len * comm.ranks),
            Kind::Gatherv => (0, call.bytes),
            Kind::Scatterv | Kind::Alltoallv | Kind::Alltoallw => (comm.ranks * ENTRY_BYTES, spans_total()),
            Kind::Allgatherv => (0, call.bytes.saturating_sub(_at).min(len)),
            _ => (0, len),
        };
        let direct =
            operation.route() == Route::Direct || (operation.kind().is_private() && table + payload > ring);
        let in_common = operation.kind() == Kind::Bcast && payload > CELL_BYTES && !direct;
        let ring_bytes = if direct {
            table
        } else if table > 0 || (payload > CELL_BYTES && !in_common) {
            table + payload
        } else {
            0
        };
        Deposit { ring_bytes, payload, offers_memory: direct && payload > 0 }
    }

    /// Writes the deposit of instance `seq`; publishing it is the caller's.
    ///
    /// # Safety
    /// The caller has entered the instance; `ring_at` and `common_at` are pieces it was given for it.
    #[allow(clippy::too_many_arguments, reason = "the places of one deposit")]
    pub unsafe fn write(
        &self,
        operation: &Operation,
        comm: &Comm,
        served: &Served,
        seq: Seq,
        ring_at: usize,
        common_at: usize,
        at: usize,
        len: usize,
        bulk: &mut Bulk,
    ) {
        let call = &operation.call;
        let memory = &served.board.memory;
        let cell = served.board.geometry.cell(comm.me, seq.0);
        let place = |kind: u64, bytes: usize, place: u64| {
            // Relaxed: the flag's release store publishes them.
            memory.word(cell + LENGTH_AT).store(kind << 62 | bytes as u64, Ordering::Relaxed);
            memory.word(cell + PAYLOAD_AT).store(place, Ordering::Relaxed);
        };
        let (source, target) = match operation.kind() {
            Kind::Scatterv | Kind::Alltoallv | Kind::Alltoallw => {
                // SAFETY: the ring piece holds the table, and the data too unless it is offered for reading.
                unsafe { self.write_table(operation, comm, served, ring_at) };
                return place(IN_BLOCK, self.payload, ring_at as u64);
            }
            _ if self.offers_memory => return place(IN_MEMORY, self.payload, call.send as u64),
            Kind::Bcast if self.payload > CELL_BYTES => (call.send.wrapping_add(at), common_at),
            Kind::Scatter | Kind::Alltoall => {
                let target = if self.ring_bytes > 0 { ring_at } else { cell + PAYLOAD_AT };
                for rank in 0..comm.ranks {
                    let from = call.send.wrapping_add(rank * call.bytes + at);
                    // SAFETY: `ranks` blocks of `call.bytes` in the send buffer; the target holds `ranks ×
                    // len`.
                    unsafe { copy(from, memory.pointer(target + rank * len), len) };
                }
                if self.ring_bytes > 0 {
                    return place(IN_BLOCK, self.payload, ring_at as u64);
                }
                memory.word(cell + LENGTH_AT).store(IN_CELL << 62 | self.payload as u64, Ordering::Relaxed);
                return;
            }
            _ => (call.send.wrapping_add(at), if self.ring_bytes > 0 { ring_at } else { cell + PAYLOAD_AT }),
        };
        // SAFETY: `payload` bytes from `at` on are in the send buffer, and the target has that much room.
        unsafe {
            if served.waiting.oversubscribed() {
                // most readers run on this core in their turn
                copy(source, memory.pointer(target), self.payload);
            } else {
                bulk.copy(source, memory.pointer(target), self.payload);
            }
        }
        if target == cell + PAYLOAD_AT {
            memory.word(cell + LENGTH_AT).store(IN_CELL << 62 | self.payload as u64, Ordering::Relaxed);
        } else {
            place(IN_BLOCK, self.payload, target as u64);
        }
    }

    /// # Safety
    /// As for `write`.
    unsafe fn write_table(&self, operation: &Operation, comm: &Comm, served: &Served, ring_at: usize) {
        let call = &operation.call;
        let memory = &served.board.memory;
        let mut data_at = ring_at + comm.ranks * ENTRY_BYTES;
        for rank in 0..comm.ranks {
            // SAFETY: one span a rank.
            let span = unsafe { call.send_span(rank) };
            let from = call.send.wrapping_offset(span.offset);
            let (kind, place) = if self.offers_memory {
                (IN_MEMORY, from as u64)
            } else {
                // SAFETY: the ring piece was sized by the same spans.
                unsafe { copy(from, memory.pointer(data_at), span.bytes) };
                (IN_BLOCK, data_at as u64)
            };
            memory
                .word(ring_at + rank * ENTRY_BYTES)
                .store(kind << 62 | span.bytes as u64, Ordering::Relaxed);
            memory.word(ring_at + rank * ENTRY_BYTES + 8).store(place, Ordering::Relaxed);
            data_at += if self.offers_memory { 0 } else { span.bytes };
        }
    }
}

/// Puts a small contribution into the own cell; publishing it is the caller's.
///
/// # Safety
/// The caller has entered the instance; `from` is valid for `bytes`, at most [`CELL_BYTES`].
#[inline(always)]
pub unsafe fn write_cell(board: &Board<Mapped>, me: usize, seq: Seq, from: *const u8, bytes: usize) {
    let cell = board.geometry.cell(me, seq.0);
    board.memory.word(cell + LENGTH_AT).store(IN_CELL << 62 | bytes as u64, Ordering::Relaxed);
    let target = board.memory.pointer(cell + PAYLOAD_AT);
    // SAFETY: the caller's promise.
    unsafe {
        if bytes == 8 {
            target.cast::<u64>().write(from.cast::<u64>().read_unaligned());
        } else {
            copy(from, target, bytes);
        }
    }
}

/// Puts bytes into the own cell or, if they are too many for it, at `room_at` of the block; publishing
/// them is the caller's.
///
/// # Safety
/// The caller has entered the instance, and been given so much room there.
pub unsafe fn hand_in(board: &Board<Mapped>, me: usize, seq: Seq, room_at: usize, bytes: &[u8]) {
    let cell = board.geometry.cell(me, seq.0);
    let (kind, target) =
        if bytes.len() <= CELL_BYTES { (IN_CELL, cell + PAYLOAD_AT) } else { (IN_BLOCK, room_at) };
    // Relaxed: the flag's release store publishes them.
    board.memory.word(cell + LENGTH_AT).store(kind << 62 | bytes.len() as u64, Ordering::Relaxed);
    if kind == IN_BLOCK {
        board.memory.word(cell + PAYLOAD_AT).store(room_at as u64, Ordering::Relaxed);
    }
    // SAFETY: the caller's promise.
    unsafe { copy(bytes.as_ptr(), board.memory.pointer(target), bytes.len()) };
}

/// A published deposit, or an entry of its table.
#[derive(Clone, Copy)]
pub struct Piece {
    pub bytes: usize,
    /// In this process's view of the block; null if it stands in the depositor's memory.
    pub pointer: *mut u8,
    address: u64,
    block: Mapped,
}

impl Piece {
    fn at(memory: Mapped, description_at: usize, place_at: usize) -> Piece {
        // Relaxed: the flag (or the count) was acquired before.
        let description = memory.word(description_at).load(Ordering::Relaxed);
        let place = || memory.word(place_at).load(Ordering::Relaxed);
        let (pointer, address) = match description >> 62 {
            IN_CELL => (memory.pointer(place_at), 0),
            IN_BLOCK => (memory.pointer(place() as usize), 0),
            _ => (std::ptr::null_mut(), place()),
        };
        Piece { bytes: (description & (u64::MAX >> 2)) as usize, pointer, address, block: memory }
    }

    /// What `rank` has deposited in `seq`.
    pub fn of(board: &Board<Mapped>, rank: usize, seq: Seq) -> Piece {
        let cell = board.geometry.cell(rank, seq.0);
        Piece::at(board.memory, cell + LENGTH_AT, cell + PAYLOAD_AT)
    }

    /// The payload inside `rank`'s cell, for those who know that it is there.
    #[inline(always)]
    pub fn cell(board: &Board<Mapped>, rank: usize, seq: Seq) -> *mut u8 {
        board.memory.pointer(board.geometry.cell(rank, seq.0) + PAYLOAD_AT)
    }

    /// The entry for `rank` of a deposit that is a table.
    pub fn entry(&self, rank: usize) -> Piece {
        let table = self.pointer as usize - self.block.pointer(0) as usize;
        Piece::at(self.block, table + rank * ENTRY_BYTES, table + rank * ENTRY_BYTES + 8)
    }

    /// Copies `bytes` from `from` on to `to`.
    ///
    /// # Safety
    /// The deposit is published by `rank` and this rank has not left; `to` must have room.
    pub unsafe fn fetch(
        &self,
        comm: &Comm,
        served: &Served,
        rank: usize,
        from: usize,
        to: *mut u8,
        bytes: usize,
    ) {
        if bytes == 0 {
            return;
        }
        if !self.pointer.is_null() {
            // SAFETY: the caller's promise; blocks and user buffers do not overlap.
            return unsafe { copy(self.pointer.wrapping_add(from), to, bytes) };
        }
        let pid = comm.pid_of(served, rank);
        // SAFETY: `to` has room; the depositor keeps its buffer until this rank has left.
        if let Err(e) = unsafe { cross_memory::read(pid, self.address + from as u64, to, bytes) } {
            if comm.is_revoked() || comm.has_lost_members(served) {
                return; // its owner has left the call; whoever waits for this one is told so
            }
            let place = served.places[rank];
            served.world.check_alive(std::iter::once(place), "collective");
            let world_rank = served.world.neighbours[place].world_rank;
            served.world.end(&format!(
                "rank {} could not read {bytes} bytes from rank {world_rank} (process {pid}): {e}. It worked when the job \
                 started; EVENKEEL_CMA=off avoids such reads",
                served.world.me
            ));
        }
    }
}

/// Leaves the time of arrival in the own cell.
pub fn stamp(board: &Board<Mapped>, me: usize, seq: Seq, now: Ticks) {
    board.memory.word(board.geometry.cell(me, seq.0) + STAMP_AT).store(now.0, Ordering::Relaxed);
}

/// When `rank` arrived at a sampled instance that is complete.
pub fn stamp_of(board: &Board<Mapped>, rank: usize, seq: Seq) -> Ticks {
    Ticks(board.memory.word(board.geometry.cell(rank, seq.0) + STAMP_AT).load(Ordering::Relaxed))
}

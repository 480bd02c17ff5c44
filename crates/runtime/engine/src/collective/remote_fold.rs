//! Combining vectors that are too long for their ranks' rings: each rank combines one part. It takes that
//! part of the other vectors from where they are in the segment, or reads it from their owners' memory, a
//! block at a time.

use super::call::{Call, CollectiveKind};
use super::completion::Instance;
use super::piece::Piece;
use super::remote_read::{ReadProgress, Reads};
use crate::comm::part::NodePart;
use crate::reduction::fold::fold;
use evenkeel_schedule::deposits::{fold_order, others};
use std::ptr;

/// How many bytes of all other vectors together are in this process at a time. They stay in the second-level
/// cache until they have been combined.
const BLOCKS_BYTES: usize = 256 * 1024;

/// No more than this of one vector is read at a time: more gains nothing.
const LARGEST_BLOCK: usize = 32 * 1024;

/// The alignment of a block, which is enough for every type and for the widest instructions.
const ALIGNMENT: usize = 64;

/// How far a rank is with combining the part of the vectors that it gets.
pub struct RemoteFold {
    /// How many bytes of it are combined in the present instance.
    done: usize,
    /// Of the block that is being read: what has come.
    reads: ReadProgress,
    /// A block of each vector but this rank's own.
    blocks: Vec<u8>,
    /// This rank's vector, if the result would be written over it too early.
    own: Vec<u8>,
}

impl RemoteFold {
    /// For a rank that gets a result. If that would be written over what this rank has yet to combine, `call`
    /// gets a copy of the rank's vector.
    ///
    /// # Safety
    /// The call's buffers and spans must be valid as its kind says.
    pub(crate) unsafe fn new(call: &mut Call, part: &NodePart) -> RemoteFold {
        let mut made =
            RemoteFold { done: 0, reads: ReadProgress::default(), blocks: Vec::new(), own: Vec::new() };
        // SAFETY: the caller's promise.
        let place = call.send.wrapping_offset(unsafe { call.reduced_part(part.me) }.offset);
        if !ptr::eq(place, call.recv) {
            // SAFETY: the caller's promise.
            unsafe { made.copy_overlapping(call, part) };
        }
        made
    }

    /// To be called before other ranks learn that they shall read this rank's memory: if the result goes
    /// where they read, `call` gets a copy of the rank's vector.
    ///
    /// # Safety
    /// As for `new`.
    pub(crate) unsafe fn prepare_for_readers(&mut self, call: &mut Call, part: &NodePart) {
        // Others do not read a rank's own part of what is scattered, so its result may be written there.
        if self.own.is_empty() && !scatters(call.kind()) {
            // SAFETY: the caller's promise.
            unsafe { self.copy_overlapping(call, part) };
        }
    }

    /// Gives `call` a copy of this rank's vector, if the result overlaps it.
    ///
    /// # Safety
    /// As for `new`.
    unsafe fn copy_overlapping(&mut self, call: &mut Call, part: &NodePart) {
        // SAFETY: the caller's promise.
        let part_of = |rank: usize| unsafe { call.reduced_part(rank) }.bytes;
        let vector = if scatters(call.kind()) { (0..part.ranks).map(part_of).sum() } else { call.bytes };
        let (recv, send) = (call.recv as usize, call.send as usize);
        if recv < send + vector && send < recv + part_of(part.me) {
            self.own = reserved(part, vector);
            // SAFETY: the send buffer holds the vector, by the caller's promise.
            self.own.extend_from_slice(unsafe { std::slice::from_raw_parts(call.send, vector) });
            call.send = self.own.as_ptr();
        }
    }

    /// Reads and combines what is left of this rank's part. Returns false if data have been asked for that
    /// have not come.
    ///
    /// # Safety
    /// All ranks have published their deposits, and this rank has not left the instance. Buffers are valid as
    /// the call's kind says.
    pub(crate) unsafe fn advance(&mut self, instance: &Instance<'_>, part: &NodePart) -> bool {
        let call = instance.call;
        let elem = call.elem_bytes.max(1);
        // SAFETY: the caller's promise.
        let mine = unsafe { call.reduced_part(part.me) };
        // A reduce_scatter of parts of different lengths is one instance.
        let bytes = if instance.kind == CollectiveKind::ReduceScatter { mine.bytes } else { instance.len };
        let vectors = instance.kind.operands(part.ranks, part.me);
        let combines_own = part.me < vectors;
        let blocks = part.ranks - 1;
        let block = (BLOCKS_BYTES / blocks.max(1)).min(LARGEST_BLOCK).max(elem).min(bytes) / elem * elem;
        let stride = block.next_multiple_of(ALIGNMENT);
        let piece_of = |rank: usize| (rank != part.me).then(|| instance.piece(part, rank));
        let pieces: Vec<Option<Piece>> = (0..vectors).map(piece_of).collect();
        let is_read = |rank: usize| pieces[rank].is_some_and(|piece| piece.address().is_some());
        // Where what this rank gets starts in the deposit of another one.
        let start_in = |piece: &Piece| match instance.kind {
            CollectiveKind::ReduceScatter => mine.offset as usize,
            CollectiveKind::ReduceScatterBlock => instance.offset_of_block(piece, part.me),
            _ => 0,
        };
        if self.blocks.capacity() == 0 && bytes > 0 && (0..vectors).any(is_read) {
            self.blocks = reserved(part, stride * blocks + ALIGNMENT);
        }
        let start = self.blocks.as_mut_ptr();
        let blocks = start.wrapping_add(start.align_offset(ALIGNMENT));
        while self.done < bytes {
            let n = block.min(bytes - self.done);
            let own = call.send.wrapping_offset(mine.offset).wrapping_add(instance.at + self.done);
            let out = call.recv.wrapping_add(instance.at + self.done);
            // Combining begins with the last rank's vector. If it is read, then to where the result goes,
            // which saves a copy, unless this rank's own one is there.
            let (innermost, _) = fold_order(vectors);
            let block_of = |rank: usize| {
                if let Some(piece) = pieces[rank].filter(|piece| piece.address().is_none()) {
                    piece.pointer.wrapping_add(start_in(&piece) + self.done)
                } else if rank == innermost && !(combines_own && ptr::eq(own, out)) {
                    out
                } else {
                    blocks.wrapping_add((rank - usize::from(rank > part.me)) * stride)
                }
            };
            let mut reads = Reads::new(part, instance.seq, &mut self.reads);
            for rank in others(part.ranks, part.me).filter(|&rank| rank < vectors) {
                let Some(piece) = pieces[rank].filter(|piece| piece.address().is_some()) else { continue };
                let from = start_in(&piece) + self.done;
                // SAFETY: the caller's promise; the block has room.
                if !unsafe { reads.fetch(&piece, rank, from, block_of(rank), n) } {
                    return false;
                }
            }
            let source = |rank: usize| if rank == part.me { own } else { block_of(rank).cast_const() };
            let sources: Vec<*const u8> = (0..vectors).map(source).collect();
            // SAFETY: the caller's promise; blocks do not overlap the program's buffers.
            unsafe { fold(call, &sources, out, n / elem) };
            self.done += n;
            self.reads = ReadProgress::default();
        }
        self.done = 0; // for the next instance
        true
    }
}

/// Returns whether each rank gets a part of the vector only.
fn scatters(kind: CollectiveKind) -> bool {
    matches!(kind, CollectiveKind::ReduceScatter | CollectiveKind::ReduceScatterBlock)
}

/// An empty vector with room for so many bytes. The job ends if there is no memory for it: the other ranks
/// are in the call already.
fn reserved(part: &NodePart, bytes: usize) -> Vec<u8> {
    let mut memory = Vec::new();
    if memory.try_reserve_exact(bytes).is_err() {
        let node = part.shared.node;
        node.end(&format!(
            "rank {} has no memory left for the {bytes} bytes that a reduction needs; EVENKEEL_CMA=off needs \
             none",
            node.me
        ));
    }
    memory
}

//! Combining vectors that are too long for the segment: each rank combines one part, and reads that part of
//! the other vectors from their owners' memory, a block at a time.

use super::call::{Call, Span};
use super::completion::Instance;
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

/// How far a rank is with combining its part of the vector.
pub struct RemoteFold {
    /// How many bytes of the part are combined.
    done: usize,
    /// Of the block that is being read: what has come.
    reads: ReadProgress,
    /// A block of each vector but this rank's own.
    blocks: Vec<u8>,
    /// This rank's vector, if the result would be written over it before the others have read it.
    _own: Vec<u8>,
}

impl RemoteFold {
    /// For a reduce_scatter. If its result goes where others read this rank's vector, `call` gets a copy of
    /// the vector.
    ///
    /// # Safety
    /// The call's buffers and spans must be valid as its kind says.
    pub(crate) unsafe fn new(call: &mut Call, part: &NodePart) -> RemoteFold {
        // SAFETY: the caller's promise.
        let Span { offset, bytes } = unsafe { call.reduced_part(part.me) };
        let place = call.send.wrapping_offset(offset);
        // SAFETY: as above.
        let vector = (0..part.ranks).map(|rank| unsafe { call.reduced_part(rank) }.bytes).sum::<usize>();
        let (recv, send) = (call.recv as usize, call.send as usize);
        let overlaps = bytes > 0 && recv < send + vector && send < recv + bytes;
        let mut own = Vec::new();
        // Others do not read this rank's own part, so the result may be written there.
        if overlaps && recv != place as usize {
            own = reserved(part, vector);
            // SAFETY: the send buffer holds the vector, by the caller's promise.
            own.extend_from_slice(unsafe { std::slice::from_raw_parts(call.send, vector) });
            call.send = own.as_ptr();
        }
        RemoteFold { done: 0, reads: ReadProgress::default(), blocks: Vec::new(), _own: own }
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
        let Span { offset, bytes } = unsafe { call.reduced_part(part.me) };
        let blocks = part.ranks - 1;
        let block = (BLOCKS_BYTES / blocks.max(1)).min(LARGEST_BLOCK).max(elem).min(bytes) / elem * elem;
        let stride = block.next_multiple_of(ALIGNMENT);
        if self.blocks.capacity() == 0 && bytes > 0 {
            self.blocks = reserved(part, stride * blocks + ALIGNMENT);
        }
        let start = self.blocks.as_mut_ptr();
        let blocks = start.wrapping_add(start.align_offset(ALIGNMENT));
        while self.done < bytes {
            let n = block.min(bytes - self.done);
            let at = offset as usize + self.done;
            let own = call.send.wrapping_add(at);
            let out = call.recv.wrapping_add(self.done);
            // Combining begins with the last rank's vector. It is read to where the result goes, which saves
            // a copy, unless this rank's own one is there.
            let (innermost, _) = fold_order(part.ranks);
            let block_of = |rank: usize| {
                if rank == innermost && !ptr::eq(own, out) {
                    out
                } else {
                    blocks.wrapping_add((rank - usize::from(rank > part.me)) * stride)
                }
            };
            let mut reads = Reads::new(part, instance.seq, &mut self.reads);
            for rank in others(part.ranks, part.me) {
                let piece = instance.piece(part, rank);
                // SAFETY: the caller's promise; the block has room.
                if !unsafe { reads.fetch(&piece, rank, at, block_of(rank), n) } {
                    return false;
                }
            }
            let source = |rank: usize| if rank == part.me { own } else { block_of(rank).cast_const() };
            let sources: Vec<*const u8> = (0..part.ranks).map(source).collect();
            // SAFETY: the caller's promise; blocks do not overlap the program's buffers.
            unsafe { fold(call, &sources, out, n / elem) };
            self.done += n;
            self.reads = ReadProgress::default();
        }
        true
    }
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

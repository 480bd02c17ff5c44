//! The bounce buffer of a process: where it leaves deposits that are too long for the ring of their
//! communicator, so that it need not stay until they have been read.
//!
//! It is a block of the segment that the process makes when it first needs one. All its communicators use it,
//! so what a process takes is bounded however many communicators it has. A place is used again once the
//! readers of what was there have left that instance.

use super::spare_block::SpareBlock;
use evenkeel_segment::block::{Block, BlockAllocator, Extent};
use evenkeel_segment::board::revocation::is_revoked;
use evenkeel_segment::layout::HEAD_BYTES;
use evenkeel_segment::{Board, Mapped, Segment, Seq};

/// Bytes of the block. Memory is taken only as it is used.
const TOTAL_BYTES: usize = 4 << 20;
/// Pieces start at the beginning of a line.
const ALIGN: usize = 64;

struct BounceExtent;

impl Extent for BounceExtent {
    fn total_bytes(&self) -> usize {
        TOTAL_BYTES
    }

    fn control_bytes(&self) -> usize {
        HEAD_BYTES
    }

    fn references(&self) -> usize {
        1 // its owner's, which keeps it
    }
}

/// Who reads a piece: the ranks of a board in one instance, or only one of them.
pub(crate) struct Readers {
    pub(crate) board: Board<Mapped>,
    /// The block that holds the board.
    pub(crate) block: Block,
    pub(crate) seq: Seq,
    pub(crate) only: Option<usize>,
    /// The communicator's first block, which records whether it has been revoked.
    pub(crate) first: Mapped,
}

impl Readers {
    /// All of them have left the instance, or what they still read is worth nothing. Where their block has a
    /// new use, each of them has given it back, which it does when it has left all instances. On a
    /// communicator that has been revoked, or has lost a member, all that is under way fails.
    fn have_left(&self, blocks: &BlockAllocator<'_, Segment>) -> bool {
        let left = self.only.map_or_else(|| self.board.all_left(), |rank| self.board.left(rank));
        left > self.seq.0 || !blocks.is_current(self.block) || is_revoked(&self.first)
    }
}

/// A process's own view of its bounce buffer.
#[derive(Default)]
pub(crate) struct BounceBuffer {
    block: SpareBlock,
    pieces: Pieces<Readers>,
}

impl BounceBuffer {
    /// Reserves `bytes` until the readers have left. Returns the offset in the segment, or `None` if there is
    /// no room now.
    pub(crate) fn reserve(
        &mut self,
        blocks: &BlockAllocator<'_, Segment>,
        bytes: usize,
        readers: Readers,
    ) -> Option<usize> {
        let block = self.block.get(blocks, &BounceExtent, |_| ())?;
        self.pieces.release(|readers| readers.have_left(blocks));
        let at = self.pieces.reserve(bytes, TOTAL_BYTES - HEAD_BYTES, readers)?;
        Some(block.offset() + HEAD_BYTES + at)
    }
}

/// The pieces in use of a stretch of memory, by where they start.
struct Pieces<T> {
    in_use: Vec<Piece<T>>,
}

struct Piece<T> {
    begin: usize,
    end: usize,
    user: T,
}

impl<T> Default for Pieces<T> {
    fn default() -> Self {
        Pieces { in_use: Vec::new() }
    }
}

impl<T> Pieces<T> {
    /// Takes back the pieces whose user needs them no more.
    fn release(&mut self, is_over: impl Fn(&T) -> bool) {
        self.in_use.retain(|piece| !is_over(&piece.user));
    }

    /// Reserves the first free piece of so many bytes below `size`. The lowest places are used over and over,
    /// and so stay in the caches.
    fn reserve(&mut self, bytes: usize, size: usize, user: T) -> Option<usize> {
        let mut begin = 0;
        let mut index = 0;
        for piece in &self.in_use {
            if begin + bytes <= piece.begin {
                break;
            }
            begin = piece.end;
            index += 1;
        }
        let end = begin + bytes.next_multiple_of(ALIGN);
        (end <= size).then(|| {
            self.in_use.insert(index, Piece { begin, end, user });
            begin
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    #[test]
    fn pieces_in_use_never_overlap_and_all_room_comes_back() {
        const SIZE: usize = 64 * 1024;
        let mut random = Random::new(1);
        let mut pieces = Pieces::default();
        let mut in_use: Vec<(u64, usize, usize)> = vec![];
        let mut refused = 0;
        for number in 0..20_000u64 {
            let bytes = 1 + random.below(SIZE / 4);
            match pieces.reserve(bytes, SIZE, number) {
                Some(at) => {
                    assert_eq!(at % ALIGN, 0);
                    assert!(at + bytes <= SIZE);
                    let overlaps = |&(_, a, b): &(u64, usize, usize)| at < b && a < at + bytes;
                    assert!(!in_use.iter().any(overlaps), "piece {number} at {at}");
                    in_use.push((number, at, at + bytes));
                }
                None => refused += 1,
            }
            in_use.retain(|_| random.below(5) > 0);
            pieces.release(|number| !in_use.iter().any(|piece| piece.0 == *number));
        }
        assert!(refused > 100, "it was never full");
        pieces.release(|_| true);
        assert_eq!(pieces.reserve(SIZE, SIZE, 0), Some(0));
    }
}

//! Allocates pieces of a ring of bytes. Pieces are freed in the order of the instances that use them.

use std::collections::VecDeque;

/// The bookkeeping of one ring. Positions only grow; the offset of a piece is its position modulo the size
/// of the ring.
#[derive(Debug)]
pub struct RingAllocator {
    size: u64,
    head: u64,
    freed: u64,
    /// Pieces in use: the instance, and the position after the piece.
    in_use: VecDeque<(u64, u64)>,
}

const ALIGN: u64 = 64;

impl RingAllocator {
    /// A ring of `size` bytes.
    pub fn new(size: usize) -> RingAllocator {
        RingAllocator { size: size as u64, head: 0, freed: 0, in_use: VecDeque::with_capacity(64) }
    }

    /// The position of a new piece of `bytes`. Pieces do not wrap around the end of the ring.
    fn position(&self, bytes: u64) -> u64 {
        let room = self.size - self.head % self.size;
        if bytes > room { self.head + room } else { self.head }
    }

    /// Returns whether a piece of `bytes` can be allocated now, given that all ranks have left all
    /// instances below `left`.
    pub fn has_room(&mut self, bytes: usize, left: u64) -> bool {
        while let Some(&(_, end)) = self.in_use.front().filter(|(seq, _)| *seq < left) {
            self.freed = end;
            self.in_use.pop_front();
        }
        let start = self.position(bytes as u64);
        if self.in_use.is_empty() {
            self.freed = start; // the bytes skipped at the end of the ring are free too
        }
        start + bytes as u64 <= self.freed + self.size
    }

    /// Allocates a piece for instance `seq` and returns its offset in the ring. The caller must have got
    /// true from [`RingAllocator::has_room`].
    pub fn allocate(&mut self, bytes: usize, seq: u64) -> usize {
        let start = self.position(bytes as u64);
        debug_assert!(bytes as u64 <= self.size);
        self.head = (start + bytes as u64).next_multiple_of(ALIGN);
        self.in_use.push_back((seq, self.head));
        (start % self.size) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_in_use_never_overlap() {
        let mut allocator = RingAllocator::new(1024);
        let mut in_use: Vec<(u64, usize, usize)> = vec![];
        let mut left = 0;
        let mut x = 1u64;
        for seq in 0..10_000 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1);
            let bytes = 1 + (x >> 33) as usize % 1000;
            while !allocator.has_room(bytes, left) {
                assert!(left <= seq, "stuck: a piece that fits the ring must fit once all pieces are freed");
                left += 1;
            }
            in_use.retain(|piece| piece.0 >= left);
            let at = allocator.allocate(bytes, seq);
            assert!(at + bytes <= 1024);
            assert!(in_use.iter().all(|&(_, a, b)| at + bytes <= a || a + b <= at), "overlap");
            in_use.push((seq, at, bytes));
        }
    }

    #[test]
    fn positions_do_not_depend_on_when_pieces_are_freed() {
        let mut eager = RingAllocator::new(4096);
        let mut lazy = RingAllocator::new(4096);
        for seq in 0..1000u64 {
            let bytes = (seq as usize * 37) % 1500 + 1;
            assert!(eager.has_room(bytes, seq));
            let mut left = seq.saturating_sub(3);
            while !lazy.has_room(bytes, left) {
                left += 1;
            }
            assert_eq!(eager.allocate(bytes, seq), lazy.allocate(bytes, seq));
        }
    }
}

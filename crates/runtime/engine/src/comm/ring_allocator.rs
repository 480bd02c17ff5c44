//! Allocates pieces of a ring of bytes, which are freed in the order of the instances that they belong to.

use std::collections::VecDeque;

/// The bookkeeping of one ring. Positions only grow; a piece's offset is its position modulo the ring's size.
#[derive(Debug)]
pub struct RingAllocator {
    size: u64,
    head: u64,
    freed: u64,
    /// Pieces in use: the instance, and the position after the piece.
    held: VecDeque<(u64, u64)>,
}

const ALIGN: u64 = 64;

impl RingAllocator {
    /// Of a ring of `size` bytes.
    pub fn new(size: usize) -> RingAllocator {
        RingAllocator { size: size as u64, head: 0, freed: 0, held: VecDeque::with_capacity(64) }
    }

    /// The position of a piece of `bytes`: pieces do not wrap around the end.
    fn position(&self, bytes: u64) -> u64 {
        let room = self.size - self.head % self.size;
        if bytes > room { self.head + room } else { self.head }
    }

    /// Whether a piece of `bytes` can be allocated now, given that all ranks have left the instances below
    /// `left`.
    pub fn has_room(&mut self, bytes: usize, left: u64) -> bool {
        while let Some(&(_, end)) = self.held.front().filter(|(seq, _)| *seq < left) {
            self.freed = end;
            self.held.pop_front();
        }
        let start = self.position(bytes as u64);
        if self.held.is_empty() {
            self.freed = start; // what is skipped at the end of the ring holds nothing either
        }
        start + bytes as u64 <= self.freed + self.size
    }

    /// Allocates a piece for instance `seq`; its offset in the ring. [`RingAllocator::has_room`] must have
    /// said yes.
    pub fn allocate(&mut self, bytes: usize, seq: u64) -> usize {
        let start = self.position(bytes as u64);
        debug_assert!(bytes as u64 <= self.size);
        self.head = (start + bytes as u64).next_multiple_of(ALIGN);
        self.held.push_back((seq, self.head));
        (start % self.size) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_never_overlap_while_held() {
        let mut allocator = RingAllocator::new(1024);
        let mut held: Vec<(u64, usize, usize)> = vec![];
        let mut left = 0;
        let mut x = 1u64;
        for seq in 0..10_000 {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1);
            let bytes = 1 + (x >> 33) as usize % 1000;
            while !allocator.has_room(bytes, left) {
                assert!(left <= seq, "stuck: a piece that fits the ring must fit once all is freed");
                left += 1;
            }
            held.retain(|h| h.0 >= left);
            let at = allocator.allocate(bytes, seq);
            assert!(at + bytes <= 1024);
            assert!(held.iter().all(|&(_, a, b)| at + bytes <= a || a + b <= at), "overlap");
            held.push((seq, at, bytes));
        }
    }

    #[test]
    fn positions_do_not_depend_on_when_things_are_freed() {
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

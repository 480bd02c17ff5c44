//! Allocates blocks and frees them, without a lock.
//!
//! Fresh blocks come from a counter that only grows. Freed ones lie in lists, one for each power-of-two size,
//! whose heads carry a tag against the ABA problem. A process that dies between two steps loses a block,
//! nothing more.

use crate::block::{Block, Extent};
use crate::layout::{
    FIRST_BLOCK_PAGE, FREE_LISTS_AT, FRESH_PAGE_AT, GENERATION_AT, GENERATIONS_AT, LINE, NEXT_FREE_AT, PAGE,
    REFERENCES_AT, SIZE_CLASSES,
};
use crate::sync::{Ordering, Words};

/// Pages of the smallest blocks: those of a communicator of two ranks.
const SMALLEST_PAGES: usize = 32;

/// The block of COMM_WORLD, on every node.
pub const WORLD: Block = Block { page: FIRST_BLOCK_PAGE as u32, generation: 1 };

/// Hands out the blocks of a segment.
pub struct BlockAllocator<'a, M> {
    pub(super) segment: &'a M,
    bytes: usize,
}

impl<'a, M: Words> BlockAllocator<'a, M> {
    /// For the first `bytes` of a segment.
    pub fn new(segment: &'a M, bytes: usize) -> Self {
        BlockAllocator { segment, bytes }
    }

    /// Sets the block of COMM_WORLD aside. To be called once, by the process that made the segment, before
    /// another process sees it.
    pub fn initialize(&self, world: &impl Extent) {
        let pages = class_pages(size_class(world));
        self.segment.word(FRESH_PAGE_AT).store((FIRST_BLOCK_PAGE + pages) as u64, Ordering::Relaxed);
        self.segment.word(GENERATIONS_AT).store(1, Ordering::Relaxed);
        self.write_head(WORLD, world);
    }

    /// Allocates a block; None if the segment has no room for it.
    pub fn allocate(&self, extent: &impl Extent) -> Option<Block> {
        let class = size_class(extent);
        let page = match self.pop_free(class) {
            Some(page) => self.clear(page, extent),
            None => self.take_fresh(class_pages(class))?,
        };
        let generation = self.segment.word(GENERATIONS_AT).fetch_add(1, Ordering::Relaxed) as u32 + 1;
        let block = Block { page, generation };
        self.write_head(block, extent);
        Some(block)
    }

    /// Like [`BlockAllocator::allocate`], for what can be done without: None if less than half of the segment
    /// would be left for blocks that have never been used.
    pub fn allocate_spare(&self, extent: &impl Extent) -> Option<Block> {
        self.has_spare(extent).then(|| self.allocate(extent))?
    }

    /// Whether so much can be allocated for what can be done without.
    pub fn has_spare(&self, extent: &impl Extent) -> bool {
        let used = self.segment.word(FRESH_PAGE_AT).load(Ordering::Relaxed) as usize * PAGE;
        used + extent.total_bytes() <= self.bytes / 2
    }

    fn write_head(&self, block: Block, extent: &impl Extent) {
        let references = self.segment.word(block.offset() + REFERENCES_AT);
        references.store(extent.references() as u64, Ordering::Relaxed);
        // Release: pairs with the load in `generation`, which then finds the block ready.
        self.segment.word(block.offset() + GENERATION_AT).store(block.generation as u64, Ordering::Release);
    }

    /// The generation of the block that starts, or last started, at a page.
    pub(super) fn generation(&self, page: u32) -> u32 {
        // Acquire: pairs with the store in `write_head`.
        self.segment.word(page as usize * PAGE + GENERATION_AT).load(Ordering::Acquire) as u32
    }

    /// Whether the place of the block has had no other use since.
    pub fn is_current(&self, block: Block) -> bool {
        self.generation(block.page) == block.generation
    }

    /// Drops one reference; dropping the last one frees the block.
    pub fn drop_reference(&self, block: Block, extent: &impl Extent) {
        // AcqRel: the last one must come after everything that the others did with the block.
        if self.segment.word(block.offset() + REFERENCES_AT).fetch_sub(1, Ordering::AcqRel) == 1 {
            self.free(block, extent);
        }
    }

    /// Zeroes a used block for its next user, as far as that user's extent demands: its control words may
    /// lie where the previous user had data.
    fn clear(&self, page: u32, extent: &impl Extent) -> u32 {
        for offset in (0..extent.control_bytes()).step_by(8) {
            self.segment.word(page as usize * PAGE + offset).store(0, Ordering::Relaxed);
        }
        page
    }

    /// Puts a block on the free list of its size.
    pub(super) fn free(&self, block: Block, extent: &impl Extent) {
        let head = self.segment.word(FREE_LISTS_AT + size_class(extent) * LINE);
        let mut seen = head.load(Ordering::Relaxed);
        loop {
            self.segment.word(block.offset() + NEXT_FREE_AT).store(seen & 0xffff_ffff, Ordering::Relaxed);
            // Release: pairs with the loads in `pop_free`, so that the next user comes after everything that
            // was done with the block.
            let new = next_tag(seen) | block.page as u64;
            match head.compare_exchange_weak(seen, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Takes the page of a free block off its list.
    fn pop_free(&self, class: usize) -> Option<u32> {
        let head = self.segment.word(FREE_LISTS_AT + class * LINE);
        let mut seen = head.load(Ordering::Acquire); // pairs with the exchange in `free`
        while seen as u32 != 0 {
            let page = seen as u32;
            let next = self.segment.word(page as usize * PAGE + NEXT_FREE_AT).load(Ordering::Relaxed);
            let new = next_tag(seen) | next;
            // Acquire: pairs with the exchange in `free`.
            match head.compare_exchange_weak(seen, new, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(page),
                Err(now) => seen = now,
            }
        }
        None
    }

    /// Takes pages that have never been used; None if there are not that many.
    fn take_fresh(&self, pages: usize) -> Option<u32> {
        let fresh = self.segment.word(FRESH_PAGE_AT);
        let mut seen = fresh.load(Ordering::Relaxed);
        loop {
            let end = seen as usize + pages;
            if end * PAGE > self.bytes {
                return None;
            }
            // Relaxed: fresh pages are zero for everybody.
            match fresh.compare_exchange_weak(seen, end as u64, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(seen as u32),
                Err(now) => seen = now,
            }
        }
    }
}

/// The power-of-two size of a block, counted from the smallest.
fn size_class(extent: &impl Extent) -> usize {
    let pages = extent.total_bytes().div_ceil(PAGE).max(SMALLEST_PAGES);
    let class = (pages.next_power_of_two() / SMALLEST_PAGES).trailing_zeros() as usize;
    assert!(class < SIZE_CLASSES);
    class
}

fn class_pages(class: usize) -> usize {
    SMALLEST_PAGES << class
}

fn next_tag(head: u64) -> u64 {
    (head >> 32).wrapping_add(1) << 32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::{Geometry, Segment};

    #[test]
    fn blocks_are_reused_only_after_the_last_reference() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        let geometry = Geometry::new(2);
        blocks.initialize(&geometry);
        let a = blocks.allocate(&geometry).unwrap();
        blocks.drop_reference(a, &geometry);
        let b = blocks.allocate(&geometry).unwrap();
        assert_ne!(a.page, b.page, "one of two references is still held");
        blocks.drop_reference(a, &geometry);
        let c = blocks.allocate(&geometry).unwrap();
        assert_eq!(a.page, c.page);
        assert_ne!(a.id(), c.id(), "an id is never used twice");
    }

    #[test]
    fn a_block_used_by_fewer_ranks_before_comes_empty() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        blocks.initialize(&Geometry::new(2));
        let (three, four) = (Geometry::new(3), Geometry::new(4));
        let before = blocks.allocate(&three).unwrap();
        for offset in (LINE..three.total_bytes).step_by(8) {
            segment.word(before.offset() + offset).store(u64::MAX, Ordering::Relaxed);
        }
        (0..3).for_each(|_| blocks.drop_reference(before, &three));
        let after = blocks.allocate(&four).unwrap();
        assert_eq!(before.page, after.page, "the test wants the same place again");
        for offset in (LINE..four.control_bytes()).step_by(8) {
            assert_eq!(segment.word(after.offset() + offset).load(Ordering::Relaxed), 0, "at {offset}");
        }
    }

    #[test]
    fn a_full_segment_gives_no_more_blocks() {
        let segment = Segment::create(4 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        let geometry = Geometry::new(2);
        blocks.initialize(&geometry);
        let mut got = 0;
        while blocks.allocate(&geometry).is_some() {
            got += 1;
        }
        assert!(got > 10 && got < 32, "{got}");
    }
}

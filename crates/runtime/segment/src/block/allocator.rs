//! Blocks of the segment: reserved and given back without a lock.
//!
//! Fresh blocks come from a counter that only grows; returned ones lie in stacks, one for each
//! power-of-two size, whose heads carry a tag against the ABA problem. A process that dies between two
//! steps loses a block, nothing more.

use crate::board::geometry::{
    COMPANION_AT, DUPLICATES, DUPLICATES_AT, FLAGS_AT, GENERATION_AT, Geometry, LINE, NEXT_FREE_AT, PAGE,
    REFS_AT,
};
use crate::flags::FlagGeometry;
use crate::sync::{Ordering, Words};

/// Processes of one node that can take part in a job.
pub const PROCESSES: usize = 4096;
const PROCESSES_AT: usize = PAGE;
const FIRST_PAGE: usize = 1 + PROCESSES * LINE / PAGE;

const BUMP_AT: usize = LINE;
const GENERATIONS_AT: usize = 2 * LINE;
const STACKS_AT: usize = 4 * LINE;
/// The words of the node's agent: whether it sleeps; which node, and which rank, it has found lost.
const AGENT_AT: usize = STACKS_AT + CLASSES * LINE;
const SMALLEST_PAGES: usize = 32; // two ranks' worth
const CLASSES: usize = 24;
const _: () = assert!(AGENT_AT + 3 * LINE <= PAGE);

/// A reserved block: where it starts and which use of that place this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    pub page: u32,
    pub generation: u32,
}

impl Block {
    /// One number for both, never 0.
    pub fn id(self) -> u64 {
        (self.generation as u64) << 32 | self.page as u64
    }

    pub fn from_id(id: u64) -> Option<Block> {
        (id as u32 != 0).then_some(Block { page: id as u32, generation: (id >> 32) as u32 })
    }

    /// Offset in the segment.
    pub fn offset(self) -> usize {
        self.page as usize * PAGE
    }
}

/// How much of the segment a block takes.
pub trait Extent {
    /// All of it.
    fn total_bytes(&self) -> usize;
    /// What must be zero when it is handed out: everything below this offset.
    fn control_bytes(&self) -> usize;
}

impl Extent for Geometry {
    fn total_bytes(&self) -> usize {
        self.total_bytes
    }
    fn control_bytes(&self) -> usize {
        Geometry::control_bytes(self)
    }
}

/// The part of a segment that hands out blocks.
pub struct BlockAllocator<'a, M> {
    segment: &'a M,
    bytes: usize,
}

/// The block every node's COMM_WORLD uses.
pub const WORLD: Block = Block { page: FIRST_PAGE as u32, generation: 1 };

impl<'a, M: Words> BlockAllocator<'a, M> {
    pub fn new(segment: &'a M, bytes: usize) -> Self {
        BlockAllocator { segment, bytes }
    }

    /// By the maker of the segment, before anybody else sees it: sets the block of COMM_WORLD aside.
    pub fn initialize(&self, world_ranks: usize) {
        let pages = class_pages(class(&Geometry::new(world_ranks.max(2))));
        self.segment.word(BUMP_AT).store((FIRST_PAGE + pages) as u64, Ordering::Relaxed);
        self.segment.word(GENERATIONS_AT).store(1, Ordering::Relaxed);
        self.inscribe(WORLD, world_ranks);
    }

    /// Reserves a block for a communicator of `ranks`, with that many references; None when there is no room.
    pub fn allocate(&self, ranks: usize) -> Option<Block> {
        self.allocate_extent(ranks, &Geometry::new(ranks))
    }

    /// The same with another layout than the usual one.
    pub fn allocate_extent(&self, ranks: usize, extent: &impl Extent) -> Option<Block> {
        let page = self.pop(class(extent)).map(|page| self.empty(page, extent));
        let page = page.or_else(|| self.grow(class_pages(class(extent))))?;
        let generation = self.segment.word(GENERATIONS_AT).fetch_add(1, Ordering::Relaxed) as u32 + 1;
        let block = Block { page, generation };
        self.inscribe(block, ranks);
        Some(block)
    }

    fn inscribe(&self, block: Block, ranks: usize) {
        self.segment.word(block.offset() + REFS_AT).store(ranks as u64, Ordering::Relaxed);
        // Release: who reads the generation (in `child`) sees a block that is ready.
        self.segment.word(block.offset() + GENERATION_AT).store(block.generation as u64, Ordering::Release);
    }

    /// Whether the place of the block is still, or was last, in this use.
    pub fn is_current(&self, block: Block) -> bool {
        // Acquire: pairs with the store in `inscribe`.
        self.segment.word(block.offset() + GENERATION_AT).load(Ordering::Acquire) as u32 == block.generation
    }

    /// Drops one reference; the last one gives the block back.
    pub fn drop_reference(&self, block: Block, extent: &impl Extent) {
        // AcqRel: the last one must come after everything the others did with the block.
        if self.segment.word(block.offset() + REFS_AT).fetch_sub(1, Ordering::AcqRel) != 1 {
            return;
        }
        self.give_back(block, extent);
    }

    /// Empties a used block for its next user: by that one's extent, as flags may come to lie where data of
    /// the last one lay.
    fn empty(&self, page: u32, extent: &impl Extent) -> u32 {
        for offset in (0..extent.control_bytes()).step_by(8) {
            self.segment.word(page as usize * PAGE + offset).store(0, Ordering::Relaxed);
        }
        page
    }

    fn give_back(&self, block: Block, extent: &impl Extent) {
        let head = self.segment.word(STACKS_AT + class(extent) * LINE);
        let mut seen = head.load(Ordering::Relaxed);
        loop {
            self.segment.word(block.offset() + NEXT_FREE_AT).store(seen & 0xffff_ffff, Ordering::Relaxed);
            // Release: pairs with `pop`, which must come after everything that was done with the block.
            let new = next_tag(seen) | block.page as u64;
            match head.compare_exchange_weak(seen, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    fn pop(&self, class: usize) -> Option<u32> {
        let head = self.segment.word(STACKS_AT + class * LINE);
        let mut seen = head.load(Ordering::Acquire);
        loop {
            let page = seen as u32;
            if page == 0 {
                return None;
            }
            let next = self.segment.word(page as usize * PAGE + NEXT_FREE_AT).load(Ordering::Relaxed);
            match head.compare_exchange_weak(
                seen,
                next_tag(seen) | next,
                Ordering::Acquire,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(page),
                Err(now) => seen = now,
            }
        }
    }

    fn grow(&self, pages: usize) -> Option<u32> {
        let bump = self.segment.word(BUMP_AT);
        let mut seen = bump.load(Ordering::Relaxed);
        loop {
            let end = seen as usize + pages;
            if end * PAGE > self.bytes {
                return None;
            }
            match bump.compare_exchange_weak(seen, end as u64, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Some(seen as u32),
                Err(now) => seen = now,
            }
        }
    }

    /// The block of the `number`-th duplicate (0, 1, …) of the communicator in `parent`: the first member
    /// to ask reserves it, the others find it. None when there is no room, for all members alike. `asking`:
    /// how many members ask; a node's agent does not.
    ///
    /// Waits (through `pause`) only for members that have fallen behind by [`DUPLICATES`] duplicates.
    pub fn duplicate(
        &self,
        parent: Block,
        geometry: &Geometry,
        asking: usize,
        number: u64,
        mut pause: impl FnMut(),
    ) -> Option<Block> {
        let ranks = geometry.ranks;
        let entry = parent.offset() + DUPLICATES_AT + (number as usize % DUPLICATES) * 16;
        let (word, taken) = (self.segment.word(entry), self.segment.word(entry + 8));
        let round = number / DUPLICATES as u64;
        let mine = (number + 1) << 32;
        let page = loop {
            let seen = word.load(Ordering::Acquire);
            if seen >> 32 == number + 1 {
                break seen as u32;
            }
            if taken.load(Ordering::Acquire) < round * asking as u64 {
                pause();
                continue;
            }
            let block = self.allocate_extent(ranks, geometry);
            let page = block.map_or(0, |b| b.page);
            // AcqRel: pairs with the load above, so that the finder sees the block's generation.
            match word.compare_exchange(seen, mine | page as u64, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break page,
                Err(_) => {
                    if let Some(block) = block {
                        self.give_back(block, geometry);
                    }
                }
            }
        };
        // The generation is read before this member counts as having taken the entry; it cannot have changed.
        let generation =
            self.segment.word(page as usize * PAGE + GENERATION_AT).load(Ordering::Acquire) as u32;
        taken.fetch_add(1, Ordering::AcqRel);
        (page != 0).then_some(Block { page, generation })
    }

    /// The second block of the communicator in `owner`: the first member to ask reserves it, the others
    /// find it, whenever they ask. None when there was no room, for all members alike. Every member that
    /// asks holds a reference to it.
    pub fn companion(&self, owner: Block, geometry: &Geometry) -> Option<Block> {
        self.beside(owner, COMPANION_AT, geometry.ranks, geometry)
    }

    /// The block of the flags of the communicator in `owner`, in the same way. All members must ask for the
    /// same geometry.
    pub fn flags(&self, owner: Block, geometry: &FlagGeometry) -> Option<Block> {
        self.beside(owner, FLAGS_AT, geometry.ranks, geometry)
    }

    /// The block that is named in the word at `entry` of `owner`'s head.
    fn beside(&self, owner: Block, entry: usize, ranks: usize, extent: &impl Extent) -> Option<Block> {
        let word = self.segment.word(owner.offset() + entry);
        let mut seen = word.load(Ordering::Acquire);
        if seen == 0 {
            let block = self.allocate_extent(ranks, extent);
            // The upper half makes "no room" differ from "nobody has asked".
            let mine = 1 << 32 | block.map_or(0, |b| b.page as u64);
            // AcqRel: pairs with the load above, so that the finder sees the block's generation.
            seen = match word.compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => mine,
                Err(first) => {
                    if let Some(block) = block {
                        self.give_back(block, extent);
                    }
                    first
                }
            };
        }
        let page = seen as u32;
        // It cannot have changed: this member's reference is still held.
        let generation =
            || self.segment.word(page as usize * PAGE + GENERATION_AT).load(Ordering::Acquire) as u32;
        (page != 0).then(|| Block { page, generation: generation() })
    }

    /// Not 0 while the node's agent sleeps, or is about to: then whoever has something for it rings.
    pub fn agent_sleeps(&self) -> &'a crate::sync::AtomicU64 {
        self.segment.word(AGENT_AT)
    }

    /// 1 + the number of a node that the agent has found lost; 0: none.
    pub fn lost_node(&self) -> &'a crate::sync::AtomicU64 {
        self.segment.word(AGENT_AT + LINE)
    }

    /// 1 + the world rank of a process that has died before its part was done; 0: none.
    pub fn dead_rank(&self) -> &'a crate::sync::AtomicU64 {
        self.segment.word(AGENT_AT + 2 * LINE)
    }

    /// The word in which process `index` of this node keeps its state.
    pub fn process_state(&self, index: usize) -> &'a crate::sync::AtomicU64 {
        assert!(index < PROCESSES);
        self.segment.word(PROCESSES_AT + index * LINE)
    }
}

fn class(extent: &impl Extent) -> usize {
    let pages = extent.total_bytes().div_ceil(PAGE).max(SMALLEST_PAGES);
    let class = (pages.next_power_of_two() / SMALLEST_PAGES).trailing_zeros() as usize;
    assert!(class < CLASSES);
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
    use crate::Segment;
    use std::collections::HashSet;

    #[test]
    fn blocks_are_reused_only_after_the_last_reference() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        blocks.initialize(2);
        let geometry = Geometry::new(2);
        let a = blocks.allocate(2).unwrap();
        blocks.drop_reference(a, &geometry);
        let b = blocks.allocate(2).unwrap();
        assert_ne!(a.page, b.page, "one of two references is still held");
        blocks.drop_reference(a, &geometry);
        let c = blocks.allocate(2).unwrap();
        assert_eq!(a.page, c.page);
        assert_ne!(a.id(), c.id(), "an id is never used twice");
    }

    #[test]
    fn a_block_used_by_fewer_ranks_before_comes_empty() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        blocks.initialize(2);
        let (three, four) = (Geometry::new(3), Geometry::new(4));
        let before = blocks.allocate(3).unwrap();
        for offset in (LINE..three.total_bytes).step_by(8) {
            segment.word(before.offset() + offset).store(u64::MAX, Ordering::Relaxed);
        }
        (0..3).for_each(|_| blocks.drop_reference(before, &three));
        let after = blocks.allocate(4).unwrap();
        assert_eq!(before.page, after.page, "the test wants the same place again");
        for offset in (LINE..four.control_bytes()).step_by(8) {
            assert_eq!(segment.word(after.offset() + offset).load(Ordering::Relaxed), 0, "at {offset}");
        }
    }

    #[test]
    fn a_full_segment_says_so() {
        let segment = Segment::create(4 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        blocks.initialize(2);
        let mut got = 0;
        while blocks.allocate(2).is_some() {
            got += 1;
        }
        assert!(got > 10 && got < 32, "{got}");
    }

    #[test]
    fn members_find_the_same_duplicates_from_many_threads() {
        let segment = Segment::create(1 << 30, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        blocks.initialize(4);
        let ids: Vec<Vec<u64>> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    s.spawn(|| {
                        let child = |n| {
                            blocks
                                .duplicate(WORLD, &Geometry::new(4), 4, n, std::thread::yield_now)
                                .unwrap()
                                .id()
                        };
                        (0..200).map(child).collect()
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|i| *i == ids[0]));
        assert_eq!(ids[0].iter().collect::<HashSet<_>>().len(), 200);
    }

    #[test]
    fn members_find_the_same_companion_from_many_threads() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        blocks.initialize(4);
        for _ in 0..200 {
            let owner = blocks.allocate(4).unwrap();
            let found: Vec<Block> = std::thread::scope(|s| {
                let threads: Vec<_> =
                    (0..4).map(|_| s.spawn(|| blocks.companion(owner, &Geometry::new(4)).unwrap())).collect();
                threads.into_iter().map(|t| t.join().unwrap()).collect()
            });
            assert!(found.iter().all(|b| *b == found[0] && b.page != owner.page));
            (0..4).for_each(|_| blocks.drop_reference(found[0], &Geometry::new(4)));
            (0..4).for_each(|_| blocks.drop_reference(owner, &Geometry::new(4)));
        }
    }

    #[test]
    fn flags_lie_in_a_block_of_their_own_and_come_lowered() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        blocks.initialize(4);
        let geometry = FlagGeometry::new(4, 5, 2);
        let ask = || {
            let owner = blocks.allocate(4).unwrap();
            (owner, blocks.flags(owner, &geometry).unwrap())
        };
        let (owner, first) = ask();
        assert_eq!(blocks.flags(owner, &geometry), Some(first));
        assert_ne!(blocks.companion(owner, &Geometry::new(4)).unwrap().page, first.page);
        for offset in (LINE..geometry.total_bytes).step_by(8) {
            segment.word(first.offset() + offset).store(u64::MAX, Ordering::Relaxed);
        }
        (0..4).for_each(|_| blocks.drop_reference(first, &geometry));
        let (_, again) = ask();
        assert_eq!(first.page, again.page, "the test wants the same place again");
        for offset in (LINE..geometry.total_bytes).step_by(8) {
            assert_eq!(segment.word(again.offset() + offset).load(Ordering::Relaxed), 0, "at {offset}");
        }
    }

    #[test]
    fn without_room_nobody_has_a_companion() {
        let segment = Segment::create(4 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        blocks.initialize(2);
        let owner = blocks.allocate(2).unwrap();
        let rest: Vec<Block> = std::iter::from_fn(|| blocks.allocate(2)).collect();
        assert_eq!(blocks.companion(owner, &Geometry::new(2)), None);
        (0..2).for_each(|_| blocks.drop_reference(rest[0], &Geometry::new(2)));
        assert_eq!(
            blocks.companion(owner, &Geometry::new(2)),
            None,
            "the first answer stands, for who asks later too"
        );
    }
}

//! Blocks that the members of a communicator find through the head of a block that they have: the first
//! member to ask allocates one and writes its page there, the others read it.
//!
//! All members get the same answer. If there was no room for the first one, there is none for the others,
//! even if a block has become free meanwhile.

use crate::block::{Block, BlockAllocator, Extent};
use crate::layout::{COMPANION_AT, DUPLICATES, DUPLICATES_AT, FLAGS_AT, STATEMENTS_AT};
use crate::sync::{Ordering, Words};

impl<M: Words> BlockAllocator<'_, M> {
    /// The block of the `number`-th duplicate (0, 1, …) of the communicator in `parent`. None if there is no
    /// room, for all members alike. `asking`: how many members ask; a node's agent does not.
    ///
    /// Waits, calling `pause` between two looks, only for members that are 64 duplicates behind.
    pub fn duplicate(
        &self,
        parent: Block,
        extent: &impl Extent,
        asking: usize,
        number: u64,
        mut pause: impl FnMut(),
    ) -> Option<Block> {
        let entry = parent.offset() + DUPLICATES_AT + (number as usize % DUPLICATES) * 16;
        let (word, taken) = (self.segment.word(entry), self.segment.word(entry + 8));
        let round = number / DUPLICATES as u64;
        let mine = (number + 1) << 32;
        let page = loop {
            let seen = word.load(Ordering::Acquire); // pairs with the exchange below
            if seen >> 32 == number + 1 {
                break seen as u32;
            }
            // Acquire: pairs with the increment below; the entry's last use is over.
            if taken.load(Ordering::Acquire) < round * asking as u64 {
                pause();
                continue;
            }
            let block = self.allocate(extent);
            let page = block.map_or(0, |b| b.page);
            // AcqRel: pairs with the load above, so that the finder sees the block's generation.
            match word.compare_exchange(seen, mine | page as u64, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => break page,
                Err(_) => {
                    if let Some(block) = block {
                        self.free(block, extent);
                    }
                }
            }
        };
        // The generation is read before this member counts as having taken the entry; it cannot have changed.
        let generation = self.generation(page);
        taken.fetch_add(1, Ordering::AcqRel);
        (page != 0).then_some(Block { page, generation })
    }

    /// The second block of the communicator in `owner`. Every member that asks holds a reference to it. None
    /// if there was no room when the first member asked.
    pub fn companion(&self, owner: Block, extent: &impl Extent) -> Option<Block> {
        self.named_in(owner, COMPANION_AT, extent)
    }

    /// The block of the flags of the communicator in `owner`, as for [`BlockAllocator::companion`]. All
    /// members must ask for the same extent.
    pub fn flags(&self, owner: Block, extent: &impl Extent) -> Option<Block> {
        self.named_in(owner, FLAGS_AT, extent)
    }

    /// The block of the statements of the communicator in `owner`, as for [`BlockAllocator::companion`].
    pub fn statements(&self, owner: Block, extent: &impl Extent) -> Option<Block> {
        self.named_in(owner, STATEMENTS_AT, extent)
    }

    /// The block that is named in the word at `entry` of `owner`'s head.
    fn named_in(&self, owner: Block, entry: usize, extent: &impl Extent) -> Option<Block> {
        let word = self.segment.word(owner.offset() + entry);
        let mut seen = word.load(Ordering::Acquire); // pairs with the exchange below
        if seen == 0 {
            let block = self.allocate(extent);
            // The upper half tells "there was no room" from "no member has asked".
            let mine = 1 << 32 | block.map_or(0, |b| b.page as u64);
            // AcqRel: pairs with the load above, so that the finder sees the block's generation.
            seen = match word.compare_exchange(0, mine, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => mine,
                Err(first) => {
                    if let Some(block) = block {
                        self.free(block, extent);
                    }
                    first
                }
            };
        }
        let page = seen as u32;
        // The generation cannot have changed: this member's reference is still held.
        (page != 0).then(|| Block { page, generation: self.generation(page) })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::block::WORLD;
    use crate::layout::LINE;
    use crate::{FlagGeometry, Geometry, Segment};
    use std::collections::HashSet;

    fn by_four_threads<R: Send>(body: impl Fn() -> R + Sync) -> Vec<R> {
        std::thread::scope(|s| {
            let threads: Vec<_> = (0..4).map(|_| s.spawn(&body)).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        })
    }

    #[test]
    fn members_find_the_same_duplicates_from_many_threads() {
        let segment = Segment::create(1 << 30, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        let four = Geometry::new(4);
        blocks.initialize(&four);
        let ids: Vec<Vec<u64>> = by_four_threads(|| {
            let duplicate = |n| blocks.duplicate(WORLD, &four, 4, n, std::thread::yield_now).unwrap().id();
            (0..200).map(duplicate).collect()
        });
        assert!(ids.iter().all(|i| *i == ids[0]));
        assert_eq!(ids[0].iter().collect::<HashSet<_>>().len(), 200);
    }

    #[test]
    fn members_find_the_same_companion_from_many_threads() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        let four = Geometry::new(4);
        blocks.initialize(&four);
        for _ in 0..200 {
            let owner = blocks.allocate(&four).unwrap();
            let found = by_four_threads(|| blocks.companion(owner, &four).unwrap());
            assert!(found.iter().all(|b| *b == found[0] && b.page != owner.page));
            (0..4).for_each(|_| blocks.drop_reference(found[0], &four));
            (0..4).for_each(|_| blocks.drop_reference(owner, &four));
        }
    }

    #[test]
    fn flags_lie_in_a_block_of_their_own_and_come_lowered() {
        let segment = Segment::create(64 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        let four = Geometry::new(4);
        blocks.initialize(&four);
        let geometry = FlagGeometry::new(4, 5, 2);
        let ask = || {
            let owner = blocks.allocate(&four).unwrap();
            (owner, blocks.flags(owner, &geometry).unwrap())
        };
        let (owner, first) = ask();
        assert_eq!(blocks.flags(owner, &geometry), Some(first));
        assert_ne!(blocks.companion(owner, &four).unwrap().page, first.page);
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
    fn without_room_no_member_has_a_companion() {
        let segment = Segment::create(4 << 20, 1).unwrap();
        let blocks = BlockAllocator::new(&segment, segment.bytes());
        let two = Geometry::new(2);
        blocks.initialize(&two);
        let owner = blocks.allocate(&two).unwrap();
        let rest: Vec<Block> = std::iter::from_fn(|| blocks.allocate(&two)).collect();
        assert_eq!(blocks.companion(owner, &two), None);
        (0..2).for_each(|_| blocks.drop_reference(rest[0], &two));
        let later = blocks.companion(owner, &two);
        assert_eq!(later, None, "the first answer stands for members that ask later, too");
    }
}

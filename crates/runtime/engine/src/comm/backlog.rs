//! How far a rank runs ahead of ranks whose data it does not need: its deposits beyond the window.
//!
//! Only a rank that contributes to one reader and needs nothing goes on like this, and only if the other
//! ranks make no progress: while they do, waiting for the window keeps what they read in their caches.

use super::ring_allocator::RingAllocator;
use super::shared::Shared;
use crate::clock::Ticks;
use crate::job::spare_block::SpareBlock;
use evenkeel_segment::block::Block;
use evenkeel_segment::board::backlog::{Backlog, BacklogGeometry};
use evenkeel_segment::{Board, Mapped, Seq};
use std::collections::VecDeque;

/// A rank waits for the window as long as no more than this has passed since some rank last left an
/// instance.
const GRACE_NS: u64 = 100_000;

/// The same where ranks share cores: there a rank may have made no progress because others had its core.
const GRACE_SHARED_NS: u64 = 2_000_000;

/// A rank's own view of its backlog.
#[derive(Default)]
pub(crate) struct OwnBacklog {
    block: SpareBlock,
    /// Deposits whose readers had not left when this rank last looked: the instance and the reader.
    deposits: VecDeque<(Seq, usize)>,
    ring: Option<RingAllocator>,
    /// How many instances all ranks had left when this rank last looked, and since when.
    all_left: u64,
    since: Ticks,
}

/// Where a deposit in the backlog goes.
pub(crate) struct BacklogRoom {
    /// The backlog.
    pub(crate) backlog: Backlog<Mapped>,
    /// Offset in the backlog for the payload, if it does not fit into the cell.
    pub(crate) payload_at: usize,
    /// The same place as an offset from the board, which may lie behind it.
    pub(crate) from_board: u64,
}

impl OwnBacklog {
    /// Returns whether some reader has not left yet.
    pub(crate) fn is_waiting(&mut self, board: &Board<Mapped>) -> bool {
        while self.deposits.front().is_some_and(|&(seq, reader)| board.left(reader) > seq.0) {
            self.deposits.pop_front();
        }
        !self.deposits.is_empty()
    }

    /// Returns whether no rank has made progress for some time, as far as this one has looked.
    pub(crate) fn is_time_to_go_on(&mut self, shared: &Shared) -> bool {
        let (all_left, clock) = (shared.board.all_left(), shared.node.clock());
        if all_left != self.all_left || self.since == Ticks(0) {
            (self.all_left, self.since) = (all_left, clock.now());
            return false;
        }
        let grace = if shared.waiting.shares_cores() { GRACE_SHARED_NS } else { GRACE_NS };
        clock.ns_since(self.since) >= grace
    }

    /// Reserves room for the deposit of instance `seq`, `bytes` of it outside its cell, which `reader` will
    /// read. `None` if there is no room now.
    pub(crate) fn reserve(
        &mut self,
        shared: &Shared,
        me: usize,
        seq: Seq,
        reader: usize,
        bytes: usize,
    ) -> Option<BacklogRoom> {
        let block = self.block(shared, me)?;
        let geometry = BacklogGeometry::new();
        self.is_waiting(&shared.board);
        let first = self.deposits.front().map_or(seq.0, |(seq, _)| seq.0);
        if seq.0 - first >= geometry.cells as u64 {
            return None;
        }
        let mut payload_at = 0;
        if bytes > 0 {
            let ring = self.ring.get_or_insert_with(|| RingAllocator::new(geometry.ring_bytes));
            if !ring.has_room(bytes, first) {
                return None;
            }
            payload_at = geometry.ring_at + ring.allocate(bytes, seq.0);
        }
        self.deposits.push_back((seq, reader));
        Some(BacklogRoom {
            backlog: backlog_at(shared, block.offset()),
            payload_at,
            from_board: (block.offset() + payload_at).wrapping_sub(shared.block.offset()) as u64,
        })
    }

    /// How many deposits there are whose readers had not left when this rank last looked.
    pub(crate) fn len(&self) -> u64 {
        self.deposits.len() as u64
    }

    /// The block of the backlog, made at its first use.
    fn block(&mut self, shared: &Shared, me: usize) -> Option<Block> {
        let announce = |block| shared.board.announce_backlog(me, block);
        self.block.get(&shared.node.allocator(), &BacklogGeometry::new(), announce)
    }

    /// Gives the block back. The readers of all deposits must have left.
    pub(crate) fn release(&mut self, shared: &Shared) {
        if let SpareBlock::Made(block) = std::mem::take(&mut self.block) {
            shared.node.allocator().drop_reference(block, &BacklogGeometry::new());
        }
    }
}

/// The backlog at an offset of the segment.
pub(crate) fn backlog_at(shared: &Shared, offset: usize) -> Backlog<Mapped> {
    Backlog { memory: shared.node.segment.at(offset), geometry: BacklogGeometry::new() }
}

//! Where things lie in a communicator's block.
//!
//! ```text
//! head        as of every block
//! left        one line a rank: how many instances it has left, where its backlog is
//! entered     two lines a rank: how many barriers it has entered, and when the last one
//! work        how long ranks worked before barriers that they did not wait for
//! hints       a few barrier positions: arrivals (top, groups), release
//! slots       one a window position: arrivals (top, groups), release, work
//! call queue  one line a window position, and how many have been taken: for communicators that span nodes
//! cells       ranks × window lines: flag, kind and length, stamp, 40 bytes of payload
//! rings       one a rank: what it deposits when it does not fit into the cell
//! common      results and broadcast payload; all ranks compute the positions there alike
//! ```
//!
//! All together at most 64 KiB a rank.

use crate::block::Extent;
use crate::layout::{HEAD_BYTES, LINE, PAGE};

/// Instances of collectives that may be under way at once on one communicator.
pub const WINDOW: usize = 32;
/// Bytes of a deposit that fits into its cell.
pub const CELL_BYTES: usize = 40;
/// Bytes of a result that fits beside the release flag.
pub const RELEASE_BYTES: usize = 56;
/// Ranks that share one arrival counter.
pub const GROUP: usize = 32;

/// Window positions of the barriers' hints. Ranks that wait are never further apart than the ranks that defer
/// barriers let them be; a hint that is overwritten costs its readers a look at the ranks' own counts.
const HINTS: usize = 4;

/// How many barriers have a place where ranks note their work; more than ranks are apart.
pub const WORK_PLACES: u64 = 96;
/// Bytes of such a place.
pub(crate) const WORK_PLACE_BYTES: usize = 16;

/// Bytes of each rank's ring.
const RING_BYTES: usize = 32 * 1024;
/// Bytes of the common area, for each rank.
const COMMON_BYTES: usize = 24 * 1024;

/// Offsets within one communicator's block, in bytes.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Members of the communicator on this node, its agent among them if it spans nodes.
    pub ranks: usize,
    /// Instances that may be under way at once; a power of two.
    pub window: usize,
    /// Second-level arrival counters; 0 if one counter serves all ranks.
    pub groups: usize,
    /// Bytes of each rank's ring.
    pub ring_bytes: usize,
    /// Bytes of the common area.
    pub common_bytes: usize,
    /// Bytes of the whole block.
    pub total_bytes: usize,
    pub(crate) left_at: usize,
    pub(crate) entered_at: usize,
    pub(crate) work_at: usize,
    hints_at: usize,
    hint_stride: usize,
    pub(crate) slots_at: usize,
    pub(crate) slot_stride: usize,
    pub(crate) call_queue_at: usize,
    pub(crate) cells_at: usize,
    pub(crate) rings_at: usize,
    pub(crate) common_at: usize,
}

impl Geometry {
    /// The layout for a communicator of `ranks` members.
    pub fn new(ranks: usize) -> Self {
        Self::with(ranks, WINDOW, GROUP, RING_BYTES, COMMON_BYTES * ranks)
    }

    /// The layout for the `ranks` members on one node, its agent among them, of a communicator that spans
    /// nodes. It has room for several pieces of a large message under way, since a network takes long.
    pub fn spanning(ranks: usize) -> Self {
        Self::with(ranks, WINDOW, GROUP, 8 * RING_BYTES, 16 * RING_BYTES)
    }

    /// A layout with other sizes, for tests that need tiny ones.
    ///
    /// # Panics
    /// If `window` is not a power of two.
    pub fn with(ranks: usize, window: usize, group: usize, ring_bytes: usize, common_bytes: usize) -> Self {
        assert!(window.is_power_of_two(), "a slot is found by masking");
        let groups = if ranks > group { ranks.div_ceil(group) } else { 0 };
        let left_at = HEAD_BYTES;
        let entered_at = (left_at + ranks * LINE).next_multiple_of(2 * LINE);
        let work_at = entered_at + 2 * ranks * LINE;
        let hints_at = work_at + WORK_PLACES as usize * WORK_PLACE_BYTES;
        let hint_stride = (2 + groups) * LINE;
        let slots_at = hints_at + HINTS * hint_stride;
        let slot_stride = (3 + groups) * LINE;
        let call_queue_at = slots_at + window * slot_stride;
        let cells_at = call_queue_at + (window + 1) * LINE;
        let rings_at = cells_at + ranks * window * LINE;
        let common_at = rings_at + ranks * ring_bytes;
        let total_bytes = (common_at + common_bytes).next_multiple_of(PAGE);
        Geometry {
            ranks,
            window,
            groups,
            ring_bytes,
            common_bytes,
            total_bytes,
            left_at,
            entered_at,
            work_at,
            hints_at,
            hint_stride,
            slots_at,
            slot_stride,
            call_queue_at,
            cells_at,
            rings_at,
            common_at,
        }
    }

    pub(crate) fn slot(&self, seq: u64) -> usize {
        self.slots_at + (seq as usize & (self.window - 1)) * self.slot_stride
    }

    /// Offset of the counters that help the ranks which wait for barrier `number`.
    pub(crate) fn hint(&self, number: u64) -> usize {
        self.hints_at + number as usize % HINTS * self.hint_stride
    }

    pub(crate) fn group_of(&self, rank: usize) -> usize {
        rank * self.groups / self.ranks
    }

    pub(crate) fn group_size(&self, group: usize) -> u64 {
        let first = |g: usize| (g * self.ranks).div_ceil(self.groups);
        (first(group + 1) - first(group)) as u64
    }

    /// Offset of the cell that `rank` fills in instance `seq`.
    ///
    /// Consecutive instances lie two lines apart: processors fetch lines in pairs, and the neighbour of a
    /// line that is being read must not be the one that its owner writes next.
    #[inline(always)]
    pub fn cell(&self, rank: usize, seq: u64) -> usize {
        let position = seq as usize & (self.window - 1);
        let apart = (position << 1 & (self.window - 1)) | (position * 2 / self.window);
        self.cells_at + rank * self.cell_stride() + apart * LINE
    }

    /// Offset of the word in which `rank` counts the barriers that it has entered.
    pub fn entered(&self, rank: usize) -> usize {
        self.entered_at + rank * 2 * LINE
    }

    /// Bytes between the cells of consecutive ranks in the same instance.
    #[inline(always)]
    pub fn cell_stride(&self) -> usize {
        self.window * LINE
    }

    /// Offset of a rank's ring.
    pub fn ring(&self, rank: usize) -> usize {
        self.rings_at + rank * self.ring_bytes
    }

    /// Offset of the common area.
    pub fn common(&self) -> usize {
        self.common_at
    }

    /// Offset of the payload beside the release flag of `seq`.
    pub fn release_payload(&self, seq: u64) -> usize {
        self.slot(seq) + LINE + 8
    }
}

impl Extent for Geometry {
    fn total_bytes(&self) -> usize {
        self.total_bytes
    }

    fn control_bytes(&self) -> usize {
        self.rings_at
    }

    fn references(&self) -> usize {
        self.ranks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_costs_at_most_64_kib_a_rank() {
        for ranks in 2..=512 {
            let g = Geometry::new(ranks);
            assert!(g.total_bytes <= 64 * 1024 * ranks, "{ranks} ranks: {}", g.total_bytes);
        }
    }

    #[test]
    fn cells_are_distinct() {
        for window in [1, 2, 32] {
            let g = Geometry::with(3, window, GROUP, 64, 64);
            let mut seen = std::collections::HashSet::new();
            for rank in 0..3 {
                for seq in 0..window as u64 {
                    assert!(seen.insert(g.cell(rank, seq)) && g.cell(rank, seq) < g.rings_at);
                }
            }
        }
    }

    #[test]
    fn groups_hold_every_rank_once() {
        for ranks in GROUP + 1..200 {
            let g = Geometry::new(ranks);
            let mut sizes = vec![0u64; g.groups];
            for r in 0..ranks {
                sizes[g.group_of(r)] += 1;
            }
            for (i, n) in sizes.iter().enumerate() {
                assert_eq!(*n, g.group_size(i), "{ranks} ranks, group {i}");
                assert!(*n as usize <= GROUP);
            }
        }
    }
}

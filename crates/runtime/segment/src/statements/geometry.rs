//! Where things lie in the block of a communicator's statements.

use crate::block::Extent;
use crate::layout::{HEAD_BYTES, LINE, PAGE};

/// Bytes of data of a deposit or statement.
pub const DATA_BYTES: usize = 256;
/// The most nodes of a communicator whose ranks carry collectives themselves.
pub const MAX_NODES: usize = 32;
/// Collectives that may be under way at once on one communicator.
pub const WINDOW: u64 = 64;

/// A word has 32 bits of data. The first one of a statement or deposit is its description.
pub(super) const WORDS: usize = 1 + DATA_BYTES / 4;
const PLACE_BYTES: usize = (WORDS * 8).next_multiple_of(LINE);

/// Offsets within the block, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementGeometry {
    /// Members of the communicator on this node, without the agent.
    pub members: usize,
    /// Nodes of the communicator.
    pub nodes: usize,
    /// Collectives that may be under way at once; a power of two.
    pub window: u64,
    /// Bytes of the whole block.
    pub total_bytes: usize,
    slots: usize,
    deposits: usize,
    statements: usize,
}

impl StatementGeometry {
    /// The layout for so many members here and so many nodes.
    pub fn new(members: usize, nodes: usize) -> StatementGeometry {
        StatementGeometry::with(members, nodes, WINDOW)
    }

    /// The same with another window, for tests.
    ///
    /// # Panics
    /// If the window is not a power of two.
    pub fn with(members: usize, nodes: usize, window: u64) -> StatementGeometry {
        assert!(window.is_power_of_two());
        let positions = window as usize;
        let slots = (HEAD_BYTES + LINE + nodes * 8).next_multiple_of(LINE);
        let deposits = slots + positions * LINE;
        let statements = deposits + positions * members * PLACE_BYTES;
        let total_bytes = (statements + positions * nodes * PLACE_BYTES).next_multiple_of(PAGE);
        StatementGeometry { members, nodes, window, total_bytes, slots, deposits, statements }
    }

    fn position(&self, number: u64) -> usize {
        (number & (self.window - 1)) as usize
    }

    /// Offset of the word that says how many collectives all ranks here have finished.
    pub fn finished(&self) -> usize {
        HEAD_BYTES
    }

    pub(super) fn announced(&self) -> usize {
        HEAD_BYTES + 8
    }

    pub(super) fn credit(&self, node: usize) -> usize {
        debug_assert!(node < self.nodes);
        HEAD_BYTES + LINE + node * 8
    }

    /// Offset of the counts of a collective: how many ranks have arrived, how many have left, who answers.
    pub fn slot(&self, number: u64) -> usize {
        self.slots + self.position(number) * LINE
    }

    pub(super) fn deposit(&self, number: u64, member: usize) -> usize {
        debug_assert!(member < self.members);
        self.deposits + (self.position(number) * self.members + member) * PLACE_BYTES
    }

    /// Offset of what a node says in a collective: its words, of which the first one is the description.
    pub fn statement(&self, number: u64, node: usize) -> usize {
        debug_assert!(node < self.nodes);
        self.statements + (self.position(number) * self.nodes + node) * PLACE_BYTES
    }
}

impl Extent for StatementGeometry {
    fn total_bytes(&self) -> usize {
        self.total_bytes
    }

    fn control_bytes(&self) -> usize {
        self.total_bytes
    }

    /// One a member, and one of the node's agent.
    fn references(&self) -> usize {
        self.members + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_two_things_share_a_word() {
        let geometry = StatementGeometry::with(3, 5, 4);
        let mut taken = HashSet::new();
        let mut take = |at: usize, words: usize| {
            for word in 0..words {
                let at = at + word * 8;
                assert!(at % 8 == 0 && at >= HEAD_BYTES && at < geometry.total_bytes);
                assert!(taken.insert(at), "{at}");
            }
        };
        take(geometry.finished(), 1);
        take(geometry.announced(), 1);
        (0..5).for_each(|node| take(geometry.credit(node), 1));
        for number in 0..4 {
            take(geometry.slot(number), 3);
            (0..3).for_each(|member| take(geometry.deposit(number, member), WORDS));
            (0..5).for_each(|node| take(geometry.statement(number, node), WORDS));
        }
        assert_eq!(geometry.slot(1), geometry.slot(5));
    }
}

//! What a direct collective is, in one word that goes with all that is said in it: ranks that call different
//! collectives are told so, and an agent can answer for its ranks.

use crate::collective::call::CollectiveKind;
use evenkeel_segment::statements::{DATA_BYTES, MAX_NODES};

const KINDS: [CollectiveKind; 4] =
    [CollectiveKind::Barrier, CollectiveKind::Bcast, CollectiveKind::Reduce, CollectiveKind::Allreduce];

/// The most members on one node, which a root's number has to fit.
pub(crate) const MAX_MEMBERS: usize = 256;

/// A direct collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// Barrier, Bcast, Reduce or Allreduce.
    pub kind: CollectiveKind,
    /// The number of the operator ([`crate::reduction::operators`]); 0: none.
    pub operator: u8,
    /// Bytes of a rank's contribution, or of the data.
    pub bytes: usize,
    /// The root's node among those of the communicator; 0 where there is no root.
    pub hub: usize,
    /// The root among the members on its node; 0 where there is no root.
    pub root: usize,
}

impl Description {
    /// The collective as a word: 2 bits of the kind, 7 of the operator, 9 of the length, 5 and 8 of the root.
    pub fn to_word(self) -> u32 {
        const { assert!(MAX_NODES <= 1 << 5 && DATA_BYTES < 1 << 9 && MAX_MEMBERS <= 1 << 8) };
        let kind = KINDS.iter().position(|kind| *kind == self.kind).expect("a kind that ranks carry");
        kind as u32
            | u32::from(self.operator) << 2
            | (self.bytes as u32) << 9
            | (self.hub as u32) << 18
            | (self.root as u32) << 23
    }

    /// The inverse. The bytes may be more than data can have.
    pub fn from_word(word: u32) -> Description {
        Description {
            kind: KINDS[(word & 3) as usize],
            operator: (word >> 2 & 0x7f) as u8,
            bytes: (word >> 9 & 0x1ff) as usize,
            hub: (word >> 18 & 0x1f) as usize,
            root: (word >> 23 & 0xff) as usize,
        }
    }

    /// Whether every node contributes.
    pub fn gathers(self) -> bool {
        self.kind != CollectiveKind::Bcast
    }

    /// Whether the hub tells the others something.
    pub fn answers(self) -> bool {
        self.kind != CollectiveKind::Reduce
    }

    /// Whether each node tells the others its part, and all compute the result: between two nodes that takes
    /// as many datagrams as a hub, and half as long.
    pub fn is_exchange(self, nodes: usize) -> bool {
        self.synchronizes() && nodes == 2
    }

    /// Whether a node tells another one something: its part, or the result.
    pub fn tells(self, from: usize, to: usize, nodes: usize) -> bool {
        let to_hub = self.gathers() && to == self.hub;
        let from_hub = self.answers() && from == self.hub;
        from != to && (to_hub || from_hub || self.is_exchange(nodes))
    }

    /// Whether a node puts the result together from what all nodes contribute.
    pub fn computes(self, node: usize, nodes: usize) -> bool {
        self.gathers() && (node == self.hub || self.is_exchange(nodes))
    }

    /// Whether no rank ends before all have begun.
    pub fn synchronizes(self) -> bool {
        self.gathers() && self.answers()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_read_as_it_was_written() {
        for kind in KINDS {
            for (operator, bytes, hub, root) in [(0, 0, 0, 0), (120, 256, 31, 255), (1, 8, 5, 3)] {
                let description = Description { kind, operator, bytes, hub, root };
                assert_eq!(Description::from_word(description.to_word()), description);
            }
        }
    }
}

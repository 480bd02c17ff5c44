//! One piece of a collective, in the two words that ranks post for their node's agent in the call queue.

use crate::cut::is_carried;
use crate::kind::CollectiveKind;
use crate::node_map::Location;

/// Most nodes of a communicator, and most of its members on one node, that the words have room for.
pub const MAX_MEMBERS: usize = 1 << MEMBER_BITS;
/// Bits of each word that may be set: a call queue needs the rest for itself.
pub const WORD_BITS: u32 = 40;

const MEMBER_BITS: u32 = 12;
const OPERATOR_SHIFT: u32 = 8;
const NODE_SHIFT: u32 = 16;
const LOCAL_RANK_SHIFT: u32 = NODE_SHIFT + MEMBER_BITS;
const _: () = assert!(LOCAL_RANK_SHIFT + MEMBER_BITS == WORD_BITS);

/// One piece of a collective: what all members of the communicator know to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceDescription {
    /// Which collective the agents carry out. It may differ from the one called: a reduce-scatter is
    /// carried as an allreduce, or as one of equal blocks ([`crate::parts`]).
    pub kind: CollectiveKind,
    /// Where the root is; the first member of the first node where there is no root.
    pub root: Location,
    /// Bytes of the piece's vector, or of one rank's block in gather, scatter, allgather, alltoall and
    /// reduce-scatter. In an allgather of blocks of unequal length: bytes of all blocks on the node that
    /// has most.
    pub bytes: usize,
    /// The number of the reduction operator and its datatype; 0 where there is none.
    pub operator: u8,
}

impl PieceDescription {
    /// The description as words, of which the lower [`WORD_BITS`] may be set.
    pub fn to_words(self) -> [u64; 2] {
        let Location { node, local_rank } = self.root;
        debug_assert!((node as usize) < MAX_MEMBERS && (local_rank as usize) < MAX_MEMBERS);
        debug_assert!(self.bytes < 1 << WORD_BITS);
        let what = u64::from(self.kind as u32) | u64::from(self.operator) << OPERATOR_SHIFT;
        let root = u64::from(node) << NODE_SHIFT | u64::from(local_rank) << LOCAL_RANK_SHIFT;
        [what | root, self.bytes as u64]
    }

    /// The description that words stand for; None if they stand for none that agents can carry out.
    pub fn from_words(words: [u64; 2]) -> Option<PieceDescription> {
        let [first, bytes] = words;
        if first >> WORD_BITS != 0 || bytes >> WORD_BITS != 0 {
            return None;
        }
        let member = |shift: u32| (first >> shift) as u32 & (MAX_MEMBERS as u32 - 1);
        Some(PieceDescription {
            kind: CollectiveKind::from_u32(first as u32 & 0xff).filter(|kind| is_carried(*kind))?,
            operator: (first >> OPERATOR_SHIFT) as u8,
            root: Location { node: member(NODE_SHIFT), local_rank: member(LOCAL_RANK_SHIFT) },
            bytes: bytes as usize,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_the_whole_description() {
        let root = Location { node: 4095, local_rank: 17 };
        for kind in CollectiveKind::ALL {
            let piece = PieceDescription { kind, root, bytes: (1 << 40) - 1, operator: 120 };
            let expected = is_carried(kind).then_some(piece);
            assert_eq!(PieceDescription::from_words(piece.to_words()), expected);
        }
        assert_eq!(PieceDescription::from_words([u64::MAX, 0]), None);
        assert_eq!(PieceDescription::from_words([0, u64::MAX]), None);
    }
}

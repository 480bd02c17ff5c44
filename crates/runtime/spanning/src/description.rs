//! What a collective across nodes is, in the two words that members post for their node's agent.

use crate::collective::call::{Combine, Kind};
use crate::reduction::kernels;
use evenkeel_segment::board::call_queue::CONTENT_BITS;

/// Most nodes of a communicator, and most members on one of them.
pub const MOST: usize = 1 << 12;
const BYTES_BITS: u32 = 40;

/// One piece of a collective: what all members know to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    pub kind: Kind,
    /// The root's node, by its place in the communicator's list of nodes, and which of its members.
    pub root: (u32, u32),
    /// Of the piece; a block's for gather and its kin; of an allgather of blocks of unequal length, what
    /// the node has that has most.
    pub bytes: usize,
    /// Number of the operator ([`kernels::numbered`]); 0 where there is none.
    pub operator: u8,
}

impl Description {
    pub fn operator(self) -> Option<(Combine, usize)> {
        kernels::numbered(self.operator)
    }

    pub fn to_words(self) -> [u64; 2] {
        let (node, seat) = self.root;
        debug_assert!((node as usize) < MOST && (seat as usize) < MOST && self.bytes < 1 << BYTES_BITS);
        [
            self.kind as u64 | u64::from(self.operator) << 8 | u64::from(node) << 16 | u64::from(seat) << 28,
            self.bytes as u64,
        ]
    }

    pub fn from_words(words: [u64; 2]) -> Option<Description> {
        let [first, bytes] = words;
        if first >> 40 != 0 || bytes >> BYTES_BITS != 0 {
            return None;
        }
        let twelve = |shift: u32| (first >> shift) as u32 & (MOST as u32 - 1);
        Some(Description {
            kind: Kind::from_u32(first as u32 & 0xff)?,
            operator: (first >> 8) as u8,
            root: (twelve(16), twelve(28)),
            bytes: bytes as usize,
        })
    }
}

const _: () = assert!(BYTES_BITS <= CONTENT_BITS && 40 <= CONTENT_BITS);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_all() {
        for kind in Kind::ALL {
            let description = Description { kind, root: (4095, 17), bytes: (1 << 40) - 1, operator: 120 };
            assert_eq!(Description::from_words(description.to_words()), Some(description));
        }
        assert_eq!(Description::from_words([u64::MAX, 0]), None);
    }
}

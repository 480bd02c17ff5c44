//! Which calls the agents carry, and into which pieces a call is cut.
//!
//! A piece is what ranks and agents handle at once. Everything here is decided by what all members of the
//! communicator know alike, so that all of them cut alike, or all of them leave the call to the host
//! library.

use crate::kind::CollectiveKind;
use crate::node_map::NodeMap;

/// Bytes of a piece: a quarter of what a rank can have deposited at once.
pub const PIECE_BYTES: usize = 64 * 1024;
/// Bytes of a broadcast's piece. A broadcast has the segment's common area to itself; every piece costs
/// wake-ups, and a node that forwards a piece waits for all of it.
const BROADCAST_PIECE_BYTES: usize = 128 * 1024;
/// Bytes that all blocks of a gather, scatter, allgather or alltoall may have together, as one node sees
/// them. Larger calls are left to the host library.
const MAX_BLOCK_BYTES: usize = 1 << 20;

/// How a call is cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Of a reduce-scatter: whether every node gets the whole vector. Then the vector is cut, otherwise
    /// the longest part is ([`crate::parts`]).
    pub whole_vector: bool,
    /// Bytes of what is cut: a vector, or one rank's block.
    pub total: usize,
    /// Bytes of it in each piece but the last.
    pub piece_bytes: usize,
}

/// One piece of a call: a stretch of what is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// As in [`Cut`].
    pub whole_vector: bool,
    /// Where the stretch begins, in bytes.
    pub at: usize,
    /// Its length in bytes.
    pub length: usize,
}

impl Cut {
    /// How many pieces there are; a call that moves nothing has one.
    pub fn pieces(&self) -> usize {
        self.total.div_ceil(self.piece_bytes).max(1)
    }

    /// Piece `index`, less than [`Cut::pieces`].
    pub fn piece(&self, index: usize) -> Piece {
        let at = index * self.piece_bytes;
        Piece { whole_vector: self.whole_vector, at, length: self.piece_bytes.min(self.total - at) }
    }
}

/// Whether agents know this collective. A reduce-scatter of unequal parts reaches them as an allreduce or
/// as one of equal blocks; the others that they do not know are left to the host library.
pub fn is_carried(kind: CollectiveKind) -> bool {
    !kind.is_private() && kind != CollectiveKind::ReduceScatter
}

/// Bytes of a vector, or of one rank's block, in each piece but the last. None: the host library must carry
/// the call out.
///
/// * `bytes`: of the vector, or of one rank's block in gather, scatter, allgather, alltoall and
///   reduce-scatter-block, as in `ek_call`.
/// * `element_bytes`: of an element, if the call reduces with an operator that the agents know.
pub fn piece_bytes(
    kind: CollectiveKind,
    bytes: usize,
    element_bytes: Option<usize>,
    nonblocking: bool,
    map: &NodeMap,
) -> Option<usize> {
    use CollectiveKind::*;
    let (ranks, largest) = (map.ranks(), map.counts.largest());
    let whole_elements = || element_bytes.map(|width| PIECE_BYTES / width * width);
    let blocks = |together: usize| {
        let fits = bytes.checked_mul(together)? <= MAX_BLOCK_BYTES;
        fits.then(|| PIECE_BYTES / together).filter(|piece| *piece > 0)
    };
    let piece = match kind {
        Barrier | Bcast => BROADCAST_PIECE_BYTES,
        Reduce | Allreduce => whole_elements()?,
        // What comes from the nodes before this one is combined to the left of what the ranks here have.
        Scan | Exscan if map.is_in_order() => whole_elements()?,
        // Of the whole vector, which any cut of it can do with at once.
        ReduceScatter => whole_elements()?,
        ReduceScatterBlock => whole_elements()? / ranks,
        Gather | Scatter | Allgather => blocks(ranks)?,
        Allgatherv => blocks(map.counts.nodes() * largest)?,
        Alltoall => blocks(ranks * (largest + 1))?,
        _ => return None,
    };
    // A nonblocking call must not depend on its caller's coming back: it has to fit into one piece.
    (!nonblocking || bytes <= piece).then_some(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cover_all_bytes_once() {
        for total in [0, 1, 99, 100, 101, 1000, 1001] {
            let cut = Cut { whole_vector: false, total, piece_bytes: 100 };
            let mut next = 0;
            for piece in 0..cut.pieces() {
                let Piece { at, length, .. } = cut.piece(piece);
                assert!(at == next && length <= 100 && (length > 0 || total == 0), "{cut:?}");
                next = at + length;
            }
            assert_eq!(next, total);
        }
    }

    #[test]
    fn a_nonblocking_call_is_one_piece_or_the_hosts() {
        let map = NodeMap::new(&[0, 0, 1, 1]);
        for kind in CollectiveKind::ALL {
            for bytes in [8, 4096, 1 << 17, 1 << 24] {
                let blocking = piece_bytes(kind, bytes, Some(8), false, &map);
                let expected = blocking.filter(|piece| bytes <= *piece);
                assert_eq!(piece_bytes(kind, bytes, Some(8), true, &map), expected, "{kind:?}");
                assert!(is_carried(kind) || kind == CollectiveKind::ReduceScatter || blocking.is_none());
            }
        }
    }

    #[test]
    fn elements_are_not_divided_and_unknown_operators_are_the_hosts() {
        use CollectiveKind::*;
        let map = NodeMap::new(&[0, 0, 1, 1]);
        for kind in [Reduce, Allreduce, Scan, Exscan, ReduceScatter, ReduceScatterBlock] {
            assert_eq!(piece_bytes(kind, 8, None, false, &map), None, "{kind:?}");
            assert!(piece_bytes(kind, 8, Some(8), false, &map).is_some_and(|piece| piece % 8 == 0));
        }
    }

    #[test]
    fn scans_need_ranks_in_node_order() {
        use CollectiveKind::*;
        let dealt_out = NodeMap::new(&[0, 1, 0, 1]);
        for kind in [Scan, Exscan] {
            assert_eq!(piece_bytes(kind, 8, Some(8), false, &dealt_out), None);
        }
        assert!(piece_bytes(Allreduce, 8, Some(8), false, &dealt_out).is_some());
    }

    #[test]
    fn blocks_that_are_too_many_are_the_hosts() {
        use CollectiveKind::*;
        let map = NodeMap::new(&[0, 0, 0, 1]);
        for (kind, together) in [(Gather, 4), (Scatter, 4), (Allgather, 4), (Allgatherv, 6), (Alltoall, 16)] {
            let most = MAX_BLOCK_BYTES / together;
            assert_eq!(piece_bytes(kind, most, None, false, &map), Some(PIECE_BYTES / together));
            assert_eq!(piece_bytes(kind, most + 1, None, false, &map), None);
        }
    }
}

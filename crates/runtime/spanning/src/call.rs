//! A call as one rank has made it: its pieces, and where that rank's data of a piece lie.

use crate::cut::{Cut, PIECE_BYTES, Piece};
use crate::description::PieceDescription;
use crate::kind::CollectiveKind;
use crate::node_map::NodeMap;
use crate::parts::{PartSpans, Parts};
use crate::span::Span;
use crate::staging::{Staging, Stretch};

/// A collective call of one rank on a communicator that spans nodes. All but `rank` is the same at all
/// members.
#[derive(Clone, Copy, Debug)]
pub struct SpanningCall<'a> {
    /// The collective, one that [`piece_bytes`](crate::cut::piece_bytes) has accepted.
    pub kind: CollectiveKind,
    /// The root's rank, where there is a root.
    pub root: usize,
    /// Bytes of the vector, or of one rank's block, as in `ek_call`.
    pub bytes: usize,
    /// Bytes of an element, in reductions.
    pub element_bytes: usize,
    /// Each rank's part, in a reduce-scatter or an allgather of unequal blocks.
    pub parts: PartSpans<'a>,
    /// Which nodes the members are on.
    pub map: &'a NodeMap,
    /// The calling rank.
    pub rank: usize,
}

impl<'a> SpanningCall<'a> {
    fn parts(&self) -> Parts<'a> {
        Parts { spans: self.parts, map: self.map }
    }

    /// The node of the calling rank.
    fn node(&self) -> usize {
        self.map.node_of(self.rank)
    }

    fn is_root(&self) -> bool {
        self.rank == self.root
    }

    /// How the call is cut; `piece_bytes` is what [`piece_bytes`](crate::cut::piece_bytes) says.
    pub fn cut(&self, piece_bytes: usize, nonblocking: bool) -> Cut {
        use CollectiveKind::*;
        let total = match self.kind {
            ReduceScatter | ReduceScatterBlock => {
                return self.parts().cut_reduce_scatter(self.element_bytes, PIECE_BYTES, nonblocking);
            }
            Allgatherv => self.parts().longest(),
            _ => self.bytes,
        };
        Cut { whole_vector: false, total, piece_bytes }
    }

    /// What the agents are told of a piece. `operator`: the number of the reduction operator, or 0.
    pub fn describe(&self, piece: Piece, operator: u8) -> PieceDescription {
        use CollectiveKind::*;
        let kind = match self.kind {
            ReduceScatter | ReduceScatterBlock if piece.whole_vector => Allreduce,
            ReduceScatter => ReduceScatterBlock,
            kind => kind,
        };
        let bytes = match kind {
            Allgatherv => self.parts().largest_node_share(piece.at, piece.length),
            _ => piece.length,
        };
        PieceDescription { kind, root: self.map.locations[self.root], bytes, operator }
    }

    /// What of a piece the rank sends from staged memory; None if it sends nothing, or right from the
    /// program's buffer.
    pub fn staged_send(&self, piece: Piece) -> Option<Staging> {
        use CollectiveKind::*;
        match self.kind {
            ReduceScatter | ReduceScatterBlock if !piece.whole_vector => {
                Some(self.parts().reduce_scatter_send(piece.at, piece.length))
            }
            Alltoall => Some(self.blocks(self.all_in_node_order(), piece)),
            Scatter if self.is_root() => Some(self.blocks(self.map.elsewhere(self.node()), piece)),
            _ => None,
        }
    }

    /// What of a piece the rank receives into staged memory; None if it receives nothing, or right into
    /// the program's buffer. In a scan it is what the ranks on the nodes before this one have, to be
    /// combined with what is at the stretch's place in the program's buffer.
    pub fn staged_receive(&self, piece: Piece) -> Option<Staging> {
        use CollectiveKind::*;
        match self.kind {
            ReduceScatter | ReduceScatterBlock => Some(self.parts().reduce_scatter_receive(piece, self.rank)),
            Scan | Exscan if self.node() > 0 => {
                let before = Stretch { user: piece.at as isize, staged: 0, bytes: piece.length };
                Some(Staging { bytes: piece.length, stretches: vec![before] })
            }
            Gather if self.is_root() => Some(self.blocks(self.map.elsewhere(self.node()), piece)),
            Allgather | Alltoall => Some(self.blocks(self.all_in_node_order(), piece)),
            Allgatherv => Some(self.parts().allgather_receive(piece.at, piece.length)),
            _ => None,
        }
    }

    /// Bytes of its own block that a rank contributes to a piece of an allgather of unequal blocks.
    pub fn own_block_bytes(&self, piece: Piece) -> usize {
        self.parts().bytes_in(self.rank, piece.at, piece.length).min(self.bytes.saturating_sub(piece.at))
    }

    /// Where a gather's or scatter's root has the blocks of the members on its node.
    pub fn member_spans(&self, piece: Piece) -> impl Iterator<Item = Span> {
        let place = move |rank| Span { offset: (rank * self.bytes + piece.at) as isize, bytes: piece.length };
        self.map.members(self.node()).map(place)
    }

    fn all_in_node_order(&self) -> impl Iterator<Item = usize> {
        self.map.order.iter().map(|rank| *rank as usize)
    }

    /// A piece of the blocks of these ranks, one after the other.
    fn blocks(&self, ranks: impl Iterator<Item = usize>, piece: Piece) -> Staging {
        let stretch = |(place, rank)| Stretch {
            user: (rank * self.bytes + piece.at) as isize,
            staged: place * piece.length,
            bytes: piece.length,
        };
        let stretches: Vec<Stretch> = ranks.enumerate().map(stretch).collect();
        Staging { bytes: stretches.len() * piece.length, stretches }
    }
}

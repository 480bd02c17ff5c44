//! The table: which collectives within the nodes, and which exchange between them, a piece consists of.
//!
//! On each node the agent is one more member beside the ranks, the last. *Up* is the collective through
//! which it gets what the node brings into the exchange. *Down* is the collective through which the ranks
//! get what comes of the exchange. Where the root is a rank of this node, one of the two is enough: the
//! agent is one of those that contribute to the root, or one of those that get something from it.

use crate::description::PieceDescription;
use crate::kind::CollectiveKind;
use crate::node_counts::NodePosition;

/// A member of a collective within a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalMember {
    /// The node's agent.
    Agent,
    /// One of the communicator's ranks on the node, by its place among them.
    Rank(usize),
}

/// A collective among the ranks of one node and its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalCollective {
    /// Which collective.
    pub kind: CollectiveKind,
    /// Its root. The agent, where the collective has none.
    pub root: LocalMember,
    /// Bytes of the vector, or of one member's block, as in `ek_call`. In an allgather of unequal blocks
    /// ranks contribute their own blocks to a gather, and this is 0.
    pub bytes: usize,
    /// Bytes that the agent contributes.
    pub from_agent: usize,
    /// Bytes that the agent gets; in an allgather of unequal blocks it may get less.
    pub to_agent: usize,
}

/// What a node brings into the exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeInput {
    /// What its ranks have contributed.
    Contributions,
    /// Zeros in place of what the agent does not have and no other node needs: the root's node keeps its own
    /// ranks' contributions, and no node waits for the last one in a scan.
    Placeholder,
    /// Nothing.
    Nothing,
}

/// A collective among the nodes, each represented by its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Which collective. Scans are exclusive among nodes: a node needs what those before it have.
    pub kind: CollectiveKind,
    /// The root, counted from `first_node`; 0 where there is none.
    pub root: usize,
    /// The node that is number 0 in the schedule; the others follow in order. A reduction's root is:
    /// then no node sends what the root's agent does not have.
    pub first_node: usize,
    /// Bytes of the vector, or of one node's block in gather, scatter, allgather, alltoall and
    /// reduce-scatter.
    pub bytes: usize,
    /// What this node brings into it.
    pub input: NodeInput,
    /// Bytes of that.
    pub input_bytes: usize,
}

/// What one node does for a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// Brings what the ranks have to the agent.
    pub up: Option<LocalCollective>,
    /// Among the agents.
    pub exchange: Exchange,
    /// Brings what has come of the exchange to the ranks. In a scan: what the nodes before this one have.
    pub down: Option<LocalCollective>,
}

/// What the node at `position` does for a piece.
///
/// # Panics
/// If agents do not carry such pieces ([`is_carried`](crate::cut::is_carried)). Every
/// [`PieceDescription`] that has been read from words is one that they carry.
pub fn stages(piece: &PieceDescription, position: NodePosition<'_>) -> Stages {
    use CollectiveKind::*;
    let root_node = piece.root.node as usize;
    let is_here = root_node == position.node;
    let root = is_here.then_some(LocalMember::Rank(piece.root.local_rank as usize));
    let (up, (bytes, input, input_bytes), down) = row(piece, position, root);
    let exchange = Exchange {
        kind: piece.kind,
        root: if matches!(piece.kind, Bcast | Gather | Scatter) { root_node } else { 0 },
        first_node: if piece.kind == Reduce { root_node } else { 0 },
        bytes,
        input,
        input_bytes,
    };
    Stages { up, exchange, down }
}

/// Up; bytes, input and input bytes of the exchange; down.
type Row = (Option<LocalCollective>, (usize, NodeInput, usize), Option<LocalCollective>);

/// One row of the table. `root`: the root, if it is on this node.
fn row(piece: &PieceDescription, position: NodePosition<'_>, root: Option<LocalMember>) -> Row {
    use CollectiveKind::*;
    use NodeInput::{Contributions, Nothing, Placeholder};
    let (bytes, nodes) = (piece.bytes, position.counts.nodes());
    match (piece.kind, root) {
        (Barrier, _) => (up(Gather, 0, 0), (0, Contributions, 0), down(Bcast, 0, 0)),
        (Bcast, Some(root)) => (rooted(Bcast, root, bytes, 0, bytes), (bytes, Contributions, bytes), None),
        (Bcast, None) => (None, (bytes, Nothing, 0), down(Bcast, bytes, bytes)),
        (Reduce, Some(root)) => (None, (bytes, Placeholder, bytes), rooted(Reduce, root, bytes, bytes, 0)),
        (Reduce, None) => (up(Reduce, bytes, bytes), (bytes, Contributions, bytes), None),
        (Allreduce, _) => {
            (up(Reduce, bytes, bytes), (bytes, Contributions, bytes), down(Bcast, bytes, bytes))
        }
        (ReduceScatterBlock, _) => {
            let block = bytes * position.counts.largest(); // of a node's ranks, padded to the largest node
            let vector = block * nodes;
            (up(Reduce, vector, vector), (block, Contributions, vector), down(Bcast, block, block))
        }
        // The agent is the last member of the scan here, and brings down what the nodes before this one have.
        (kind @ (Scan | Exscan), _) => {
            let input = if position.node + 1 == nodes { Placeholder } else { Contributions };
            let before = if position.node == 0 { None } else { down(Bcast, bytes, bytes) };
            (up(kind, bytes, bytes), (bytes, input, bytes), before)
        }
        (Gather | Scatter | Allgather | Allgatherv | Alltoall, _) => row_of_blocks(piece, position, root),
        (Gatherv | Scatterv | Alltoallv | Alltoallw | ReduceScatter, _) => {
            unreachable!("{:?} is not carried by agents", piece.kind)
        }
    }
}

/// The rows of collectives that move blocks of single ranks and reduce nothing.
fn row_of_blocks(piece: &PieceDescription, position: NodePosition<'_>, root: Option<LocalMember>) -> Row {
    use CollectiveKind::*;
    use NodeInput::{Contributions, Nothing, Placeholder};
    let (here, elsewhere) = (position.ranks_here(), position.ranks_elsewhere());
    let (bytes, nodes) = (piece.bytes, position.counts.nodes());
    // A node's blocks, padded to the largest node; a block for each rank.
    let (block, row) = (bytes * position.counts.largest(), bytes * position.counts.ranks());
    match (piece.kind, root) {
        (Gather, Some(root)) => {
            (None, (block, Placeholder, block), rooted(Gatherv, root, bytes, bytes * elsewhere, 0))
        }
        (Gather, None) => (up(Gather, bytes, bytes * here), (block, Contributions, block), None),
        // The root keeps the blocks of its own node's ranks.
        (Scatter, Some(root)) => {
            let blocks = block * nodes;
            (rooted(Scatterv, root, bytes, 0, bytes * elsewhere), (block, Contributions, blocks), None)
        }
        // A scatter's root, here the agent, contributes a block for each member, also for itself.
        (Scatter, None) => (None, (block, Nothing, 0), down(Scatter, bytes, bytes * (here + 1))),
        (Allgather, _) => {
            (up(Gather, bytes, bytes * here), (block, Contributions, block), down(Bcast, row, row))
        }
        (Allgatherv, _) => {
            let all = bytes * nodes;
            (up(Gather, 0, bytes), (bytes, Contributions, bytes), down(Bcast, all, all))
        }
        (Alltoall, _) => {
            let blocks = block * position.counts.largest();
            let exchange = (blocks, Contributions, blocks * nodes);
            (up(Gather, row, row * here), exchange, down(Scatter, row, row * (here + 1)))
        }
        (other, _) => unreachable!("{other:?} moves no blocks"),
    }
}

fn rooted(
    kind: CollectiveKind,
    root: LocalMember,
    bytes: usize,
    from_agent: usize,
    to_agent: usize,
) -> Option<LocalCollective> {
    Some(LocalCollective { kind, root, bytes, from_agent, to_agent })
}

fn up(kind: CollectiveKind, bytes: usize, to_agent: usize) -> Option<LocalCollective> {
    rooted(kind, LocalMember::Agent, bytes, 0, to_agent)
}

fn down(kind: CollectiveKind, bytes: usize, from_agent: usize) -> Option<LocalCollective> {
    rooted(kind, LocalMember::Agent, bytes, from_agent, 0)
}

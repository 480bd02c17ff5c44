//! Where a node's data lie in what the nodes exchange.
//!
//! Schedules between nodes move blocks of one length. A node's ranks' blocks are therefore padded to as many
//! as the node with most ranks has. Within a node there is no padding.

use crate::description::PieceDescription;
use crate::kind::CollectiveKind;
use crate::node_counts::NodePosition;
use std::borrow::Cow;

/// What a node brings into the exchange, from what its agent has got in the collective up.
///
/// `input_bytes`: its length, as [`stages`](crate::stages::stages) says.
pub fn padded(
    piece: &PieceDescription,
    position: NodePosition<'_>,
    mut contributed: Vec<u8>,
    input_bytes: usize,
) -> Vec<u8> {
    match piece.kind {
        CollectiveKind::Scatter => padded_scatter(piece.bytes, position, &contributed, input_bytes),
        CollectiveKind::Alltoall => padded_alltoall(piece.bytes, position, &contributed, input_bytes),
        _ => {
            contributed.resize(input_bytes, 0);
            contributed
        }
    }
}

/// Of each other node's ranks their blocks; the root's node keeps its own.
fn padded_scatter(
    bytes: usize,
    position: NodePosition<'_>,
    contributed: &[u8],
    input_bytes: usize,
) -> Vec<u8> {
    let block = bytes * position.counts.largest();
    let mut input = vec![0; input_bytes];
    let mut rest = contributed;
    for node in position.other_nodes() {
        let (blocks, others) = rest.split_at(bytes * position.counts.on(node));
        input[node * block..][..blocks.len()].copy_from_slice(blocks);
        rest = others;
    }
    input
}

/// From each rank here a row, with a block for every rank in node order, to: for each node, from each rank
/// here, a block for each rank there.
fn padded_alltoall(bytes: usize, position: NodePosition<'_>, rows: &[u8], input_bytes: usize) -> Vec<u8> {
    let (counts, largest) = (position.counts, position.counts.largest());
    let row = bytes * counts.ranks();
    let mut input = vec![0; input_bytes];
    for node in 0..counts.nodes() {
        let blocks = bytes * counts.on(node);
        for rank in 0..position.ranks_here() {
            let from = rank * row + bytes * counts.start(node);
            let to = bytes * largest * (node * largest + rank);
            input[to..to + blocks].copy_from_slice(&rows[from..from + blocks]);
        }
    }
    input
}

/// What the agent contributes to the collective down, from what has come of the exchange.
pub fn without_padding<'a>(
    piece: &PieceDescription,
    position: NodePosition<'_>,
    output: &'a [u8],
) -> Cow<'a, [u8]> {
    let (bytes, counts) = (piece.bytes, position.counts);
    match piece.kind {
        CollectiveKind::Gather => packed_blocks(bytes, position, position.other_nodes(), output).into(),
        CollectiveKind::Allgather => packed_blocks(bytes, position, 0..counts.nodes(), output).into(),
        CollectiveKind::Scatter => {
            let here = position.ranks_here();
            let mut blocks = output[..bytes * here].to_vec();
            blocks.resize(bytes * (here + 1), 0); // the last is the agent's own, which it has no use for
            blocks.into()
        }
        CollectiveKind::Alltoall => rows_of_alltoall(bytes, position, output).into(),
        _ => output.into(),
    }
}

/// The blocks of these nodes' ranks, one after the other.
fn packed_blocks(
    bytes: usize,
    position: NodePosition<'_>,
    nodes: impl Iterator<Item = usize>,
    output: &[u8],
) -> Vec<u8> {
    let counts = position.counts;
    let block = bytes * counts.largest();
    let mut packed = Vec::with_capacity(bytes * counts.ranks());
    nodes.for_each(|node| packed.extend_from_slice(&output[node * block..][..bytes * counts.on(node)]));
    packed
}

/// For each rank here a row, with a block from every rank in node order; and one for the agent, which it has
/// no use for.
fn rows_of_alltoall(bytes: usize, position: NodePosition<'_>, output: &[u8]) -> Vec<u8> {
    let (counts, here, largest) = (position.counts, position.ranks_here(), position.counts.largest());
    let row = bytes * counts.ranks();
    let mut rows = vec![0; row * (here + 1)];
    for node in 0..counts.nodes() {
        for from in 0..counts.on(node) {
            for to in 0..here {
                let block = &output[bytes * ((node * largest + from) * largest + to)..][..bytes];
                rows[to * row + bytes * (counts.start(node) + from)..][..bytes].copy_from_slice(block);
            }
        }
    }
    rows
}

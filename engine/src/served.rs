//! What a served communicator has in the segment, and who its members are there.

use crate::world::World;
use evenkeel_segment::arena::Block;
use evenkeel_segment::bell::Fencing;
use evenkeel_segment::{Board, Geometry, Mapped};

/// What members of a served communicator share, and where they live.
pub struct Served {
    pub world: &'static World,
    pub board: Board<Mapped>,
    pub block: Block,
    /// The communicator's first block, which says whether it has been revoked.
    pub(crate) first: Mapped,
    /// Places on this node, in rank order.
    pub places: Vec<usize>,
    /// The same as a set, one bit a place of the node.
    pub place_set: Vec<u64>,
}

impl Served {
    pub(crate) fn new(world: &'static World, block: Block, first: Block, places: Vec<usize>) -> Served {
        let ranks = places.len();
        let board = Board { memory: world.segment.at(block.offset()), geometry: Geometry::new(ranks), fencing: fencing(world, ranks) };
        let place_set = set_of(&places, world.neighbours.len());
        Served { world, board, block, first: world.segment.at(first.offset()), places, place_set }
    }
}

fn set_of(places: &[usize], all: usize) -> Vec<u64> {
    let mut set = vec![0; all.div_ceil(64)];
    places.iter().for_each(|p| set[p / 64] |= 1 << (p % 64));
    set
}

/// Among more than two only the last to arrive, or the root, announces anything: there a fence is cheap, and making every
/// sleeper fence everybody is not.
fn fencing(world: &World, ranks: usize) -> Fencing {
    if ranks == 2 { world.fencing } else { Fencing::Both }
}

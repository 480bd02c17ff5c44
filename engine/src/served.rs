//! What a served communicator has in the segment, and who its members are there.

use crate::call::Kind;
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
    /// Who goes on without waiting enters barriers without a fence; whoever sleeps for one fences everybody.
    pub(crate) unfenced: bool,
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
        Served { world, board, block, first: world.segment.at(first.offset()), unfenced: world.enters_unfenced, places, place_set }
    }
}

impl Served {
    /// This rank enters a barrier and goes on.
    #[inline(always)]
    pub(crate) fn enter_and_go_on(&self, me: usize, number: u64, stamp: u64) {
        if self.unfenced {
            self.board.enter_barrier_unfenced(me, number, stamp);
            self.board.announce_unfenced_entry(number);
        } else {
            self.board.enter_barrier(me, number, stamp);
            self.board.announce_entry(number);
        }
    }

    /// How one who waits for this has to sleep.
    pub(crate) fn fencing_of(&self, kind: Kind) -> Fencing {
        if self.unfenced && kind == Kind::Barrier { Fencing::Sleeper } else { self.board.fencing }
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

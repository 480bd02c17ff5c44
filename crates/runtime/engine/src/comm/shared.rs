//! What a served communicator has in the segment, and who its members are there.

use crate::collective::call::Kind;
use crate::collective::plan::NodeFacts;
use crate::job::node::World;
use crate::wait::settings::Waiting;
use evenkeel_segment::block::Block;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::sync::{Ordering, fence};
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
    /// What all members know alike of those they share memory with.
    pub facts: NodeFacts,
    pub waiting: Waiting,
    /// It is the part here of a communicator across nodes: the last member is the node's agent.
    pub has_agent: bool,
}

impl Served {
    pub(crate) fn new(world: &'static World, block: Block, first: Block, places: Vec<usize>) -> Served {
        let ranks = places.len();
        let geometry = Geometry::new(ranks);
        Self::with(world, block, first, places, geometry, fencing(world, ranks))
    }

    /// The part here of a communicator across nodes; the last of the places is the agent's.
    pub(crate) fn across(world: &'static World, block: Block, first: Block, places: Vec<usize>) -> Served {
        let geometry = Geometry::spanning(places.len());
        let served = Self::with(world, block, first, places, geometry, Fencing::Both);
        // Those waited for are elsewhere, and may need this core to get there: nobody spins for long. Where
        // the agent is among them nobody is awake for nothing: who yields again and again is owed the core by
        // the kernel as much as the agent, which then waits for it until the next tick.
        let yield_works = served.waiting.yield_works && !world.is_agent_short_of_cores();
        let waiting = Waiting {
            ranks: served.waiting.ranks.max(served.waiting.cores + 1),
            yield_works,
            ..served.waiting
        };
        // Everything is small enough for the segment, so that nobody reads anybody's memory.
        Served {
            waiting,
            facts: NodeFacts { direct_reads: true, ..served.facts },
            has_agent: true,
            unfenced: false,
            ..served
        }
    }

    fn with(
        world: &'static World,
        block: Block,
        first: Block,
        places: Vec<usize>,
        geometry: Geometry,
        fencing: Fencing,
    ) -> Served {
        let board = Board { memory: world.segment.at(block.offset()), geometry, fencing };
        let place_set = set_of(&places, world.neighbours.len() + 1);
        let first = world.segment.at(first.offset());
        Served {
            world,
            board,
            block,
            first,
            places,
            place_set,
            facts: world.facts,
            waiting: world.waiting,
            has_agent: false,
            unfenced: world.enters_unfenced,
        }
    }

    /// The second block, for nonblocking operations, which goes with this one.
    pub(crate) fn companion(&self) -> Option<Served> {
        let block = self.world.blocks().companion(self.block, &self.board.geometry)?;
        let make = if self.has_agent { Served::across } else { Served::new };
        Some(make(self.world, block, self.block, self.places.clone()))
    }

    /// To be called after publishing something that the node's agent may sleep for.
    #[inline]
    pub(crate) fn wake_agent(&self) {
        // pairs with the agent's, between its saying that it sleeps and its last look
        fence(Ordering::SeqCst);
        if self.world.status().is_agent_asleep() {
            self.world.wake_agent();
        }
    }

    /// This rank enters a barrier and goes on.
    #[inline(always)]
    pub(crate) fn enter_and_go_on(&self, me: usize, number: u64, stamp: u64) {
        if self.unfenced {
            self.board.enter_barrier_unfenced(me, number, stamp);
            self.board.notify_unfenced_entry(number);
        } else {
            self.board.enter_barrier(me, number, stamp);
            self.notify_entry(number);
        }
    }

    /// How one who waits for this has to sleep.
    pub(crate) fn fencing_of(&self, kind: Kind) -> Fencing {
        if self.unfenced && kind == Kind::Barrier { Fencing::Sleeper } else { self.board.fencing }
    }

    /// To be called after entering barrier `number`: wakes those who sleep for it.
    #[inline(always)]
    pub(crate) fn notify_entry(&self, number: u64) {
        self.board.notify_entry(number);
        if self.has_agent {
            self.wake_agent_if_entered(number);
        }
    }

    #[inline(never)]
    fn wake_agent_if_entered(&self, number: u64) {
        // Entering was a fence. Nothing but the last one's entry is news to the agent.
        let asleep = self.world.status().is_agent_asleep();
        if asleep && (0..self.places.len() - 1).all(|rank| self.board.has_entered(rank, number)) {
            self.world.wake_agent();
        }
    }
}

fn set_of(places: &[usize], all: usize) -> Vec<u64> {
    let mut set = vec![0; all.div_ceil(64)];
    places.iter().for_each(|p| set[p / 64] |= 1 << (p % 64));
    set
}

/// Among more than two only the last to arrive, or the root, announces anything: there a fence is
/// cheap, and making every sleeper fence everybody is not.
fn fencing(world: &World, ranks: usize) -> Fencing {
    if ranks == 2 { world.fencing } else { Fencing::Both }
}

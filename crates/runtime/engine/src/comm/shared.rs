//! What the members of a communicator share: a block of the segment, and the list of their processes.

use crate::collective::plan::{LargeDeposits, PlanFacts};
use crate::job::node::Node;
use crate::wait::settings::WaitSettings;
use evenkeel_segment::block::Block;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::sync::{Ordering, fence};
use evenkeel_segment::{Board, Geometry, Mapped};
use evenkeel_spanning::CollectiveKind;

/// What the members of a communicator share on one node. If all members are here, a member is numbered by
/// its rank in the communicator. If the communicator spans nodes, a member is numbered by its rank among
/// the members here, and the node's agent is the last one.
pub struct Shared {
    /// The processes of the node.
    pub node: &'static Node,
    /// The communicator's bill-board.
    pub board: Board<Mapped>,
    /// The block that holds it.
    pub block: Block,
    /// The communicator's first block, which records whether it has been revoked.
    pub(crate) first: Mapped,
    /// Ranks that do not wait enter barriers without a memory fence. A rank that is about to sleep for a
    /// barrier makes all processes execute one (membarrier).
    pub(crate) enters_unfenced: bool,
    /// Local ranks of the members.
    pub local_ranks: Vec<usize>,
    /// The same as a bit set, one bit per local rank.
    local_rank_set: Vec<u64>,
    /// Facts about the shared memory that are the same on all members.
    pub(crate) facts: PlanFacts,
    /// How this member waits.
    pub(crate) waiting: WaitSettings,
    /// The communicator spans nodes: the last member is the node's agent.
    pub has_agent: bool,
}

impl Shared {
    /// For a communicator whose members are all on this node. `first` is its first block; it equals `block`
    /// unless this is the companion for nonblocking operations.
    pub(crate) fn on_node(
        node: &'static Node,
        block: Block,
        first: Block,
        local_ranks: Vec<usize>,
    ) -> Shared {
        let ranks = local_ranks.len();
        Shared::new(node, block, first, local_ranks, Geometry::new(ranks), fencing(node, ranks))
    }

    /// For the part on this node of a communicator that spans nodes. The last of the local ranks is the
    /// agent's.
    pub(crate) fn with_agent(
        node: &'static Node,
        block: Block,
        first: Block,
        local_ranks: Vec<usize>,
    ) -> Shared {
        let geometry = Geometry::spanning(local_ranks.len());
        let shared = Shared::new(node, block, first, local_ranks, geometry, Fencing::Both);
        // The awaited ranks are on other nodes, and the agent may need this core to hear from them, so no
        // rank spins for long. If the agent is short of cores, ranks sleep rather than yield: to the
        // scheduler a rank that keeps yielding has as good a claim to the core as the agent, which would
        // then wait until the next tick.
        let yield_works = shared.waiting.yield_works && !node.is_agent_short_of_cores();
        let waiting = WaitSettings { needs_this_core: true, yield_works, ..shared.waiting };
        let facts = PlanFacts { large: LargeDeposits::Never, ..shared.facts };
        Shared { waiting, facts, has_agent: true, enters_unfenced: false, ..shared }
    }

    /// Like [`Shared::with_agent`], from the world ranks of the members here.
    pub(crate) fn of_members_and_agent(node: &'static Node, block: Block, members: &[u32]) -> Shared {
        let local_ranks = members
            .iter()
            .map(|&rank| rank as usize)
            .chain([node.ranks])
            .map(|rank| node.local_rank_of(rank).expect("members here, and the agent, have local ranks"));
        Shared::with_agent(node, block, block, local_ranks.collect())
    }

    fn new(
        node: &'static Node,
        block: Block,
        first: Block,
        local_ranks: Vec<usize>,
        geometry: Geometry,
        fencing: Fencing,
    ) -> Shared {
        let facts = PlanFacts {
            cores: node.facts.cores,
            large: if node.facts.direct_reads { LargeDeposits::Read } else { LargeDeposits::Cut },
        };
        Shared {
            node,
            board: Board { memory: node.segment.at(block.offset()), geometry, fencing },
            block,
            first: node.segment.at(first.offset()),
            enters_unfenced: node.enters_unfenced,
            local_rank_set: set_of(&local_ranks, node.neighbours.len() + 1),
            local_ranks,
            facts,
            waiting: node.waiting,
            has_agent: false,
        }
    }

    /// The companion: a second block, for nonblocking operations. `None` if the segment has no room for it.
    pub(crate) fn companion(&self) -> Option<Shared> {
        let block = self.node.allocator().companion(self.block, &self.board.geometry)?;
        let make = if self.has_agent { Shared::with_agent } else { Shared::on_node };
        Some(make(self.node, block, self.block, self.local_ranks.clone()))
    }

    /// Drops this process's reference to the block.
    pub(crate) fn release(&self) {
        self.node.allocator().drop_reference(self.block, &self.board.geometry);
    }

    /// The process id of a member.
    pub fn pid_of(&self, rank: usize) -> u32 {
        self.node.neighbour(self.local_ranks[rank]).pid
    }

    /// Returns whether all members of one of the two communicators are members of the other. False if
    /// either spans nodes: its members on this node say nothing about those elsewhere.
    pub(crate) fn is_nested_with(&self, other: &Shared) -> bool {
        if self.has_agent || other.has_agent {
            return false;
        }
        let within = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(a, b)| a & !b == 0);
        let (mine, theirs) = (&self.local_rank_set, &other.local_rank_set);
        within(mine, theirs) || within(theirs, mine)
    }

    // ---- waking ----

    /// Wakes the node's agent if it sleeps. Callers have just published something that the agent may sleep
    /// for.
    #[inline]
    pub(crate) fn notify_agent(&self) {
        // Pairs with the fence that the agent executes after it notes that it sleeps and before it polls
        // again.
        fence(Ordering::SeqCst);
        self.wake_agent_if_it_sleeps();
    }

    fn wake_agent_if_it_sleeps(&self) {
        if self.node.status().is_agent_asleep() {
            if let Some(agent) = self.node.agent() {
                agent.notify();
            }
        }
    }

    /// Enters barrier `number` without waiting for it. `stamp` is the time in ticks, or 0.
    #[inline(always)]
    pub(crate) fn enter_barrier_and_go_on(&self, me: usize, number: u64, stamp: u64) {
        if self.enters_unfenced {
            self.board.enter_barrier_unfenced(me, number, stamp);
            self.board.notify_unfenced_entry(me, number);
        } else {
            self.board.enter_barrier(me, number, stamp);
            self.notify_entry(me, number);
        }
    }

    /// Wakes ranks that sleep for barrier `number`. Callers have just entered it.
    #[inline(always)]
    pub(crate) fn notify_entry(&self, me: usize, number: u64) {
        self.board.notify_entry(me, number);
        if self.has_agent {
            self.notify_agent_if_all_entered(number);
        }
    }

    #[inline(never)]
    fn notify_agent_if_all_entered(&self, number: u64) {
        // Entering was a fence. The agent waits until the last rank here has entered.
        if (0..self.local_ranks.len() - 1).all(|rank| self.board.has_entered(rank, number)) {
            self.wake_agent_if_it_sleeps();
        }
    }

    /// Which processes execute a fence when a rank sleeps in an operation of this kind.
    pub(crate) fn fencing_of(&self, kind: CollectiveKind) -> Fencing {
        if self.enters_unfenced && kind == CollectiveKind::Barrier {
            Fencing::Sleeper
        } else {
            self.board.fencing
        }
    }
}

fn set_of(local_ranks: &[usize], all: usize) -> Vec<u64> {
    let mut set = vec![0; all.div_ceil(64)];
    local_ranks.iter().for_each(|rank| set[rank / 64] |= 1 << (rank % 64));
    set
}

/// Among more than two ranks only the last to arrive, or the root, wakes others. A fence there is cheap,
/// whereas a sleeper that makes all processes execute a fence is expensive.
fn fencing(node: &Node, ranks: usize) -> Fencing {
    if ranks == 2 { node.fencing } else { Fencing::Both }
}

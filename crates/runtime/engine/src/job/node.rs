//! The processes of this node, the segment that they share, and the facts that all of them know.

use super::agent_link::AgentLink;
use super::bounce_buffer::BounceBuffer;
use super::cores::Share;
use super::neighbour::Neighbour;
use crate::clock::{Clock, Ticks};
use crate::record::host_messages::HostMessages;
use crate::record::timeline::Timeline;
use crate::record::waited::Waited;
use crate::wait::settings::{WaitPolicy, WaitSettings};
use evenkeel_barrier_table::{BarrierTable, RankPlacement};
use evenkeel_schedule::Schedule;
use evenkeel_segment::block::{BlockAllocator, WORLD};
use evenkeel_segment::call_line::CallLine;
use evenkeel_segment::channel::Channels;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::pipeline::Pipelines;
use evenkeel_segment::relay::Relay;
use evenkeel_segment::{Mapped, NodeStatus, Segment};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Facts that every rank of a node knows, with the same values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeFacts {
    /// How many cores the ranks may use at once.
    pub cores: usize,
    /// Every rank can read every other rank's memory.
    pub direct_reads: bool,
}

/// The ranks of this node as this process sees them. A *local rank* is a rank's number on its node, counted
/// from 0 in the order of `MPI_COMM_WORLD`. The node's agent has the local rank after the last one.
pub struct Node {
    /// The memory that the node's processes share.
    pub segment: Segment,
    /// This process's rank in `MPI_COMM_WORLD`.
    pub me: usize,
    /// The number of ranks of `MPI_COMM_WORLD`.
    pub ranks: usize,
    /// The local rank of each world rank; `None` if it is on another node or takes no part.
    pub(super) local_ranks: Vec<Option<usize>>,
    /// The ranks of this node in the order of their local ranks, this one included.
    pub neighbours: Vec<Neighbour>,
    /// This process's local rank.
    pub local_rank: usize,
    /// Facts that all ranks here know.
    pub facts: NodeFacts,
    /// Which process executes the fence when one stores a value and another is about to sleep; see
    /// [`Fencing`].
    pub fencing: Fencing,
    /// Ranks that do not wait enter barriers without a fence. This is so if some rank of this node may
    /// leave barriers pending and every process can be made to execute a fence.
    pub enters_unfenced: bool,
    /// How ranks wait.
    pub waiting: WaitSettings,
    /// The share of the cores to which this rank returns if it meets another one on a core.
    pub(super) share: Option<Share>,
    /// How long a rank waits before it checks whether the ranks that it waits for are alive.
    pub patience_ns: u64,
    /// Several threads of the program may be in MPI at once.
    pub threaded: bool,
    /// Calls are counted and timed.
    pub recording: bool,
    /// When this process joined.
    pub began: Ticks,
    /// The processor time that this process had used when it joined.
    pub began_cpu_ns: u64,
    /// Waiting time over the run.
    pub timeline: Timeline,
    /// Waiting time in all.
    pub waited: Waited,
    /// Messages that the host library carries.
    pub host_messages: HostMessages,
    /// The schedules that run barriers, if all ranks of this node have the same table and can use it.
    pub(super) table: Option<BarrierTable>,
    /// The job's nodes, once their agents have started.
    pub(super) agent: OnceLock<AgentLink>,
    /// The host library reports process faults to the program.
    pub(super) reports_faults: AtomicBool,
    /// When this process first saw that another one here had died; 0 if it has not.
    pub(super) death_seen_ns: AtomicU64,
    /// Relays that this process has made and does not use.
    pub(super) idle_relays: Mutex<Vec<Relay<Mapped>>>,
    /// Where this process leaves long deposits.
    pub(super) bounce_buffer: Mutex<BounceBuffer>,
    /// What the first rank here that ends because of a death calls then.
    pub(super) end_hook: OnceLock<extern "C" fn()>,
}

impl Node {
    /// The node as its agent sees it. `ranks` is the number of ranks of the job; `here` has the world rank
    /// and process id of each rank on the node. The agent waits in no operation and counts nothing.
    pub(crate) fn of_agent(segment: Segment, ranks: usize, here: &[(usize, u32)], clock: Clock) -> Node {
        let mut local_ranks = vec![None; ranks + 1];
        here.iter().enumerate().for_each(|(local, &(rank, _))| local_ranks[rank] = Some(local));
        local_ranks[ranks] = Some(here.len());
        Node {
            segment,
            me: ranks,
            ranks,
            local_ranks,
            neighbours: here.iter().map(|&(rank, pid)| Neighbour::new(rank, pid)).collect(),
            local_rank: here.len(),
            facts: NodeFacts { cores: 1, direct_reads: false },
            fencing: Fencing::Both,
            enters_unfenced: false,
            waiting: WaitSettings {
                policy: WaitPolicy::Auto,
                ranks: here.len(),
                cores: 1,
                needs_this_core: false,
                yield_works: true,
                clock,
            },
            share: None,
            patience_ns: u64::MAX,
            threaded: false,
            recording: false,
            began: clock.now(),
            began_cpu_ns: 0,
            timeline: Timeline::default(),
            waited: Waited::default(),
            host_messages: HostMessages::new(0),
            table: None,
            agent: OnceLock::new(),
            reports_faults: AtomicBool::new(false),
            death_seen_ns: AtomicU64::new(0),
            idle_relays: Mutex::default(),
            bounce_buffer: Mutex::default(),
            end_hook: OnceLock::new(),
        }
    }

    /// How this process reads the time.
    #[inline(always)]
    pub fn clock(&self) -> Clock {
        self.waiting.clock
    }

    /// Nanoseconds since this process has joined the node.
    pub(crate) fn elapsed_ns(&self) -> u64 {
        self.clock().ns_since(self.began)
    }

    /// The schedule that runs barriers among this many ranks of this node; `None` means the built-in
    /// algorithm.
    pub fn barrier_schedule(&self, ranks: usize) -> Option<Schedule> {
        let placement = RankPlacement { ranks_here: self.neighbours.len(), cores: self.facts.cores };
        self.table.as_ref()?.barrier(ranks, placement)
    }

    /// The allocator of the segment's blocks.
    pub fn allocator(&self) -> BlockAllocator<'_, Segment> {
        BlockAllocator::new(&self.segment, room_for_blocks(&self.segment, self.ranks))
    }

    /// The relays that this process has made and does not use.
    pub(crate) fn idle_relays(&self) -> MutexGuard<'_, Vec<Relay<Mapped>>> {
        self.idle_relays.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where this process leaves long deposits.
    pub(crate) fn bounce_buffer(&self) -> MutexGuard<'_, BounceBuffer> {
        self.bounce_buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the processes of this node have published about themselves.
    pub fn status(&self) -> NodeStatus<'_, Segment> {
        NodeStatus::new(&self.segment)
    }

    /// The line in which this process says which MPI call it is in.
    pub fn call_line(&self) -> CallLine<'_, Segment> {
        CallLine::new(&self.segment, self.local_rank, self.threaded)
    }

    /// The message channels between all ranks; `None` if not all ranks share this node, or if the segment
    /// has no room for channels.
    pub fn channels(&self) -> Option<Channels> {
        Channels::new(self.ranks, self.segment.bytes()).filter(|_| self.neighbours.len() == self.ranks)
    }

    /// The pipelines through which both ends copy a large message; `None` if there are no channels, or no
    /// room.
    pub fn pipelines(&self) -> Option<Pipelines> {
        Pipelines::new(self.ranks, self.channels()?.start())
    }

    /// The local rank of a world rank; `None` if it is not on this node.
    pub fn local_rank_of(&self, world_rank: usize) -> Option<usize> {
        *self.local_ranks.get(world_rank)?
    }

    /// The local ranks of world ranks; `None` if any of them is not on this node. -1 stands for a rank of
    /// another world.
    pub fn local_ranks_of(&self, world_ranks: &[i32]) -> Option<Vec<usize>> {
        world_ranks.iter().map(|&rank| self.local_rank_of(usize::try_from(rank).ok()?)).collect()
    }

    /// The id of `MPI_COMM_WORLD`; 0 if not all its ranks share this node.
    pub fn world_comm_id(&self) -> u64 {
        if self.ranks > 1 && self.neighbours.len() == self.ranks { WORLD.id() } else { 0 }
    }

    /// The process with this local rank. The agent has the local rank after those of the ranks.
    pub(crate) fn neighbour(&self, local_rank: usize) -> &Neighbour {
        self.neighbours.get(local_rank).unwrap_or_else(|| {
            &self.agent().expect("only the agent's local rank follows those of the ranks").agent
        })
    }

    /// The job's nodes and this node's agent; `None` if there is only one node or the job has no agents.
    pub fn agent(&self) -> Option<&AgentLink> {
        self.agent.get()
    }

    /// Returns whether the agent may need a core that a rank here occupies.
    pub(crate) fn is_agent_short_of_cores(&self) -> bool {
        self.waiting.ranks + 1 > self.waiting.cores || self.agent().is_some_and(|agent| agent.share_cores)
    }

    /// Returns whether the host library reports a rank's death to the program. If it does, evenkeel does
    /// not end any process because of a death.
    pub fn reports_faults(&self) -> bool {
        self.reports_faults.load(Ordering::Relaxed)
    }

    /// Sets what the first rank here that ends because of a death calls then.
    pub fn set_end_hook(&self, hook: extern "C" fn()) {
        let _ = self.end_hook.set(hook); // the first one stays
    }

    /// Declares that the host library reports process faults. Either all ranks call this or none does,
    /// before there is any communicator.
    pub fn report_faults(&self) {
        self.reports_faults.store(true, Ordering::Relaxed);
    }
}

/// How many bytes of the segment are for blocks. The pipelines and message channels lie above them, if there
/// is room.
pub(super) fn room_for_blocks(segment: &Segment, ranks: usize) -> usize {
    let Some(channels) = Channels::new(ranks, segment.bytes()) else { return segment.bytes() };
    Pipelines::new(ranks, channels.start()).map_or(channels.start(), |pipelines| pipelines.start())
}

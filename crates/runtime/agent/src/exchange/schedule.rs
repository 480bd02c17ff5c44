//! The schedule by which the nodes of a communicator exchange data for a collective.
//!
//! All agents choose it by what all of them know alike. Between machines the number of rounds counts. Where
//! "nodes" are virtual hosts that share the cores of one machine, every message costs all of them time, and
//! the number of messages counts.

use evenkeel_schedule::{Flag, Problem, Rank, Schedule, Step};
use evenkeel_spanning::CollectiveKind;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Up to so many bytes and nodes, a broadcast's root sends to every node itself.
const FLAT_BYTES: usize = 8192;
const FLAT_NODES: usize = 16;
/// Up to so many bytes, a vector is sent whole in every round.
const SHORT_BYTES: usize = 2048;
/// How many schedules of a communicator are kept.
const MAX_CACHED: usize = 64;

/// The algorithm for a collective of so many bytes: of the vector, or of one node's block in gather, scatter,
/// allgather, alltoall and reduce-scatter.
fn algorithm(kind: CollectiveKind, nodes: usize, bytes: usize, share_cores: bool) -> &'static str {
    use CollectiveKind::*;
    match kind {
        Barrier => "dissemination",
        // No node forwards it, so no node waits for one whose ranks are late.
        Bcast if bytes <= FLAT_BYTES && nodes <= FLAT_NODES => "bcast-flat",
        Bcast => "bcast-binomial",
        Reduce => "reduce-binomial",
        Allreduce if nodes == 2 => "allreduce-recursive-doubling",
        Allreduce if share_cores => "allreduce-reduce-broadcast",
        Allreduce if bytes <= SHORT_BYTES => "allreduce-recursive-doubling",
        Allreduce => "allreduce-rabenseifner",
        // Pairwise, every part goes to its node and nowhere else, in as many rounds as there are other nodes.
        // Halving takes fewer rounds.
        ReduceScatterBlock if nodes <= 3 => "reduce-scatter-pairwise",
        ReduceScatterBlock => "reduce-scatter-halving",
        // A chain has the fewest messages.
        Scan | Exscan if share_cores || nodes <= 3 => "exscan-linear",
        Scan | Exscan => "exscan-recursive-doubling",
        Gather => "gather-binomial",
        Scatter => "scatter-flat",
        Allgather | Allgatherv if bytes * nodes <= 64 * SHORT_BYTES => "allgather-bruck",
        Allgather | Allgatherv => "allgather-ring",
        Alltoall if bytes <= SHORT_BYTES / 8 => "alltoall-bruck",
        Alltoall => "alltoall-pairwise",
        Gatherv | Scatterv | Alltoallv | Alltoallw | ReduceScatter => {
            unreachable!("agents do not carry {kind:?}")
        }
    }
}

/// What a schedule depends on, beside the nodes of the communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScheduleKey {
    /// The collective among the nodes.
    pub kind: CollectiveKind,
    /// Its root, in the schedule's numbering of nodes.
    pub root: usize,
    /// Elements of the vector, or of one node's block.
    pub elements: usize,
    /// Bytes of an element.
    pub element_bytes: usize,
}

/// A schedule among nodes, and what agents ask of it again and again.
pub struct ExchangeSchedule {
    /// The schedule.
    pub schedule: Schedule,
    /// Rank, flag and turn of all waits. A flag for which no rank waits says that memory may be used again,
    /// and here memory is used once.
    waited_for: HashSet<(Rank, Flag, u16)>,
    /// Whether each rank sends data.
    sends: Vec<bool>,
}

impl ExchangeSchedule {
    /// The schedule that is used among so many nodes. `share_cores`: they are virtual hosts of one machine.
    pub fn new(key: ScheduleKey, nodes: usize, share_cores: bool) -> ExchangeSchedule {
        let problem =
            Problem::new(nodes as u32).with_root(Rank(key.root as u32)).with_elements(key.elements as u32);
        let name = algorithm(key.kind, nodes, key.elements * key.element_bytes, share_cores);
        let schedule = Schedule::parse(name, problem).expect("an algorithm is chosen among those that fit");
        let (mut waited_for, mut sends) = (HashSet::new(), Vec::new());
        for rank in (0..nodes as u32).map(Rank) {
            let steps = schedule.program(rank);
            waited_for.extend(steps.iter().filter_map(|(_, step)| match *step {
                Step::Wait { flag, turn } if turn > 0 => Some((rank, flag, turn)),
                _ => None,
            }));
            sends.push(steps.iter().any(|(_, step)| matches!(step, Step::Send { .. })));
        }
        ExchangeSchedule { schedule, waited_for, sends }
    }

    /// Whether a rank waits for a flag.
    pub fn is_waited_for(&self, rank: Rank, flag: Flag, turn: u16) -> bool {
        self.waited_for.contains(&(rank, flag, turn))
    }

    /// Whether a rank sends data: in a broadcast, the root and the ranks that forward what they get do.
    pub fn sends(&self, rank: Rank) -> bool {
        self.sends[rank.0 as usize]
    }
}

/// Schedules among the nodes of one communicator, each made when it is needed for the first time.
pub struct ScheduleCache {
    nodes: usize,
    share_cores: bool,
    made: HashMap<ScheduleKey, Arc<ExchangeSchedule>>,
}

impl ScheduleCache {
    /// For so many nodes. `share_cores`: they are virtual hosts of one machine.
    pub fn new(nodes: usize, share_cores: bool) -> ScheduleCache {
        ScheduleCache { nodes, share_cores, made: HashMap::new() }
    }

    /// The schedule for a collective.
    pub fn schedule(&mut self, key: ScheduleKey) -> Arc<ExchangeSchedule> {
        if self.made.len() >= MAX_CACHED && !self.made.contains_key(&key) {
            self.made.clear();
        }
        let make = || Arc::new(ExchangeSchedule::new(key, self.nodes, self.share_cores));
        Arc::clone(self.made.entry(key).or_insert_with(make))
    }
}

//! By which schedule the nodes carry a collective out.
//!
//! Pure, and of what all agents know alike. Between machines the number of rounds counts; where "nodes"
//! are virtual hosts that share the cores of one machine every message costs all of them time, and the
//! number of messages counts.

use evenkeel_engine::collective::call::Kind;
use evenkeel_schedule::{Flag, Problem, Rank, Schedule, Step};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Up to so many bytes and nodes a broadcast goes from its root to all.
const FLAT_BYTES: usize = 8192;
const FLAT_NODES: usize = 16;
/// Up to here a vector is sent whole in every round.
const SHORT: usize = 2048;

/// The algorithm for a collective of so many bytes (a node's block for gather and its kin).
pub fn algorithm(kind: Kind, nodes: usize, bytes: usize, share_cores: bool) -> &'static str {
    match kind {
        Kind::Barrier => "dissemination",
        // Nobody passes it on: then nobody waits for a node whose ranks are late.
        Kind::Bcast if bytes <= FLAT_BYTES && nodes <= FLAT_NODES => "bcast-flat",
        Kind::Bcast => "bcast-binomial",
        Kind::Reduce => "reduce-binomial",
        Kind::Allreduce if nodes == 2 => "allreduce-recursive-doubling",
        Kind::Allreduce if share_cores => "allreduce-reduce-broadcast",
        Kind::Allreduce if bytes <= SHORT => "allreduce-recursive-doubling",
        Kind::Allreduce => "allreduce-rabenseifner",
        // Every part goes to its node and nowhere else, in as many rounds as there are other nodes; by halves
        // it takes fewer.
        Kind::ReduceScatterBlock if nodes <= 3 => "reduce-scatter-pairwise",
        Kind::ReduceScatterBlock => "reduce-scatter-halving",
        // A chain has the fewest messages.
        Kind::Scan | Kind::Exscan if share_cores || nodes <= 3 => "exscan-linear",
        Kind::Scan | Kind::Exscan => "exscan-recursive-doubling",
        Kind::Gather => "gather-binomial",
        Kind::Scatter => "scatter-flat",
        Kind::Allgather | Kind::Allgatherv if bytes * nodes <= 64 * SHORT => "allgather-bruck",
        Kind::Allgather | Kind::Allgatherv => "allgather-ring",
        Kind::Alltoall if bytes <= SHORT / 8 => "alltoall-bruck",
        Kind::Alltoall => "alltoall-pairwise",
        _ => unreachable!("other collectives are not taken"),
    }
}

/// What decides a schedule among the nodes of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub kind: Kind,
    pub root: usize,
    /// Of a vector, or of a node's block for gather and its kin, in units.
    pub elements: usize,
    pub unit: usize,
}

/// A schedule among nodes, and which of its flags are waited for.
pub struct Plan {
    pub schedule: Schedule,
    /// Rank, slot and turn. Flags that nobody waits for say that memory may be used again, and here none is.
    waited: HashSet<(u32, u32, u16)>,
    /// Of each rank: whether it sends anything.
    sends: Vec<bool>,
}

impl Plan {
    pub fn new(key: Key, nodes: usize, share_cores: bool) -> Plan {
        let problem =
            Problem::new(nodes as u32).with_root(Rank(key.root as u32)).with_elements(key.elements as u32);
        let name = algorithm(key.kind, nodes, key.elements * key.unit, share_cores);
        let schedule = Schedule::parse(name, problem).expect("what is chosen can be made");
        let (mut waited, mut sends) = (HashSet::new(), Vec::new());
        for rank in 0..nodes as u32 {
            let steps = schedule.program(Rank(rank));
            waited.extend(steps.iter().filter_map(|(_, step)| match *step {
                Step::Wait { flag, turn } if turn > 0 => Some((rank, flag.0, turn)),
                _ => None,
            }));
            sends.push(steps.iter().any(|(_, step)| matches!(step, Step::Send { .. })));
        }
        Plan { schedule, waited, sends }
    }

    /// Whether a rank waits for a flag.
    pub fn is_waited_for(&self, rank: Rank, flag: Flag, turn: u16) -> bool {
        self.waited.contains(&(rank.0, flag.0, turn))
    }

    /// Whether a rank passes a broadcast on.
    pub fn passes_on(&self, rank: Rank) -> bool {
        self.sends[rank.0 as usize]
    }
}

/// The plans of one communicator that have been made.
#[derive(Default)]
pub struct Plans {
    made: HashMap<Key, Arc<Plan>>,
}

/// Plans that are kept.
const KEPT: usize = 64;

impl Plans {
    pub fn plan(&mut self, key: Key, nodes: usize, share_cores: bool) -> Arc<Plan> {
        if self.made.len() >= KEPT && !self.made.contains_key(&key) {
            self.made.clear();
        }
        Arc::clone(self.made.entry(key).or_insert_with(|| Arc::new(Plan::new(key, nodes, share_cores))))
    }
}

//! The judge: is given a network and tables, knows nothing of how they were made, and proves or refutes
//! them.
//!
//! It walks every path that a packet can take, one hop at a time, and writes down which channel a
//! packet holds while it waits for which other. Packets cannot deadlock if on no lane these
//! dependencies close a cycle (Dally and Seitz 1987); for tables, where a packet has no choice, the
//! converse holds too. It shares no code with what builds tables, and must not: of this crate it may
//! use the network and the table alone.

mod cycle;
mod text;
mod walk;

use crate::network::{Channel, Network, Port, SwitchId};
use crate::table::{Destination, Table};

/// Whose packets count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Traffic {
    /// From end nodes to end nodes: what programs send, and what OpenSM's and `ibdmchk`'s claims are about.
    #[default]
    EndNodes,
    /// From every switch, whether it has end nodes or not, to every end node and every switch: whatever may
    /// ever enter anywhere, management included.
    Everything,
}

/// What is wrong with tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A switch where packets to a destination arrive has no entry for it.
    NoEntry { at: SwitchId, to: Destination },
    /// The entry names a port that leads neither to a switch nor, at the last switch, to the destination.
    WrongPort { at: SwitchId, to: Destination, port: Port },
    /// Packets to a destination go round these channels for ever.
    Loop { to: Destination, channels: Vec<Channel> },
    /// On a lane, a packet that holds one of these channels may wait for the next, and one that holds the
    /// last for the first. Each comes with a destination whose packets wait so.
    Cycle { lane: u8, waits: Vec<(Channel, Destination)> },
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// At most [`MOST_FAULTS`] of those about entries, then a cycle for each lane that has one.
    pub faults: Vec<Fault>,
    /// All faults about entries, also those that are not listed.
    pub broken: u64,
    /// Ordered pairs of different end nodes that can reach each other.
    pub pairs: u64,
    /// By number of hops (channels between switches): how many of these pairs.
    pub hops: Vec<u64>,
    /// Of these pairs: how many have a path with more hops than they need.
    pub longer: u64,
    /// The hops that these pairs need at least, in sum.
    pub minimal_hops: u64,
    /// By channel: how many of these pairs use it.
    pub load: Vec<u64>,
    /// Pairs of channels of which one waits for the other, on all lanes.
    pub dependencies: u64,
}

/// How many faults about entries are listed.
pub const MOST_FAULTS: usize = 20;

/// Walks the packets of all end nodes.
pub fn check(network: &Network, table: &Table) -> Findings {
    check_traffic(network, table, Traffic::EndNodes)
}

/// Walks the packets that are asked for. Hops and loads are those of end nodes' packets in any case.
/// O(destinations · switches · hops).
pub fn check_traffic(network: &Network, table: &Table, traffic: Traffic) -> Findings {
    let mut walk = walk::Walk::new(network, table);
    for to in table.destinations() {
        walk.destination(to, traffic);
    }
    walk.findings()
}

impl Findings {
    /// Whether all can reach all and nothing can deadlock.
    pub fn sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// Hops of a path, over all pairs; 0 without pairs.
    pub fn mean_hops(&self) -> f64 {
        let sum: u64 = self.hops.iter().enumerate().map(|(hops, pairs)| hops as u64 * pairs).sum();
        sum as f64 / self.pairs.max(1) as f64
    }

    /// Hops that a path needs at least, over all pairs.
    pub fn mean_minimal_hops(&self) -> f64 {
        self.minimal_hops as f64 / self.pairs.max(1) as f64
    }

    /// Pairs over the busiest channel.
    pub fn busiest(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Pairs over a channel, on average.
    pub fn mean_load(&self) -> f64 {
        self.load.iter().sum::<u64>() as f64 / self.load.len().max(1) as f64
    }

    /// The most hops of any path.
    pub fn longest(&self) -> usize {
        self.hops.len().saturating_sub(1)
    }
}

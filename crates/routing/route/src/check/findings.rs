//! What a check can find: faults, and the numbers of paths, hops and loads.

use crate::network::{Channel, Port, SwitchId};
use crate::table::Destination;

/// The packets that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Traffic {
    /// From end nodes to end nodes: what programs send, and what the claims of OpenSM and `ibdmchk` are
    /// about.
    #[default]
    EndNodes,
    /// From every switch, with end nodes or without, to every end node and every switch: all packets that
    /// may enter anywhere, including management packets.
    Everything,
}

/// A fault of tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Packets to a destination arrive at a switch that has no entry for it.
    NoEntry {
        /// The switch.
        at: SwitchId,
        /// The destination.
        to: Destination,
    },
    /// An entry names a port that does not lead to a switch or, at the last switch, to the destination.
    WrongPort {
        /// The switch.
        at: SwitchId,
        /// The destination.
        to: Destination,
        /// The port that the entry names.
        port: Port,
    },
    /// Packets to a destination go round these channels for ever.
    Loop {
        /// The destination.
        to: Destination,
        /// The channels of the loop.
        channels: Vec<Channel>,
    },
    /// Packets that hold one of these channels may wait for the next, and packets that hold the last one
    /// may wait for the first.
    Cycle {
        /// The virtual lane.
        lane: u8,
        /// The channels, each with a destination whose packets hold it and wait for the next.
        waits: Vec<(Channel, Destination)>,
    },
}

/// What a check found.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// Faults of entries, at most [`MOST_FAULTS`], and then one cycle for each virtual lane that has any.
    pub faults: Vec<Fault>,
    /// Number of paths with a fault of an entry, including those whose fault is not listed.
    pub broken_paths: u64,
    /// Ordered pairs of different end nodes with a path from the first to the second.
    pub pairs: u64,
    /// By number of hops (channels between switches): how many of these pairs have so many.
    pub pairs_by_hops: Vec<u64>,
    /// How many of these pairs have a path that is longer than a minimal path.
    pub non_minimal_pairs: u64,
    /// The hops of minimal paths, as a sum over these pairs.
    pub minimal_hops: u64,
    /// By channel: how many of these pairs use it.
    pub load: Vec<u64>,
    /// Number of edges of the channel dependency graph, over all virtual lanes.
    pub dependencies: u64,
}

/// The most faults of entries that are listed.
pub const MOST_FAULTS: usize = 20;

impl Findings {
    /// Whether all packets arrive and none can deadlock.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// Mean hops of a path over all pairs; 0 without pairs.
    pub fn mean_hops(&self) -> f64 {
        let sum: u64 = self.pairs_by_hops.iter().enumerate().map(|(hops, pairs)| hops as u64 * pairs).sum();
        sum as f64 / self.pairs.max(1) as f64
    }

    /// Mean hops of a minimal path over all pairs; 0 without pairs.
    pub fn mean_minimal_hops(&self) -> f64 {
        self.minimal_hops as f64 / self.pairs.max(1) as f64
    }

    /// Load of the busiest channel.
    pub fn max_load(&self) -> u64 {
        self.load.iter().copied().max().unwrap_or(0)
    }

    /// Mean load of a channel.
    pub fn mean_load(&self) -> f64 {
        self.load.iter().sum::<u64>() as f64 / self.load.len().max(1) as f64
    }

    /// Hops of the longest path.
    pub fn max_hops(&self) -> usize {
        self.pairs_by_hops.len().saturating_sub(1)
    }
}

//! The simulated machine: what messages and work cost. The parameters of a model are tabulated in whole
//! picoseconds, so that no formula is evaluated per message.

use crate::time::VirtualTime;
use evenkeel_model::{Model, Parameters};

/// What a message between two ranks costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// o_s: how long the sender's processor is busy.
    pub send: VirtualTime,
    /// o_r: how long the receiver's processor is busy.
    pub receive: VirtualTime,
    /// L: from network card to network card.
    pub latency: VirtualTime,
    /// g: the least time between the beginnings of two sends of a rank, and between two arrivals at a
    /// rank.
    pub gap: VirtualTime,
    /// Whether the sender's card handles one message after the other, each taking L (LoP). Otherwise
    /// messages of one rank overlap (LogGP).
    pub serial: bool,
}

/// What lies between ranks: within a node, or between nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// By the number of messages that are sent together, less one. The last entry is for that number and
    /// more.
    pub costs: Vec<Cost>,
    /// G: picoseconds for each byte beyond the first.
    pub per_byte_ps: f64,
}

impl Link {
    /// The cost of one of `burst` messages that are sent together.
    #[inline]
    pub fn cost(&self, burst: u8) -> &Cost {
        &self.costs[(usize::from(burst).max(1) - 1).min(self.costs.len() - 1)]
    }

    /// How long the bytes of a message beyond the first occupy the link.
    pub fn wire(&self, bytes: u64) -> VirtualTime {
        if bytes < 2 {
            VirtualTime::ZERO
        } else {
            VirtualTime::from_ps(((bytes - 1) as f64 * self.per_byte_ps).round() as u64)
        }
    }
}

/// A machine to simulate ranks on.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The links between nodes (index 0) and within a node ([`WITHIN_NODE`]).
    pub links: [Link; 2],
    /// Ranks of a node: ranks r and s are on one node if r / per_node = s / per_node.
    pub per_node: u32,
    /// What combining or copying takes, in picoseconds per byte.
    pub work_per_byte_ps: f64,
    /// For each link: whether one send reaches all ranks of a set.
    pub multicast: [bool; 2],
    /// Whether a network card can send the previous message once more, to another rank (multi-send).
    pub repeats: bool,
    /// How long a rank that need not wait takes to pass its contribution to the agent.
    pub deposit: VirtualTime,
}

impl Cost {
    fn of(model: &Model, burst: u64) -> Cost {
        Cost {
            send: VirtualTime::from_ns(model.send_overhead_ns(burst)),
            receive: VirtualTime::from_ns(model.receive_overhead_ns()),
            latency: VirtualTime::from_ns(model.latency_ns(burst)),
            gap: VirtualTime::from_ns(model.gap_ns()),
            serial: matches!(model, Model::LoP(_)),
        }
    }
}

impl Link {
    fn of(model: &Model) -> Link {
        let bursts = match model {
            Model::LogGp(_) => 1,
            // Nothing is known about more peers than were measured.
            Model::LoP(lop) => lop.most_peers.clamp(1, 255),
        };
        let per_byte_ps = (model.wire_ns(1_000_001) - model.wire_ns(1)) / 1e3;
        Link { costs: (1..=bursts).map(|n| Cost::of(model, n)).collect(), per_byte_ps }
    }
}

/// The index in [`Machine::links`] of the link between nodes.
const BETWEEN_NODES: usize = 0;
/// The index in [`Machine::links`] of the link between ranks of one node.
pub const WITHIN_NODE: usize = 1;

impl Machine {
    /// The machine with these parameters, without multicast, with work on data that takes no time and a
    /// deposit that takes o_s. The caller may set what a model does not say.
    pub fn new(parameters: &Parameters) -> Result<Machine, evenkeel_model::ParameterError> {
        parameters.check()?;
        let node = parameters.node.as_ref();
        let within = node.map(|n| &n.model);
        let between = parameters.network.as_ref().or(within).expect("checked: there is one of the two");
        let within = within.unwrap_or(between);
        Ok(Machine {
            links: [Link::of(between), Link::of(within)],
            per_node: node.map_or(1, |n| n.ranks.unwrap_or(u32::MAX)),
            work_per_byte_ps: 0.0,
            multicast: [false; 2],
            repeats: false,
            deposit: VirtualTime::from_ns(within.send_overhead_ns(1)),
        })
    }

    /// The index in [`Machine::links`] of the link between two ranks.
    #[inline]
    pub fn link_index(&self, a: u32, b: u32) -> usize {
        if self.per_node <= 1 {
            BETWEEN_NODES
        } else {
            if a / self.per_node == b / self.per_node { WITHIN_NODE } else { BETWEEN_NODES }
        }
    }

    /// The least time in which anything that a rank does reaches another rank.
    pub fn least_latency(&self) -> VirtualTime {
        self.links.iter().flat_map(|l| &l.costs).map(|c| c.latency).min().unwrap_or(VirtualTime::ZERO)
    }
}

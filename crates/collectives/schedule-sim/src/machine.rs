//! What steps cost: a model's parameters in whole picoseconds, tabulated, so that no formula is
//! evaluated per message.

use crate::time::VirtualTime;
use evenkeel_model::{Model, Parameters};

/// A message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// o_s: the sender's processor.
    pub send: VirtualTime,
    /// o_r: the receiver's processor.
    pub receive: VirtualTime,
    /// L: from card to card.
    pub latency: VirtualTime,
    /// g: the least time between the beginnings of two sends of a rank, and between two arrivals at one.
    pub gap: VirtualTime,
    /// The sender's card handles one message after the other, and L is what each takes (LoP); otherwise
    /// messages of one rank overlap on their way (LogGP).
    pub serial: bool,
}

/// A kind of way between ranks: within a node, or between nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// By the number of messages that are sent at once, less one; the last is for all that is more.
    pub costs: Vec<Cost>,
    /// G in picoseconds per byte, beyond the first.
    pub per_byte_ps: f64,
}

impl Link {
    #[inline]
    pub fn cost(&self, burst: u8) -> &Cost {
        &self.costs[(usize::from(burst).max(1) - 1).min(self.costs.len() - 1)]
    }

    pub fn wire(&self, bytes: u64) -> VirtualTime {
        if bytes < 2 {
            VirtualTime::ZERO
        } else {
            VirtualTime::from_ps(((bytes - 1) as f64 * self.per_byte_ps).round() as u64)
        }
    }
}

/// A machine to run on.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Between nodes, and within one.
    pub links: [Link; 2],
    /// Ranks r and s are on one node if r / per_node = s / per_node.
    pub per_node: u32,
    /// What combining or copying takes, in picoseconds per byte.
    pub work_per_byte_ps: f64,
    /// One send reaches all ranks of a set, between nodes and within one.
    pub multicast: [bool; 2],
    /// A network card can send the message before once more, to another rank (multi-send).
    pub repeats: bool,
    /// What handing a contribution to the agent takes a rank that need not wait.
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
            // Nothing is known of more peers than were measured.
            Model::LoP(lop) => lop.most_peers.clamp(1, 255),
        };
        let per_byte_ps = (model.wire_ns(1_000_001) - model.wire_ns(1)) / 1e3;
        Link { costs: (1..=bursts).map(|n| Cost::of(model, n)).collect(), per_byte_ps }
    }
}

const BETWEEN_NODES: usize = 0;
/// Which of [`Machine::links`] joins ranks of one node.
pub const WITHIN_NODE: usize = 1;

impl Machine {
    /// The machine that has these parameters: no multicast, work on data for nothing, a deposit that takes
    /// o_s. What a model cannot say, the caller may set.
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

    #[inline]
    pub fn way(&self, a: u32, b: u32) -> usize {
        if self.per_node <= 1 {
            BETWEEN_NODES
        } else {
            if a / self.per_node == b / self.per_node { WITHIN_NODE } else { BETWEEN_NODES }
        }
    }

    /// No rank's doing reaches another sooner.
    pub fn least_latency(&self) -> VirtualTime {
        self.links.iter().flat_map(|l| &l.costs).map(|c| c.latency).min().unwrap_or(VirtualTime::ZERO)
    }
}

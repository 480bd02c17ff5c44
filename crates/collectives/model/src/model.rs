//! Either model of a machine, and the questions that algorithms ask of it.

use crate::{LoP, LogGp};
use serde::{Deserialize, Serialize};

/// One of the two models. In a file its name stands beside its parameters: `"model": "LogGP"`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model")]
pub enum Model {
    /// Constant costs.
    #[serde(rename = "LogGP")]
    LogGp(LogGp),
    /// Costs that depend on the number of peers.
    #[serde(rename = "LoP")]
    LoP(LoP),
}

impl From<LogGp> for Model {
    fn from(model: LogGp) -> Model {
        Model::LogGp(model)
    }
}

impl From<LoP> for Model {
    fn from(model: LoP) -> Model {
        Model::LoP(model)
    }
}

/// What a simulator needs to know about a message. `of` is the number of messages that a rank sends
/// together (the n of n-way), at least 1.
impl Model {
    /// How long the processor is busy with posting one of `of` messages, in nanoseconds.
    pub fn send_overhead_ns(&self, of: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.send_overhead_ns,
            Model::LoP(m) => m.send_overhead.at_ns(of),
        }
    }

    /// How long the processor is busy with receiving a message, in nanoseconds. 0 in LoP, where receives
    /// are posted beforehand and noticing a message is part of L(p).
    pub fn receive_overhead_ns(&self) -> f64 {
        match self {
            Model::LogGp(m) => m.receive_overhead_ns,
            Model::LoP(_) => 0.0,
        }
    }

    /// L: from the end of the sender's overhead to the arrival, in nanoseconds, for one of `of` messages.
    pub fn latency_ns(&self, of: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.latency_ns,
            Model::LoP(m) => m.latency_ns(of),
        }
    }

    /// g: the least time between two messages of one node, in nanoseconds. 0 in LoP, where it is part of
    /// L(p).
    pub fn gap_ns(&self) -> f64 {
        match self {
            Model::LogGp(m) => m.gap_ns,
            Model::LoP(_) => 0.0,
        }
    }

    /// (bytes − 1)·G in nanoseconds. 0 in LoP, whose messages have no length.
    pub fn wire_ns(&self, bytes: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.wire_ns(bytes),
            Model::LoP(_) => 0.0,
        }
    }

    /// The time from the first post to the arrival of message `nth` (counted from 1) of `of` short
    /// messages, in nanoseconds. In LogP: o_s + (i − 1)·max{o_s, g} + L. In LoP: o(n) + i·L(n), because
    /// L(n) is a time per message; for the last message that is t_1:n.
    pub fn arrival_ns(&self, nth: u64, of: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.issue_ns(nth) + m.latency_ns,
            Model::LoP(m) => m.one_to_many_ns(of) - (of - nth) as f64 * m.latency_ns(of),
        }
    }

    /// The time until the last of `peers` ranks has a short message from one rank, in nanoseconds.
    pub fn one_to_many_ns(&self, peers: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.one_to_many_ns(peers),
            Model::LoP(m) => m.one_to_many_ns(peers),
        }
    }

    /// The time until one rank has a short message from each of `peers` ranks, in nanoseconds.
    pub fn many_to_one_ns(&self, peers: u64) -> f64 {
        match self {
            Model::LogGp(m) => m.many_to_one_ns(peers),
            Model::LoP(m) => m.many_to_one_ns(peers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Overhead, Posting, RoundTrip};

    const SHARED: LogGp = LogGp {
        latency_ns: 60.0,
        send_overhead_ns: 5.0,
        receive_overhead_ns: 20.0,
        gap_ns: 30.0,
        gap_per_byte_ns: 0.05,
    };

    #[test]
    fn one_to_many_ends_with_the_last_arrival() {
        let flat = RoundTrip {
            floor_ns: 5000.0,
            start_up_ns: 0.0,
            start_up_shift: 0.0,
            saturation_ns: 0.0,
            saturation_rate: 0.0,
            saturation_shift: 0.0,
        };
        let lop = LoP {
            round_trip: flat,
            send_overhead: Overhead::constant(300.0),
            receive_overhead: Overhead::constant(0.0),
            posting: Posting::Each,
            most_peers: 9,
        };
        for of in 1..10 {
            assert_eq!(Model::LoP(lop).arrival_ns(of, of), lop.one_to_many_ns(of));
            assert_eq!(Model::LoP(lop).arrival_ns(1, of), 300.0 + lop.latency_ns(of));
            let end = Model::LogGp(SHARED).arrival_ns(of, of) + SHARED.receive_overhead_ns;
            assert_eq!(end, SHARED.one_to_many_ns(of));
        }
    }
}

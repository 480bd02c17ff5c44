//! LoP (Höfler 2005, section 2.3): overhead and latency as functions of how many peers are addressed at
//! once.
//!
//! A network card is a second processor: the second message costs less than the first (pipeline), and
//! many cost more (saturation). What the card does cannot be seen from the host, so gap and card time
//! hide in L(p). The model holds where a node sends at most one message to each peer. L is a time *per
//! message*: n of them take n·L(n).

use serde::{Deserialize, Serialize};

/// o(p) = λ₁ + λ₂/(λ₃ + p): overhead per message when p messages are posted one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    /// λ₁: what remains per message among many, in nanoseconds.
    pub floor_ns: f64,
    /// λ₂: what the first costs more, in nanoseconds times peers.
    pub start_up_ns: f64,
    /// λ₃: in peers.
    pub start_up_shift: f64,
}

impl Overhead {
    /// The same for every number of peers.
    pub fn constant(ns: f64) -> Overhead {
        Overhead { floor_ns: ns, start_up_ns: 0.0, start_up_shift: 0.0 }
    }

    /// o(p) in nanoseconds; p is at least 1.
    pub fn at_ns(&self, peers: u64) -> f64 {
        self.floor_ns + self.start_up_ns / (self.start_up_shift + peers.max(1) as f64)
    }
}

/// RTT(p) = λ₃ + λ₁/(λ₂ + p) + λ₄·(1 − e^(λ₅·(p − λ₆))): round trip per message, one node with p peers.
///
/// Processing rate of the card, its start-up, saturation of the network (thesis section 2.3.6.1). The
/// shape has one parameter more than can be told from measurements: λ₃, λ₄ and λ₆ enter only as λ₃ + λ₄
/// and λ₄·e^(−λ₅·λ₆).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundTrip {
    /// λ₃: what a message takes when the pipeline is full, in nanoseconds.
    pub floor_ns: f64,
    /// λ₁: start-up, in nanoseconds times peers.
    pub start_up_ns: f64,
    /// λ₂: in peers.
    pub start_up_shift: f64,
    /// λ₄: what saturation adds in the end, in nanoseconds.
    pub saturation_ns: f64,
    /// λ₅: how soon it does, per peer; negative where the time levels off.
    pub saturation_rate: f64,
    /// λ₆: in peers.
    pub saturation_shift: f64,
}

impl RoundTrip {
    /// RTT(p) in nanoseconds per message; p is at least 1.
    pub fn at_ns(&self, peers: u64) -> f64 {
        let p = peers.max(1) as f64;
        let saturation =
            self.saturation_ns * (1.0 - (self.saturation_rate * (p - self.saturation_shift)).exp());
        self.floor_ns + self.start_up_ns / (self.start_up_shift + p) + saturation
    }
}

/// How messages are given to the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Posting {
    /// One call per message: the card starts with the first.
    #[default]
    Each,
    /// One call for all: the card starts when all have been posted.
    List,
}

/// The model of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoP {
    pub round_trip: RoundTrip,
    /// o_s(p).
    pub send_overhead: Overhead,
    /// o_r(p): posting receives. It does not enter L(p), because receives can be posted beforehand.
    pub receive_overhead: Overhead,
    #[serde(default)]
    pub posting: Posting,
    /// The functions were fitted to measurements with up to this many peers; beyond they are extrapolated.
    pub most_peers: u64,
}

impl LoP {
    /// L(p) in nanoseconds per message: RTT(p)/2 − (o_s(p) + o_s(1)), with p·o_s(p) for lists (thesis list
    /// 2.9).
    ///
    /// The definition assumes L ≫ o. Where that does not hold L can come out small or negative; it is not
    /// cut off here.
    pub fn latency_ns(&self, peers: u64) -> f64 {
        let posted = match self.posting {
            Posting::Each => self.send_overhead.at_ns(peers),
            Posting::List => peers.max(1) as f64 * self.send_overhead.at_ns(peers),
        };
        self.round_trip.at_ns(peers) / 2.0 - (posted + self.send_overhead.at_ns(1))
    }

    /// t_1:1 = o(1) + L(1).
    pub fn one_to_one_ns(&self) -> f64 {
        self.send_overhead.at_ns(1) + self.latency_ns(1)
    }

    /// t_1:n = o(n) + n·L(n); n·o(n) + n·L(n) for lists. 0 without peers.
    pub fn one_to_many_ns(&self, peers: u64) -> f64 {
        if peers == 0 {
            return 0.0;
        }
        let n = peers as f64;
        let posted = match self.posting {
            Posting::Each => self.send_overhead.at_ns(peers),
            Posting::List => n * self.send_overhead.at_ns(peers),
        };
        posted + n * self.latency_ns(peers)
    }

    /// t_n:1 = o(1) + n·L(n). 0 without peers.
    pub fn many_to_one_ns(&self, peers: u64) -> f64 {
        if peers == 0 { 0.0 } else { self.send_overhead.at_ns(1) + peers as f64 * self.latency_ns(peers) }
    }
}

//! LoP (Höfler 2005, section 2.3): overhead and latency as functions of the number of peers that are
//! addressed together.
//!
//! A network card is a second processor: the second message costs less than the first (pipeline), and
//! many messages cost more (saturation). The host cannot see what the card does, so the gap and the time
//! of the card are part of L(p). The model holds if a node sends at most one message to each peer. L is a
//! time *per message*: n messages take n·L(n).

use serde::{Deserialize, Serialize};

/// o(p) = λ₁ + λ₂/(λ₃ + p): the overhead per message when p messages are posted one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overhead {
    /// λ₁: the overhead per message among many, in nanoseconds.
    pub floor_ns: f64,
    /// λ₂: what the first message costs more, in nanoseconds times peers.
    pub start_up_ns: f64,
    /// λ₃: the shift of the start-up, in peers.
    pub start_up_shift: f64,
}

impl Overhead {
    /// An overhead that does not depend on the number of peers.
    pub fn constant(ns: f64) -> Overhead {
        Overhead { floor_ns: ns, start_up_ns: 0.0, start_up_shift: 0.0 }
    }

    /// o(p) in nanoseconds; p is at least 1.
    pub fn at_ns(&self, peers: u64) -> f64 {
        self.floor_ns + self.start_up_ns / (self.start_up_shift + peers.max(1) as f64)
    }
}

/// RTT(p) = λ₃ + λ₁/(λ₂ + p) + λ₄·(1 − e^(λ₅·(p − λ₆))): the round trip per message of one node with p
/// peers.
///
/// The terms are the processing rate of the card, its start-up, and the saturation of the network
/// (thesis, section 2.3.6.1). The function has one parameter more than measurements can determine: λ₃, λ₄
/// and λ₆ enter only as λ₃ + λ₄ and λ₄·e^(−λ₅·λ₆).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RoundTrip {
    /// λ₃: what a message takes when the pipeline is full, in nanoseconds.
    pub floor_ns: f64,
    /// λ₁: the start-up, in nanoseconds times peers.
    pub start_up_ns: f64,
    /// λ₂: the shift of the start-up, in peers.
    pub start_up_shift: f64,
    /// λ₄: what saturation adds in the limit, in nanoseconds.
    pub saturation_ns: f64,
    /// λ₅: how fast it does so, per peer. Negative if the time levels off.
    pub saturation_rate: f64,
    /// λ₆: the shift of the saturation, in peers.
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

/// How the host gives messages to the card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Posting {
    /// One call for each message: the card starts with the first.
    #[default]
    Each,
    /// One call for all messages: the card starts when all have been posted.
    List,
}

/// The parameters of LoP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LoP {
    /// RTT(p).
    pub round_trip: RoundTrip,
    /// o_s(p).
    pub send_overhead: Overhead,
    /// o_r(p): the overhead of posting receives. It is not part of L(p), because receives can be posted
    /// beforehand.
    pub receive_overhead: Overhead,
    /// How the host gives messages to the card.
    #[serde(default)]
    pub posting: Posting,
    /// The functions were fitted to measurements with up to so many peers. Beyond, they are extrapolated.
    pub most_peers: u64,
}

impl LoP {
    /// L(p) in nanoseconds per message: RTT(p)/2 − (o_s(p) + o_s(1)), with p·o_s(p) for lists (thesis,
    /// list 2.9).
    ///
    /// The definition assumes L ≫ o. If that does not hold, L can be small or negative. It is not
    /// corrected here.
    pub fn latency_ns(&self, peers: u64) -> f64 {
        let posted = match self.posting {
            Posting::Each => self.send_overhead.at_ns(peers),
            Posting::List => peers.max(1) as f64 * self.send_overhead.at_ns(peers),
        };
        self.round_trip.at_ns(peers) / 2.0 - (posted + self.send_overhead.at_ns(1))
    }

    /// t_1:1 = o(1) + L(1): the time of one message, in nanoseconds.
    pub fn one_to_one_ns(&self) -> f64 {
        self.send_overhead.at_ns(1) + self.latency_ns(1)
    }

    /// t_1:n = o(n) + n·L(n), or n·o(n) + n·L(n) for lists: the time until all peers have a message from
    /// one rank, in nanoseconds. 0 for no peers.
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

    /// t_n:1 = o(1) + n·L(n): the time until one rank has a message from each peer, in nanoseconds. 0 for
    /// no peers.
    pub fn many_to_one_ns(&self, peers: u64) -> f64 {
        if peers == 0 { 0.0 } else { self.send_overhead.at_ns(1) + peers as f64 * self.latency_ns(peers) }
    }
}

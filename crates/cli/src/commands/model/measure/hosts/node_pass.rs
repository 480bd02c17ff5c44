//! One pass of one scenario between hosts, and why it was not completed.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use thiserror::Error;

/// A node that has not answered for this long is considered lost.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Signals of a stream after which node 1 reports its position. The time from one report to the next is a
/// sample: few enough signals for most samples to be free of interruptions.
pub const SIGNALS_PER_CREDIT: u64 = 16;

/// One pass of one scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodePass {
    /// What is done.
    pub scenario: NodeScenario,
    /// How many peers take part.
    pub peers: usize,
    /// Turns that are timed.
    pub turns: u64,
    /// Turns before them that are not timed.
    pub warm_up: u64,
    /// After this time no further turn is begun if two have been timed: networks differ by a factor of
    /// thousands.
    pub enough_us: u64,
    /// Whether nodes on the same machine share cores: a node that waits then yields its core.
    pub shares_cores: bool,
}

/// What is done in a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeScenario {
    /// Node 0 signals each peer, each answers: o_s(p) and RTT(p).
    Exchange,
    /// Node 0 takes answers that are all there: o_r(p).
    Collect,
    /// A stream of signals to node 1: g. Each time is that of [`SIGNALS_PER_CREDIT`] of them.
    Stream,
    /// Messages of so many bytes to node 1 and back.
    Messages {
        /// The length of each.
        bytes: usize,
    },
}

/// Why a pass was not completed; nodes by number.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
pub enum NodePassError {
    /// These nodes did not answer.
    #[error("nodes {0:?} did not answer")]
    Silent(Vec<usize>),
    /// What came from the node, or arrived there, was not what was sent.
    #[error("node {0} got, or sent, something else than it should")]
    WrongContent(usize),
    /// The network has given up the connection to the node.
    #[error("the connection to node {0} is lost: {1}")]
    Lost(usize, String),
}

/// What a node does between two polls.
pub fn pause(shares_cores: bool) {
    if shares_cores { std::thread::yield_now() } else { std::hint::spin_loop() }
}

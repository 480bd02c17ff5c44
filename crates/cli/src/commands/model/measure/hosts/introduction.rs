//! What a node and the measurement exchange before the first pass, in lines of JSON.

use serde::{Deserialize, Serialize};

/// The first line of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeIntroduction {
    /// Version of evenkeel.
    pub version: String,
    /// The host's own name.
    pub host: String,
    /// The boot of the running kernel: the same for hosts that are one machine.
    pub boot: String,
    /// The cores that the node may use.
    pub usable_cores: Vec<usize>,
    /// The processor's name.
    pub processor: String,
    /// Name and release of the kernel.
    pub kernel: String,
    /// The time of a reading of the clock, in nanoseconds.
    pub clock_ns: f64,
    /// The host's load average.
    pub load: Option<f64>,
    /// The address at which the fabric reaches the node.
    pub address: Vec<u8>,
}

/// The first line to a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeSetup {
    /// Its number.
    pub node: usize,
    /// The core that it is to be held on.
    pub core: usize,
    /// The addresses of all nodes.
    pub addresses: Vec<Vec<u8>>,
}

/// The node's answer: it is connected to the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeReady {
    /// Why it could not be held on its core, if so.
    pub unpinned: Option<String>,
}

//! What it costs to use a channel, by its load.

use super::super::graph::Graph;

/// How strongly the load of a channel counts: the greater, the more the busiest channels alone matter.
const POWER: i32 = 4;

/// The cost of a channel without load: small, but not 0, so that no path is free.
const IDLE: f64 = 1e-3;

/// The costs of all channels.
pub(super) struct ChannelCosts {
    pub by_channel: Vec<f64>,
    /// The load that costs 1.
    unit: f64,
}

impl ChannelCosts {
    /// The costs of idle channels, for a number of ordered pairs of end nodes.
    pub fn new(graph: &Graph, pairs: u64) -> ChannelCosts {
        // The mean load if the path of each pair were one hop.
        let unit = (pairs as f64 / graph.channels.max(1) as f64).max(1.0);
        ChannelCosts { by_channel: vec![IDLE; graph.channels], unit }
    }

    /// Sets the cost of a channel with a load.
    pub fn set(&mut self, c: u32, load: f64) {
        self.by_channel[c as usize] = IDLE + (load / self.unit).powi(POWER);
    }
}

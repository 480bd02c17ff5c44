//! What a measurement found: the layout of `--json` and the input of the page. Times are nanoseconds.

use crate::counters::Throttling;
use serde::{Deserialize, Serialize};

/// The summary of a measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseSummary {
    /// Tells the page, which also shows runs, what this is: always `noise`.
    pub kind: String,
    /// The number of this layout: 1.
    pub schema: u32,
    /// The version of evenkeel.
    pub version: String,
    /// The name and release of the kernel.
    pub kernel: String,
    /// When the measurement started, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// The duration of both traces together, without calibration.
    pub elapsed_ns: u64,
    /// The intended length of a quantum.
    pub quantum_ns: u64,
    /// Shorter gaps are not counted.
    pub least_gap_ns: u64,
    /// The duration of a window. Counts are correlated window by window.
    pub window_ns: u64,
    /// The noise of each core.
    pub cores: Vec<CoreNoise>,
    /// Delays and gaps by length.
    pub classes: Vec<LengthClass>,
    /// The correlation for lengths of 100 µs to 1 ms, those of Pakin's figure 5.8.
    pub between_100_and_1000_us: Correlation,
    /// Throttling of the control groups of the process. None if the kernel does not count.
    pub throttling: Option<Throttling>,
}

/// The noise of one core.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreNoise {
    /// The number of the core.
    pub core: u32,
    /// Why the thread could not be bound to the core, if so. Then the numbers are those of the cores that
    /// it ran on.
    pub unpinned: Option<String>,
    /// The number of quanta.
    pub quanta: u64,
    /// The fastest quantum.
    pub fastest_ns: u64,
    /// The median of the quanta.
    pub median_ns: u64,
    /// The 99th percentile of the quanta.
    pub p99_ns: u64,
    /// The slowest quantum.
    pub slowest_ns: u64,
    /// Quanta that took more than 5% longer than the fastest.
    pub slow: u64,
    /// The sum of the delays.
    pub delay_ns: u64,
    /// The sum of all quanta.
    pub quanta_ns: u64,
    /// The number of gaps.
    pub gaps: u64,
    /// The longest gap.
    pub longest_gap_ns: u64,
    /// The sum of the gaps.
    pub gap_ns: u64,
    /// How long the core was observed for gaps.
    pub watched_ns: u64,
    /// Context switches during both traces that the thread made itself.
    pub voluntary: u64,
    /// Context switches during both traces that were forced on it.
    pub involuntary: u64,
    /// Time that the hypervisor gave to others. None if the kernel does not tell.
    pub steal_ns: Option<u64>,
    /// For each window the share lost to delays or gaps, in units of 0.01%: first the windows of the
    /// quanta, then those of the gaps.
    pub lost: Vec<u32>,
}

/// The delays and gaps of one class of length, on all cores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LengthClass {
    /// The lower edge.
    pub from_ns: u64,
    /// The upper edge. None for the last class.
    pub to_ns: Option<u64>,
    /// The number of delays.
    pub delays: u64,
    /// The number of gaps.
    pub gaps: u64,
    /// Their correlation with context switches.
    pub correlation: Correlation,
}

/// Pearson's r with context switches, over the windows of all cores. None if one of the two never
/// changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// For delays.
    pub delays: Option<f64>,
    /// For gaps.
    pub gaps: Option<f64>,
}

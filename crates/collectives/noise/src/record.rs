//! What a measurement found: the layout of `--json`, and what the page is given. Times are nanoseconds.

use crate::counters::Throttling;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NoiseSummary {
    /// Tells the page, which shows runs too, what this is: always `noise`.
    pub kind: String,
    /// Of this layout: 1.
    pub schema: u32,
    /// Of evenkeel.
    pub version: String,
    /// Name and release of the kernel.
    pub kernel: String,
    pub started_unix_ns: u64,
    /// Of both traces together, without calibration.
    pub elapsed_ns: u64,
    /// How long a quantum was meant to take.
    pub quantum_ns: u64,
    /// Shorter gaps are not counted.
    pub least_gap_ns: u64,
    /// Counts are correlated window by window.
    pub window_ns: u64,
    pub cores: Vec<CoreNoise>,
    pub classes: Vec<LengthClass>,
    /// Of context switches with delays and with gaps of 100 µs to 1 ms, the lengths of Pakin's figure 5.8.
    pub between_100_and_1000_us: Correlation,
    /// Of the control groups this was measured in; none where the kernel does not count.
    pub throttling: Option<Throttling>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreNoise {
    pub core: u32,
    /// Why the process could not be held on the core, if so: then the numbers are of whatever core it was on.
    pub unpinned: Option<String>,
    pub quanta: u64,
    pub fastest_ns: u64,
    pub median_ns: u64,
    pub p99_ns: u64,
    pub slowest_ns: u64,
    /// Quanta that took more than 5% longer than the fastest.
    pub slow: u64,
    /// Sum of the delays, and of all quanta.
    pub delay_ns: u64,
    pub quanta_ns: u64,
    pub gaps: u64,
    pub longest_gap_ns: u64,
    /// Sum of the gaps, and the time that was watched for them.
    pub gap_ns: u64,
    pub watched_ns: u64,
    /// Context switches during both traces: given away, and taken.
    pub voluntary: u64,
    pub involuntary: u64,
    /// Time that the hypervisor gave to others; none where the kernel does not say.
    pub steal_ns: Option<u64>,
    /// Per window the share lost to delays or gaps, in units of 0.01%; first the windows of the quanta,
    /// then those of the gaps.
    pub lost: Vec<u32>,
}

/// Delays and gaps of one class of length, on all cores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LengthClass {
    pub from_ns: u64,
    /// None: it has no upper end.
    pub to_ns: Option<u64>,
    pub delays: u64,
    pub gaps: u64,
    pub correlation: Correlation,
}

/// Pearson's r with the context switches, over the windows of all cores; none where one of the two
/// never changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    pub delays: Option<f64>,
    pub gaps: Option<f64>,
}

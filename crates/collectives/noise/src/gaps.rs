//! All gaps in the order of time, for replay in a simulation. This is the layout of `--trace`.

use crate::measure::{CoreTrace, MeasurementPlan};
use crate::summary::Conditions;
use serde::{Deserialize, Serialize};

/// The gaps of all cores.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GapTrace {
    /// What this is: always `gaps`.
    pub kind: String,
    /// The number of this layout: 1.
    pub schema: u32,
    /// The version of evenkeel.
    pub version: String,
    /// The name and release of the kernel.
    pub kernel: String,
    /// When the measurement started, in nanoseconds since 1970.
    pub started_unix_ns: u64,
    /// Shorter gaps are not recorded.
    pub least_gap_ns: u64,
    /// The gaps of each core.
    pub cores: Vec<CoreGaps>,
}

/// The gaps of one core.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreGaps {
    /// The number of the core.
    pub core: u32,
    /// How long it was observed.
    pub watched_ns: u64,
    /// The beginning, counted from the start of the observation, and the length of each gap. They are in
    /// the order of time and do not overlap.
    pub gaps_ns: Vec<[u64; 2]>,
}

/// Joins the windows of each core. The moments between two windows, in which the core was not observed,
/// are left out.
pub fn gap_trace(plan: &MeasurementPlan, traces: &[CoreTrace], conditions: &Conditions) -> GapTrace {
    let core = |trace: &CoreTrace| {
        let mut found = CoreGaps { core: trace.core as u32, ..Default::default() };
        for window in &trace.gaps {
            let placed = window
                .starts_ns
                .iter()
                .zip(&window.lengths_ns)
                .map(|(start, length)| [found.watched_ns + start, *length]);
            found.gaps_ns.extend(placed);
            found.watched_ns += window.length_ns;
        }
        found
    };
    GapTrace {
        kind: "gaps".into(),
        schema: 1,
        version: conditions.version.clone(),
        kernel: conditions.kernel.clone(),
        started_unix_ns: conditions.started_unix_ns,
        least_gap_ns: plan.min_gap.as_nanos() as u64,
        cores: traces.iter().map(core).collect(),
    }
}

//! The gaps as they came, one after the other: what a simulation replays. The layout of `--trace`.

use crate::measure::{CoreTrace, MeasurementPlan};
use crate::summary::Conditions;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GapTrace {
    /// Always `gaps`.
    pub kind: String,
    /// Of this layout: 1.
    pub schema: u32,
    /// Of evenkeel.
    pub version: String,
    /// Name and release of the kernel.
    pub kernel: String,
    pub started_unix_ns: u64,
    /// Shorter gaps were not counted.
    pub least_gap_ns: u64,
    pub cores: Vec<CoreGaps>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CoreGaps {
    pub core: u32,
    pub watched_ns: u64,
    /// Beginning, counted from when the core began to be watched, and length, in order; they do not overlap.
    pub gaps_ns: Vec<[u64; 2]>,
}

/// The windows of each core put one behind the other; the moments between two windows, in which nothing
/// was watched, are left out.
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

//! A run with everything that is computed of it once.

use crate::path::{Segment, critical_path};
use crate::run::Run;
use crate::shares::LaneShares;
use crate::supersteps::{Superstep, supersteps};
use crate::waits::Waits;

/// What answers are made of.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The run.
    pub run: Run,
    /// Which calls waited.
    pub waits: Waits,
    /// The critical path, in the order of time.
    pub path: Vec<Segment>,
    /// In the order of time.
    pub supersteps: Vec<Superstep>,
    /// By lane.
    pub shares: Vec<LaneShares>,
}

impl Analysis {
    /// Computes it: linear in the calls, but for logarithms.
    pub fn of(run: Run) -> Analysis {
        let waits = Waits::of(&run);
        let path = critical_path(&run, &waits);
        let supersteps = supersteps(&run, &waits);
        let lanes = 0..run.lanes.len() as u32;
        let shares = lanes.map(|lane| LaneShares::of(&run, &waits, lane)).collect();
        Analysis { run, waits, path, supersteps, shares }
    }
}

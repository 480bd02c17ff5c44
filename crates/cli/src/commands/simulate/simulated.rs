//! The result of one simulation.

use super::schedule_name::ScheduleName;
use evenkeel_schedule::Schedule;
use evenkeel_schedule_sim::{Outcome, VirtualTime};
use serde::Serialize;

/// One schedule with one number of ranks, simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Simulated {
    /// As given on the command line.
    pub schedule: String,
    /// The collective operation.
    pub operation: &'static str,
    /// Number of ranks.
    pub ranks: u32,
    /// The time of the loop if no rank waited and calls took no time.
    #[serde(rename = "alone_ns")]
    pub alone: VirtualTime,
    /// What the simulator found.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The time that the simulation itself took. Not in the record, which is the same whenever the command is
    /// repeated.
    #[serde(skip)]
    pub seconds: f64,
}

impl Simulated {
    /// The result for a schedule.
    pub fn new(
        name: &ScheduleName,
        schedule: &Schedule,
        alone: VirtualTime,
        outcome: Outcome,
        seconds: f64,
    ) -> Simulated {
        Simulated {
            schedule: name.to_string(),
            operation: schedule.algorithm.collective.name(),
            ranks: schedule.problem.ranks,
            alone,
            outcome,
            seconds,
        }
    }
}

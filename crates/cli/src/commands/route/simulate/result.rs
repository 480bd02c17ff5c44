//! What was simulated; also the layout of `--json`.

use super::arguments::SimulateArguments;
use evenkeel_switch_sim::{Interval, LoadPoint, Parameters, StoppingRules};
use serde::Serialize;

/// One network under one scheme.
#[derive(Clone, Debug, Serialize)]
pub struct RoutedCase {
    /// The network's name.
    pub network: String,
    /// The scheme, the engine of OpenSM, or the file of tables.
    pub scheme: String,
    /// Seconds spent on finding the routes.
    pub seconds: f64,
    /// Seconds of processor time for the same.
    pub processor_seconds: f64,
    /// Number of switches.
    pub switches: u32,
    /// Number of hosts.
    pub hosts: u32,
    /// The most that each seed accepted, in phits per cycle and sending host, with the interval over seeds.
    /// None if there was a deadlock.
    pub throughput: Option<Interval>,
    /// One for each seed.
    pub runs: Vec<SeedRun>,
}

/// All loads with one seed.
#[derive(Clone, Debug, Serialize)]
pub struct SeedRun {
    /// The seed.
    pub seed: u64,
    /// One for each load.
    pub points: Vec<LoadPoint>,
    /// Why it was stopped early.
    pub halted: Option<String>,
}

/// Everything, with the parameters.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    parameters: &'a Parameters,
    rules: &'a StoppingRules,
    pattern: String,
    length: String,
    copies: u32,
    cases: &'a [RoutedCase],
}

impl<'a> Record<'a> {
    /// The record of a command.
    pub fn new(
        arguments: &SimulateArguments,
        parameters: &'a Parameters,
        rules: &'a StoppingRules,
        cases: &'a [RoutedCase],
    ) -> Record<'a> {
        let (pattern, length) = (arguments.pattern.to_string(), arguments.length.to_string());
        Record { parameters, rules, pattern, length, copies: arguments.copies, cases }
    }
}

//! The layout of `--json`.

use super::arguments::SimulateArguments;
use super::setup::Setup;
use super::simulated::Simulated;
use evenkeel_model::Parameters;
use evenkeel_schedule_sim::VirtualTime;
use serde::Serialize;

/// What was simulated, and all results. Times are nanoseconds.
#[derive(Debug, Serialize)]
pub struct Record<'a> {
    /// Always `simulation`.
    kind: &'static str,
    /// Number of the layout.
    schema: u32,
    /// Of evenkeel.
    version: &'static str,
    machine: &'a Parameters,
    iterations: u32,
    compute: String,
    skew: String,
    noise: &'a str,
    /// The mean share of the time that noise takes.
    noise_share: f64,
    /// None: ranks stay until their own steps are done.
    window: Option<u32>,
    /// The cores that ranks share.
    #[serde(skip_serializing_if = "Option::is_none")]
    cores: Option<u32>,
    /// The time of a context switch.
    #[serde(rename = "switch_ns", skip_serializing_if = "Option::is_none")]
    switch: Option<VirtualTime>,
    /// In how many orders of ranks each was simulated; `calls` are those of all orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    orders: Option<u32>,
    seed: u64,
    runs: &'a [Simulated],
}

impl<'a> Record<'a> {
    /// The record of a command.
    pub fn new(arguments: &'a SimulateArguments, setup: &'a Setup, results: &'a [Simulated]) -> Record<'a> {
        let workload = &setup.workload;
        Record {
            kind: "simulation",
            schema: 1,
            version: env!("CARGO_PKG_VERSION"),
            machine: &setup.parameters,
            iterations: workload.iterations,
            compute: workload.compute.to_string(),
            skew: workload.skew.to_string(),
            noise: &arguments.noise,
            noise_share: workload.noise.share(),
            window: setup.is_bypass().then_some(arguments.window),
            cores: setup.cores.map(|shared| shared.cores),
            switch: setup.cores.map(|shared| shared.switch),
            orders: setup.cores.map(|_| arguments.orders),
            seed: workload.seed,
            runs: results,
        }
    }
}

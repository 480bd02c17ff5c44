//! The throughput of a network: the most traffic that it accepts.

use super::load_point::{LoadPoint, StoppingRules, measure};
use crate::parameters::Parameters;
use crate::routing::AnyRouting;
use crate::simulator::{SimulationError, Simulator};
use crate::traffic::{OpenLoop, Traffic};
use crate::wiring::Wiring;
use serde::Serialize;

/// One simulation: a network, its routing function and parameters, and the traffic on it.
#[derive(Clone, Debug)]
pub struct Experiment<'a> {
    /// The network.
    pub wiring: &'a Wiring,
    /// The routing function.
    pub routing: &'a AnyRouting,
    /// Parameters of switches and channels.
    pub parameters: Parameters,
    /// What hosts send.
    pub traffic: Traffic,
    /// When to stop.
    pub rules: StoppingRules,
}

impl Experiment<'_> {
    /// Runs the simulation.
    ///
    /// # Errors
    /// Packets are deadlocked, or the simulator has a bug.
    ///
    /// # Panics
    /// If a parameter is out of range.
    pub fn run(&self) -> Result<LoadPoint, SimulationError> {
        let simulator = Simulator::new(self.wiring, self.parameters, self.routing.clone());
        let mut simulator = simulator.expect("the caller has checked the parameters");
        let mut traffic = OpenLoop::new(self.traffic, self.wiring);
        measure(&mut simulator, &mut traffic, self.traffic.load, &self.rules)
    }
}

/// The throughput of a network.
#[derive(Clone, Debug, Serialize)]
pub struct Throughput {
    /// The most traffic that was accepted, in phits per cycle and sending host.
    pub accepted: f64,
    /// The points that were measured, by increasing load.
    pub points: Vec<LoadPoint>,
}

/// Measures the throughput: multiplies the load by `step`, from `first` on, until the network is saturated
/// at two loads in a row or hosts send all the time. The load of `experiment` itself is ignored.
///
/// # Errors
/// Packets are deadlocked, or the simulator has a bug.
pub fn throughput(experiment: &Experiment, first: f64, step: f64) -> Result<Throughput, SimulationError> {
    let mut points: Vec<LoadPoint> = Vec::new();
    let mut load = first;
    loop {
        let mut experiment = experiment.clone();
        experiment.traffic.load = load.min(1.0);
        points.push(experiment.run()?);
        let saturated = points.iter().rev().take_while(|p| p.saturated).count();
        if saturated >= 2 || load >= 1.0 {
            let accepted = points.iter().map(|p| p.accepted.mean).fold(0.0, f64::max);
            return Ok(Throughput { accepted, points });
        }
        load *= step;
    }
}

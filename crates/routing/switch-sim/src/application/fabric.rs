//! The three fabrics of the paper, with 256 hosts each.
//!
//! The paper gives topologies and rates. It does not give the delays of switches, but these follow from its
//! table of token latencies, which single messages in an empty network cause. The constants here were
//! derived from that table by hand. All other tables are results.

mod avici;
mod ethernet;
mod myrinet;

use super::application_core::{ApplicationCore, CoreParameters};
use super::names::UnknownNameError;
use super::outcome::Outcome;
use super::phit_network;
use super::program::Program;
use crate::simulator::SimulationError;
use avici::Ports;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// A model of a fabric with 256 hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fabric {
    /// 8 x 4 switches in a torus, with 8 hosts each and two cables between neighbours, 1.28 Gb/s.
    /// Source-routed wormhole switching, messages of any length.
    Myrinet,
    /// Gigabit Ethernet: four store-and-forward switches with 64 hosts each, and a fifth between them with
    /// one line to each. Switches replicate messages to several hosts.
    Ethernet,
    /// A router of line cards with 16 Gigabit Ethernet ports each, in a torus of 20 Gb/s lines. These carry
    /// units of 72 bytes with 64 bytes of a frame. Frames are stored twice on the way.
    Avici,
    /// The same router with hosts that are as fast as its internal lines.
    AviciFabric,
}

/// Hosts of every fabric.
pub const HOSTS: u32 = 256;
/// Time to compute between two iterations of mesh and torus.
const COMPUTE_NS: f64 = 10_000.0;
/// Iterations of mesh and torus.
const ITERATIONS: u32 = 10;

impl Fabric {
    /// All fabrics.
    pub const ALL: [Fabric; 4] = [Fabric::Myrinet, Fabric::Ethernet, Fabric::Avici, Fabric::AviciFabric];

    /// Length of a tick of its outcomes.
    pub fn tick_ns(self) -> f64 {
        if self == Fabric::Myrinet { myrinet::TICK_NS } else { 0.1 }
    }
}

impl fmt::Display for Fabric {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Fabric::Myrinet => "myrinet",
            Fabric::Ethernet => "ethernet",
            Fabric::Avici => "avici",
            Fabric::AviciFabric => "avici-fabric",
        })
    }
}

impl FromStr for Fabric {
    type Err = UnknownNameError;

    fn from_str(text: &str) -> Result<Fabric, UnknownNameError> {
        let found = Fabric::ALL.into_iter().find(|fabric| fabric.to_string() == text);
        found.ok_or_else(|| UnknownNameError::Fabric(text.to_string()))
    }
}

/// The parameters of a core in the paper: 10 iterations, each with 10 µs to compute.
pub fn paper_parameters(fabric: Fabric, core: ApplicationCore, bytes: u32) -> CoreParameters {
    CoreParameters {
        core,
        hosts: HOSTS,
        bytes,
        iterations: ITERATIONS,
        compute_ticks: (COMPUTE_NS / fabric.tick_ns()) as u64,
    }
}

/// Runs a core on a fabric. The seed selects Myrinet's paths among the shortest ones, and the order in
/// which Avici's ports serve their connections.
///
/// # Errors
/// Packets are deadlocked, or the simulator has a bug.
pub fn run(fabric: Fabric, parameters: CoreParameters, seed: u64) -> Result<Outcome, SimulationError> {
    let mut program = Program::new(parameters);
    match fabric {
        Fabric::Myrinet => phit_network::run(&mut myrinet::simulator(seed), &mut program)?,
        Fabric::Ethernet => ethernet::network(HOSTS).run(&mut program),
        Fabric::Avici => avici::network(HOSTS, Ports::GigabitEthernet, seed).run(&mut program),
        Fabric::AviciFabric => avici::network(HOSTS, Ports::Internal, seed).run(&mut program),
    }
    Ok(program.outcome())
}

//! From the arguments to what the simulator takes.

use super::arguments::{Leave, Multicast, SimulateArguments};
use super::{machine, noise, rank_fault};
use crate::errors::{CommandError, SimulationError};
use evenkeel_model::Parameters;
use evenkeel_schedule_sim::{Leaving, Machine, SharedCores, VirtualTime, WITHIN_NODE, Workload};

/// What all simulations of a command have in common.
pub struct Setup {
    /// The machine's parameters, for the record.
    pub parameters: Parameters,
    /// The machine.
    pub machine: Machine,
    /// The cores that all ranks share, if they share some.
    pub cores: Option<SharedCores>,
    /// What ranks do between calls, and what happens to them.
    pub workload: Workload,
}

impl Setup {
    /// Reads files that the arguments name, and refuses what contradicts itself.
    pub fn new(arguments: &SimulateArguments) -> Result<Setup, CommandError> {
        let node = arguments.node.as_deref().zip(arguments.ranks_per_node);
        let parameters = machine::parameters(&arguments.machine, node)?;
        let mut machine = Machine::new(&parameters).map_err(|error| SimulationError::Machine {
            name: parameters.name.clone(),
            why: error.to_string(),
        })?;
        machine.multicast = [
            matches!(arguments.multicast, Multicast::Network | Multicast::All),
            matches!(arguments.multicast, Multicast::Node | Multicast::All),
        ];
        machine.repeats = arguments.multi_send;
        machine.work_per_byte_ps = arguments.work_per_byte * 1e3;
        let cores = shared_cores(arguments, &parameters, &machine)?;
        let workload = workload(arguments)?;
        Ok(Setup { parameters, machine, cores, workload })
    }

    /// Whether ranks leave a call as soon as they have contributed and received what the call needs.
    pub fn is_bypass(&self) -> bool {
        self.workload.leaving != Leaving::Strict
    }
}

fn workload(arguments: &SimulateArguments) -> Result<Workload, SimulationError> {
    let leaving = match arguments.leave {
        Leave::Strict => Leaving::Strict,
        Leave::Bypass => Leaving::Bypass { window: arguments.window },
    };
    Ok(Workload {
        iterations: arguments.iterations,
        compute: arguments.compute,
        skew: arguments.skew,
        noise: noise::parse(&arguments.noise)?,
        leaving,
        faults: rank_fault::collect(&arguments.slow, &arguments.stall, &arguments.dead)?,
        seed: arguments.seed,
    })
}

/// The cores that ranks share, and the time of a context switch.
fn shared_cores(
    arguments: &SimulateArguments,
    parameters: &Parameters,
    machine: &Machine,
) -> Result<Option<SharedCores>, SimulationError> {
    let Some(cores) = arguments.cores else { return Ok(None) };
    let of_machine = parameters.node.as_ref().and_then(|node| node.switch_ns).map(VirtualTime::from_ns);
    let switch = arguments
        .switch
        .or(of_machine)
        .ok_or_else(|| SimulationError::NoSwitchTime { name: parameters.name.clone() })?;
    if switch == VirtualTime::ZERO {
        return Err(SimulationError::ZeroSwitchTime);
    }
    let look = machine.links[WITHIN_NODE].cost(1).latency;
    Ok(Some(SharedCores { cores, switch, look, work_per_byte_ps: machine.work_per_byte_ps }))
}

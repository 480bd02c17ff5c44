//! The loop over events.

use super::error::SimulationError;
use super::state::Simulation;
use crate::machine::Machine;
use crate::observer::Observer;
use crate::outcome::Outcome;
use crate::random::{RandomStream, stream};
use crate::workload::Workload;
use evenkeel_schedule::Schedule;

/// Messages between two reports of progress.
const REPORT_EVERY: u64 = 1 << 18;

/// Simulates a loop of work and calls. `progress` is called now and then with the share that is done.
/// Time and memory are linear in the number of ranks and of messages.
pub fn simulate<O: Observer>(
    schedule: &Schedule,
    element_bytes: u64,
    machine: &Machine,
    workload: &Workload,
    observer: &mut O,
    progress: &mut dyn FnMut(f64),
) -> Result<Outcome, SimulationError> {
    let mut simulation = Simulation::new(schedule, element_bytes, machine, workload, observer)?;
    let ranks = schedule.problem.ranks;
    for rank in 0..ranks {
        let skew = workload.skew.draw(&mut stream(workload.seed, rank, RandomStream::Skew));
        let mut state = simulation.states[rank as usize];
        let enters = simulation.enter(rank, &mut state, skew);
        simulation.states[rank as usize] = state;
        if enters {
            simulation.advance(rank);
        }
    }
    let mut arrivals = Vec::new();
    let mut reported = 0;
    while simulation.queue.next_window(&mut arrivals) {
        for message in &arrivals {
            simulation.arrive(message);
        }
        simulation.tally.messages += arrivals.len() as u64;
        if simulation.tally.messages - reported > REPORT_EVERY {
            reported = simulation.tally.messages;
            let calls = u64::from(ranks) * u64::from(workload.iterations);
            progress(simulation.tally.calls as f64 / calls as f64);
        }
    }
    for rank in 0..ranks {
        simulation.run_ahead(rank);
    }
    Ok(simulation.tally.outcome())
}

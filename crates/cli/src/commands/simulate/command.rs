//! Carries out `evenkeel simulate`.

use super::arguments::SimulateArguments;
use super::schedule_name::ScheduleName;
use super::setup::Setup;
use super::simulated::Simulated;
use super::{pictures, plot, record, table};
use crate::errors::{CommandError, FileError, SimulationError};
use crate::output::progress::Progress;
use crate::output::{file, terminal};
use evenkeel_schedule::{Nodes, Problem, Rank, Schedule};
use evenkeel_schedule_sim::{
    NoObserver, Recording, SharedCores, simulate as run, simulate_shared, time_without_calls,
};
use std::path::Path;
use std::time::Instant;

/// Simulates every schedule with every number of ranks, writes the files that were asked for, and returns
/// what is printed.
pub fn simulate(arguments: &SimulateArguments) -> Result<String, CommandError> {
    check_files(arguments)?;
    let setup = Setup::new(arguments)?;
    let schedules = schedules(arguments, &setup)?;
    let is_recorded = arguments.svg.is_some() || arguments.transcript.is_some();
    if is_recorded && schedules.len() > 1 {
        return Err(SimulationError::SeveralPictures.into());
    }
    let progress = Progress::new("simulating", schedules.len());
    let mut results = Vec::new();
    let mut written = String::new();
    for (name, schedule) in &schedules {
        let ranks = schedule.problem.ranks;
        progress.show(format!("{name}, {ranks} ranks"));
        let mut simulation = Simulation { arguments, setup: &setup, name, schedule, progress: &progress };
        results.push(match setup.cores.filter(|cores| ranks > cores.cores) {
            Some(cores) => simulation.on_shared_cores(&cores)?,
            None if is_recorded => {
                let (result, recording) = simulation.recorded()?;
                written += &pictures::write(arguments, &recording, ranks)?;
                result
            }
            None => simulation.on_own_cores()?,
        });
        progress.finish_task();
    }
    drop(progress);
    if let Some(json) = &arguments.json {
        file::write_json(json, &record::Record::new(arguments, &setup, &results))?;
    }
    if let Some(picture) = &arguments.plot {
        file::write(picture, &plot::svg(&results)?)?;
        written += &format!("\n{}\n", file::written_for_browser(picture));
    }
    Ok(table::text(arguments, &setup, &results, terminal::width()) + &written)
}

/// Refuses to write what cannot be written, or is read. A machine and noise may be files.
fn check_files(arguments: &SimulateArguments) -> Result<(), FileError> {
    let outputs = &[
        ("--json", arguments.json.as_deref()),
        ("--plot", arguments.plot.as_deref()),
        ("--svg", arguments.svg.as_deref()),
        ("--transcript", arguments.transcript.as_deref()),
    ];
    let inputs = [Some(&arguments.machine), arguments.node.as_ref(), Some(&arguments.noise)];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(Path::new).collect();
    file::check_outputs(outputs, &inputs)
}

/// Every schedule with every number of ranks.
fn schedules<'a>(
    arguments: &'a SimulateArguments,
    setup: &Setup,
) -> Result<Vec<(&'a ScheduleName, Schedule)>, SimulationError> {
    let mut schedules = Vec::new();
    for name in &arguments.schedules {
        for &ranks in &arguments.ranks.0 {
            let mut problem =
                Problem::new(ranks).with_elements(arguments.elements).with_root(Rank(arguments.root));
            if let Some(node) = &setup.parameters.node {
                problem = problem.with_nodes(Nodes::Blocks(node.ranks.unwrap_or(ranks)));
            }
            schedules.push((name, Schedule::new(name.algorithm, problem, &name.parameters()?)?));
        }
    }
    Ok(schedules)
}

/// One schedule that is to be simulated.
struct Simulation<'a> {
    arguments: &'a SimulateArguments,
    setup: &'a Setup,
    name: &'a ScheduleName,
    schedule: &'a Schedule,
    progress: &'a Progress,
}

impl Simulation<'_> {
    /// All ranks take turns on so many cores.
    fn on_shared_cores(&mut self, cores: &SharedCores) -> Result<Simulated, SimulationError> {
        let begun = Instant::now();
        let found = simulate_shared(
            self.schedule,
            self.arguments.element_bytes,
            cores,
            &self.setup.workload,
            self.arguments.orders,
            &mut |share| self.progress.set_share(share),
        )?;
        let seconds = begun.elapsed().as_secs_f64();
        Ok(Simulated::new(self.name, self.schedule, found.time_without_calls, found.outcome, seconds))
    }

    /// Each rank has a core.
    fn on_own_cores(&mut self) -> Result<Simulated, SimulationError> {
        self.observed(&mut NoObserver)
    }

    /// Each rank has a core, and everything that happens is recorded.
    fn recorded(&mut self) -> Result<(Simulated, Recording), SimulationError> {
        let mut recording = Recording::default();
        let result = self.observed(&mut recording)?;
        Ok((result, recording))
    }

    fn observed(
        &mut self,
        observer: &mut impl evenkeel_schedule_sim::Observer,
    ) -> Result<Simulated, SimulationError> {
        let begun = Instant::now();
        let Setup { machine, workload, .. } = self.setup;
        let bytes = self.arguments.element_bytes;
        let mut progress = |share: f64| self.progress.set_share(share);
        let outcome = run(self.schedule, bytes, machine, workload, observer, &mut progress)?;
        let seconds = begun.elapsed().as_secs_f64();
        let alone = time_without_calls(workload, self.schedule.problem.ranks);
        Ok(Simulated::new(self.name, self.schedule, alone, outcome, seconds))
    }
}

//! The schedule that the arguments name, and its costs.

use super::arguments::ScheduleSelection;
use crate::errors::ScheduleError;
use crate::input::algorithm_names;
use evenkeel_schedule::check::{CheckError, Costs, costs, fits_in_memory};
use evenkeel_schedule::{Algorithm, Collective, Nodes, Problem, Rank, Schedule, algorithms};

/// Memory that counting and checking may take: they keep, with each message, what its sender knew.
const MOST_BYTES: u64 = 2 << 30;

/// Makes the schedule.
pub fn schedule(selection: &ScheduleSelection) -> Result<Schedule, ScheduleError> {
    let algorithm = algorithm(&selection.algorithm)?;
    let mut values: Vec<(&str, u32)> = Vec::new();
    for given in &selection.parameters {
        let (name, word) =
            given.split_once('=').ok_or_else(|| ScheduleError::NoValue { given: given.clone() })?;
        values.push((name, parameter_value(algorithm, name, word)?));
    }
    values.extend(selection.n.map(|n| ("n", n)));
    let elements = elements(algorithm.collective, selection.elements);
    let mut problem = Problem::new(selection.ranks).with_elements(elements).with_root(Rank(selection.root));
    if !selection.nodes.is_empty() {
        problem = problem.with_nodes(Nodes::table(&selection.nodes));
    }
    Ok(Schedule::new(algorithm, problem, &values)?)
}

fn algorithm(name: &str) -> Result<&'static Algorithm, ScheduleError> {
    algorithms::find(name).ok_or_else(|| {
        let similar = algorithm_names::similar_to(name);
        let suggestion = match similar.is_empty() {
            true => String::new(),
            false => format!("; perhaps {}", similar.join(" or ")),
        };
        ScheduleError::NoAlgorithm { name: name.into(), suggestion }
    })
}

fn parameter_value(algorithm: &Algorithm, name: &str, word: &str) -> Result<u32, ScheduleError> {
    match algorithm.parameters.iter().find(|parameter| parameter.name == name) {
        Some(parameter) => parameter.parse(word).ok_or_else(|| {
            let error = evenkeel_schedule::ScheduleError::Value {
                algorithm: algorithm.name,
                name: parameter.name,
                value: word.into(),
                range: parameter.range(),
            };
            error.into()
        }),
        // `Schedule::new` refuses it and names the parameters that there are.
        None => Ok(0),
    }
}

/// The elements of a problem; barriers move no data.
pub fn elements(collective: Collective, asked: u32) -> u32 {
    if collective == Collective::Barrier { 0 } else { asked }
}

/// What the schedule costs, counted from its steps.
pub fn count_costs(schedule: &Schedule) -> Result<Costs, ScheduleError> {
    check_memory(schedule)?;
    costs(schedule).map_err(|error| wrong(schedule, error))
}

/// Refuses a schedule that would take too much memory to check.
pub fn check_memory(schedule: &Schedule) -> Result<(), ScheduleError> {
    match fits_in_memory(schedule, MOST_BYTES) {
        true => Ok(()),
        false => Err(ScheduleError::TooLargeToCheck {
            algorithm: schedule.algorithm.name,
            ranks: schedule.problem.ranks,
            gib: MOST_BYTES >> 30,
        }),
    }
}

/// The error for a schedule in which the checker has found a fault.
pub fn wrong(schedule: &Schedule, error: CheckError) -> ScheduleError {
    let what = format!("{} with {} ranks", schedule.algorithm.name, schedule.problem.ranks);
    ScheduleError::Wrong { what, error: Box::new(error) }
}

//! `evenkeel schedule check`: runs an algorithm in many orders and says whether it is right.

use super::arguments::CheckArguments;
use super::selection::{self, check_memory, wrong};
use crate::errors::ScheduleError;
use evenkeel_schedule::check::{Interleaving, explore, run};
use evenkeel_schedule::{Rank, Schedule, Step};

/// With so many ranks every order of steps and messages can be tried.
const MOST_RANKS_TO_EXPLORE: u32 = 3;
/// How far every order is followed: epochs, and states.
const EXPLORED: (u64, usize) = (3, 1_000_000);

/// Returns the sentences about what was checked, or the fault that was found.
pub fn check(arguments: &CheckArguments) -> Result<String, ScheduleError> {
    let schedule = selection::schedule(&arguments.selection)?;
    check_memory(&schedule)?;
    let epochs = 1 + 2 * u64::from(schedule.resources.banks);
    let random = (0..arguments.random).map(|at| Interleaving::Random(arguments.seed.wrapping_add(at)));
    for interleaving in [Interleaving::Prompt, Interleaving::LastFirst].into_iter().chain(random) {
        run(&schedule, epochs, interleaving).map_err(|error| wrong(&schedule, error))?;
    }
    Ok(format!(
        "{} with {} ranks is right: {epochs} epochs in two orders and {} random ones.\n{}",
        schedule.algorithm.name,
        schedule.problem.ranks,
        arguments.random,
        other_orders(&schedule)?
    ))
}

/// What follows for the orders that were not run.
fn other_orders(schedule: &Schedule) -> Result<String, ScheduleError> {
    let counts =
        |rank| schedule.program(Rank(rank)).iter().any(|(_, step)| matches!(step, Step::Count { .. }));
    let decides_while_running = (0..schedule.problem.ranks).any(counts);
    if !decides_while_running {
        return Ok(
            "Nothing is decided while it runs, so this holds for every order of steps and messages.\n".into(),
        );
    }
    if schedule.problem.ranks > MOST_RANKS_TO_EXPLORE {
        return Ok(format!(
            "The rank that comes last decides what happens, so other orders may differ; with up to \
             {MOST_RANKS_TO_EXPLORE} ranks all of them are tried.\n"
        ));
    }
    let (epochs, most_states) = EXPLORED;
    let seen = explore(schedule, epochs, most_states).map_err(|error| wrong(schedule, error))?;
    let more = if seen.cut_off { ", and there are more" } else { "" };
    Ok(format!(
        "Every order of steps and messages was tried, for {epochs} epochs: {} states{more}.\n",
        seen.states
    ))
}

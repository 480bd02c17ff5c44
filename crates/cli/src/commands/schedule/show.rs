//! `evenkeel schedule show`: an algorithm's messages as a picture, and what it costs.

use super::arguments::ShowArguments;
use super::list::responders;
use super::selection::{self, count_costs, wrong};
use crate::errors::{CommandError, ScheduleError};
use crate::output::file;
use evenkeel_schedule::check::Costs;
use evenkeel_schedule::picture::{Picture, svg, text};
use evenkeel_schedule::{CombiningOrder, Rank, Schedule};
use evenkeel_text::page::Page;

/// Returns the text for a terminal of this width, and writes the picture if it was asked for.
pub fn show(arguments: &ShowArguments, width: usize) -> Result<String, CommandError> {
    let schedule = selection::schedule(&arguments.selection)?;
    if let Some(rank) = arguments.steps {
        return Ok(steps(&schedule, rank)?);
    }
    file::check_outputs(&[("--svg", arguments.svg.as_deref())], &[])?;
    let costs = count_costs(&schedule)?;
    let picture = Picture::of(&schedule).map_err(|error| wrong(&schedule, error))?;
    let drawing = text::text(&picture, width).unwrap_or_else(|| {
        let columns = schedule.problem.ranks;
        format!("{}\n\nIts {columns} columns do not fit {width}; --svg FILE draws it.\n", picture.title())
    });
    let mut page = Page::new(width);
    for paragraph in description(&schedule, &costs) {
        page.hanging(&paragraph);
    }
    if let Some(file) = &arguments.svg {
        file::write(file, &svg::svg(&picture))?;
        page.line(format!("{} written.", file.display()));
    }
    Ok(format!("{drawing}\n{}", page.text()))
}

/// Paragraphs about the algorithm: what it does, its source, its costs, its parameters.
fn description(schedule: &Schedule, costs: &Costs) -> Vec<String> {
    let algorithm = schedule.algorithm;
    let mut paragraphs = vec![
        algorithm.about.to_string(),
        format!("Source: {}.", algorithm.source),
        format!("Cost: {}.", algorithm.cost),
    ];
    paragraphs.extend(combining_order(algorithm.order).map(String::from));
    let data = match costs.elements {
        0 => String::new(),
        elements => format!(", {elements} elements moved"),
    };
    paragraphs.push(format!(
        "{} rounds, {} messages (at most {} sent by one rank){data}. A rank's memory: {} flags and counters, \
         {} elements of scratch. Between entering and leaving, a rank needs {} others to respond.",
        costs.rounds,
        costs.messages,
        costs.sent,
        costs.flags,
        costs.scratch,
        responders(costs)
    ));
    for parameter in algorithm.parameters {
        paragraphs.push(format!(
            "--param {}={}: {} (default: {}).",
            parameter.name,
            parameter.range(),
            parameter.about,
            parameter.show(parameter.default)
        ));
    }
    paragraphs
}

fn combining_order(order: CombiningOrder) -> Option<&'static str> {
    match order {
        CombiningOrder::Nothing => None,
        CombiningOrder::Fold => Some("It combines in the order of ranks, grouped as the engine groups."),
        CombiningOrder::Ranks => {
            Some("It combines in the order of ranks, but in another grouping than the engine's.")
        }
        CombiningOrder::Any => {
            Some("It combines in another order than that of ranks: only for commutative operations.")
        }
    }
}

/// One line for each step of a rank.
fn steps(schedule: &Schedule, rank: u32) -> Result<String, ScheduleError> {
    if rank >= schedule.problem.ranks {
        return Err(ScheduleError::NoSuchRank { rank, ranks: schedule.problem.ranks });
    }
    let steps = schedule.program(Rank(rank)).into_iter();
    Ok(steps.map(|(round, step)| format!("round {:>3}  {step:?}\n", round + 1)).collect())
}

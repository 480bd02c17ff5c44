//! `evenkeel schedule list`: a table of algorithms for each operation.

use super::arguments::ListArguments;
use super::selection::{count_costs, elements};
use crate::errors::ScheduleError;
use evenkeel_schedule::check::Costs;
use evenkeel_schedule::{Collective, Problem, Schedule, algorithms};
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "algorithm", dispensable: 0 },
    Column { group: "", head: "parameters", dispensable: 3 },
    Column { group: "", head: "rounds", dispensable: 0 },
    Column { group: "messages", head: "all", dispensable: 0 },
    Column { group: "messages", head: "sent", dispensable: 4 },
    Column { group: "elements", head: "all", dispensable: 2 },
    Column { group: "elements", head: "sent", dispensable: 5 },
    Column { group: "memory", head: "flags", dispensable: 6 },
    Column { group: "memory", head: "scratch", dispensable: 7 },
    Column { group: "must", head: "respond", dispensable: 1 },
];

const LEGEND: [&str; 2] = [
    "rounds: messages that must follow one another. sent: by the rank that sends most. scratch: elements of \
     a rank's memory that others write to. must respond: other ranks that must do something between a rank's \
     entering and its leaving, for the rank with fewest and for the rank with most of them.",
    "`evenkeel schedule show NAME` draws an algorithm and names its source; --param NAME=VALUE sets a \
     parameter.",
];

/// Returns the text for a terminal of this width.
pub fn list(arguments: &ListArguments, width: usize) -> Result<String, ScheduleError> {
    let mut page = Page::new(width);
    let wanted = arguments.operation.map(Collective::from);
    for collective in Collective::ALL.into_iter().filter(|c| wanted.is_none_or(|wanted| wanted == *c)) {
        let elements = elements(collective, arguments.elements);
        let mut rows = Vec::new();
        for algorithm in algorithms::for_collective(collective) {
            let problem = Problem::new(arguments.ranks).with_elements(elements);
            let schedule = Schedule::new(algorithm, problem, &[])?;
            rows.push(row(&schedule, &count_costs(&schedule)?));
        }
        let size = match collective {
            Collective::Barrier => String::new(),
            _ => format!(", {elements} elements"),
        };
        page.line(format!("{}, {} ranks{size}", collective.name(), arguments.ranks));
        page.table(COLUMNS, &rows).blank();
    }
    for paragraph in LEGEND {
        page.paragraph(paragraph);
    }
    Ok(page.text())
}

fn row(schedule: &Schedule, costs: &Costs) -> Vec<String> {
    let values = schedule.algorithm.parameters.iter().zip(schedule.problem.values);
    let parameters: Vec<String> =
        values.map(|(parameter, value)| format!("{}={}", parameter.name, parameter.show(value))).collect();
    vec![
        schedule.algorithm.name.into(),
        parameters.join(" "),
        costs.rounds.to_string(),
        costs.messages.to_string(),
        costs.sent.to_string(),
        costs.elements.to_string(),
        costs.sent_elements.to_string(),
        costs.flags.to_string(),
        costs.scratch.to_string(),
        responders(costs),
    ]
}

/// How many other ranks must respond: `3`, or `1-15` if it differs between ranks.
pub fn responders(costs: &Costs) -> String {
    if costs.responders == costs.least_responders {
        costs.responders.to_string()
    } else {
        format!("{}-{}", costs.least_responders, costs.responders)
    }
}

//! The table that is printed, and the sentences around it.

use super::arguments::SimulateArguments;
use super::setup::Setup;
use super::simulated::Simulated;
use evenkeel_schedule_sim::{Noise, VirtualTime};
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::{count, duration, percent, plural, short_count};

const COLUMNS: &[Column] = &[
    Column { group: "", head: "schedule", dispensable: 0 },
    Column { group: "", head: "ranks", dispensable: 0 },
    Column { group: "loop", head: "each", dispensable: 0 },
    Column { group: "loop", head: "alone", dispensable: 2 },
    Column { group: "completion", head: "mean", dispensable: 0 },
    Column { group: "completion", head: "p99", dispensable: 5 },
    Column { group: "held", head: "mean", dispensable: 0 },
    Column { group: "held", head: "p99", dispensable: 3 },
    Column { group: "held", head: "longest", dispensable: 4 },
    Column { group: "", head: "messages", dispensable: 6 },
    Column { group: "", head: "most late", dispensable: 1 },
];

const LEGEND: &str = "loop: one round of compute and call; alone: if calls took no time and no rank waited. \
                      completion: from when the last rank entered until the last rank was done. held: how \
                      long a rank was in a call. most late: the rank that others waited for longest, and its \
                      share.";

/// The text for a terminal of this width.
pub fn text(arguments: &SimulateArguments, setup: &Setup, results: &[Simulated], width: usize) -> String {
    let mut page = Page::new(width);
    page.hanging(&headline(arguments, setup)).blank();
    let rows: Vec<Vec<String>> = results.iter().map(|result| row(result, arguments.iterations)).collect();
    page.table(COLUMNS, &rows);
    for result in results.iter().filter(|result| result.outcome.stuck > 0) {
        page.blank().paragraph(&stuck(result, arguments.iterations));
    }
    if let Some(note) = crowded_node(setup, results) {
        page.blank().paragraph(&note);
    }
    page.blank().paragraph(LEGEND).blank();
    let messages = results.iter().map(|result| result.outcome.messages).sum();
    let seconds: f64 = results.iter().map(|result| result.seconds).sum();
    page.paragraph(&format!("{} messages in {}.", count(messages), duration((seconds * 1e9) as u64)));
    page.text()
}

fn headline(arguments: &SimulateArguments, setup: &Setup) -> String {
    let workload = &setup.workload;
    let noise = match workload.noise {
        Noise::None => "no noise".to_string(),
        _ => {
            let share = percent((workload.noise.share() * 1e6) as u64, 1_000_000);
            format!("noise that takes {share} of the time ({})", arguments.noise)
        }
    };
    let node = match (&setup.cores, arguments.ranks_per_node) {
        (Some(shared), _) => format!(
            ", with {} for all ranks, context switches of {}, and {}",
            plural(shared.cores.into(), "core", "cores"),
            duration(shared.switch.ns().round() as u64),
            plural(arguments.orders.into(), "order of ranks", "orders of ranks")
        ),
        (None, Some(ranks)) => format!(", {ranks} ranks on each node"),
        (None, None) => String::new(),
    };
    let leave = match setup.is_bypass() {
        true => format!(
            " A rank leaves a call as soon as it has what it needs and has contributed what others need, and \
             may be up to {} calls ahead.",
            arguments.window
        ),
        false => String::new(),
    };
    format!(
        "evenkeel: {} calls, each after work of {}, simulated on {}{node}, with {noise}, seed {}.{leave}",
        workload.iterations, workload.compute, setup.parameters.name, workload.seed
    )
}

fn row(result: &Simulated, iterations: u32) -> Vec<String> {
    let outcome = &result.outcome;
    let ns = |time: VirtualTime| duration(time.ns().round() as u64);
    let each = |time: VirtualTime| duration((time.ns() / f64::from(iterations)).round() as u64);
    let calls: f64 = outcome.calls.iter().map(|call| f64::from(call.ranks_done)).sum();
    let all_held_ps = outcome.held.mean.ps() as f64 * calls;
    let late = outcome.late.first().map_or("-".into(), |late| {
        format!("{} ({})", late.rank, percent(late.held.ps() / 1000, (all_held_ps / 1000.0) as u64))
    });
    vec![
        result.schedule.clone(),
        count(result.ranks.into()),
        if outcome.stuck > 0 { "-".into() } else { each(outcome.end) },
        each(result.alone),
        ns(outcome.completion.mean),
        ns(outcome.completion.p99),
        ns(outcome.held.mean),
        ns(outcome.held.p99),
        ns(outcome.held.max),
        short_count(outcome.messages),
        late,
    ]
}

/// The sentence about ranks that wait for dead ones.
fn stuck(result: &Simulated, iterations: u32) -> String {
    let outcome = &result.outcome;
    let complete = outcome.calls.iter().filter(|call| call.ranks_done == result.ranks).count();
    let dead = match outcome.dead {
        1 => "a rank is".to_string(),
        dead => format!("{dead} ranks are"),
    };
    format!(
        "{} with {} ranks: {complete} of {iterations} calls were completed, because {dead} dead; the others \
         entered {}.",
        result.schedule,
        count(result.ranks.into()),
        outcome.calls.len()
    )
}

/// The note that a node has fewer cores than ranks, which the numbers leave out.
fn crowded_node(setup: &Setup, results: &[Simulated]) -> Option<String> {
    let node = setup.parameters.node.as_ref().filter(|_| setup.cores.is_none())?;
    let cores = node.cores?;
    let most = results.iter().map(|result| result.ranks).max().unwrap_or(0);
    let ranks = node.ranks.unwrap_or(most).min(most);
    (ranks > cores).then(|| {
        format!(
            "Note: a node of {} has {}, and {ranks} ranks run on it. Each is simulated with a core of \
             its own, so these numbers leave out what sharing cores costs. --cores simulates that cost \
             alone.",
            setup.parameters.name,
            plural(cores.into(), "core", "cores")
        )
    })
}

//! What was tried and chosen, told in a terminal.

use super::command::{Case, Record, Way};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};
use evenkeel_text::units::nanoseconds as ns;
use evenkeel_text::units::plural;
use evenkeel_tune::ratio::Ratio;
use std::path::Path;

const COLUMNS: [Column; 6] = [
    Column { group: "", head: "ranks: way", dispensable: 0 },
    Column { group: "", head: "a call", dispensable: 0 },
    Column { group: "to the built-in way", head: "time", dispensable: 0 },
    Column { group: "to the built-in way", head: "99.9% interval", dispensable: 1 },
    Column { group: "to the built-in way", head: "predicted", dispensable: 2 },
    Column { group: "", head: "turns", dispensable: 3 },
];

const LEGEND: &str = "a call: median of turns. time: median of ratios of turns that followed each other. *: chosen, since the interval lies below \
     0.98. predicted: by the simulator, the built-in way being a central counter, or an exchange of two.";

/// Text that ends with a newline. `written`: the table's file, and whether it was named.
pub fn text(record: &Record, written: Option<(&Path, bool)>, width: usize) -> String {
    let width = width.clamp(60, 160);
    let tried: usize =
        record.cases.iter().map(|c| c.ways.iter().filter(|w| w.found.is_some()).count() - 1).sum();
    let cores = plural(record.cores as u64, "core", "cores");
    let headline = format!(
        "evenkeel: tuned barriers on {cores} of {} in {:.0} s: {} tried beside the built-in way.",
        record.machine.processor,
        record.elapsed_s,
        plural(tried as u64, "schedule", "schedules")
    );
    let mut lines = wrap(&headline, width, "  ");
    lines.push(String::new());
    let rows: Vec<Vec<String>> = record.cases.iter().flat_map(rows).collect();
    lines.extend(table(&COLUMNS, &rows, width).lines());
    lines.push(String::new());
    lines.extend(wrap(LEGEND, width, ""));
    lines.push(String::new());
    lines.extend(wrap(&verdict(record, written), width, ""));
    lines.join("\n") + "\n"
}

/// The built-in way, and those that came into the finals, the best first.
fn rows(case: &Case) -> Vec<Vec<String>> {
    let ratio = Way::ratio;
    let mut finalists: Vec<usize> =
        (1..case.ways.len()).filter(|i| ratio(&case.ways[*i]).is_some()).collect();
    finalists.sort_by(|a, b| {
        ratio(&case.ways[*a])
            .map(|r| r.median)
            .partial_cmp(&ratio(&case.ways[*b]).map(|r| r.median))
            .expect("ratios are finite")
    });
    let shown = std::iter::once(0).chain(finalists);
    shown.map(|i| row(case, &case.ways[i], i > 0 && i == case.chosen, ratio(&case.ways[i]))).collect()
}

fn row(case: &Case, way: &Way, chosen: bool, ratio: Option<Ratio>) -> Vec<String> {
    let found = way.found.as_ref();
    let name = way.schedule.as_deref().unwrap_or("built-in");
    let predicted = way.predicted_ns.zip(case.ways[0].predicted_ns).map(|(way, builtin)| way / builtin);
    let mark = if chosen { " *" } else { "" };
    vec![
        format!("{}: {name}{mark}", case.ranks),
        found.map_or("-".into(), |f| ns(f.median_ns)),
        ratio.map_or("-".into(), |r| format!("{:.2}", r.median)),
        ratio.map_or("-".into(), |r| format!("{:.2} to {:.2}", r.low, r.high)),
        predicted.filter(|_| way.schedule.is_some()).map_or("-".into(), |p| format!("{p:.2}")),
        found.map_or("-".into(), |f| f.turns.to_string()),
    ]
}

fn verdict(record: &Record, written: Option<(&Path, bool)>) -> String {
    let better = record.cases.iter().filter(|c| c.chosen > 0).count();
    let said = match (better, record.cases.len()) {
        (0, 1) => "The built-in way stays.".to_string(),
        (0, _) => "The built-in way stays, with every number of ranks.".to_string(),
        (n, all) => format!(
            "With {n} of {} a schedule is clearly better.",
            plural(all as u64, "number of ranks", "numbers of ranks")
        ),
    };
    match written {
        None => format!("{said} Nothing was written."),
        Some((file, named)) => {
            let file = file.display();
            let use_it = if named {
                format!("Use it: evenkeel run --barrier strict --table {file}")
            } else {
                "evenkeel run --barrier strict uses it from now on".into()
            };
            format!("{said} {file} written. {use_it}")
        }
    }
}

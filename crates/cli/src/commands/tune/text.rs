//! What was tried and chosen, for a terminal.

use super::result::{BarrierResult, RankCountResult, TuneRecord};
use super::table_file::TableFile;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::{nanoseconds, plural};

const COLUMNS: &[Column] = &[
    Column { group: "", head: "ranks: barrier", dispensable: 0 },
    Column { group: "", head: "a call", dispensable: 0 },
    Column { group: "to the built-in barrier", head: "time", dispensable: 0 },
    Column { group: "to the built-in barrier", head: "99.9% interval", dispensable: 1 },
    Column { group: "to the built-in barrier", head: "predicted", dispensable: 2 },
    Column { group: "", head: "turns", dispensable: 3 },
];

const LEGEND: &str = "a call: median of turns. time: median of ratios of turns that followed each other. *: \
                      chosen, because the interval lies below 0.98. predicted: by the simulator, which \
                      models the built-in barrier as a central counter, or as an exchange of two.";

/// Text that ends with a line break.
pub fn text(record: &TuneRecord, table: Option<&TableFile>, width: usize) -> String {
    let measured =
        |found: &RankCountResult| found.barriers.iter().filter(|barrier| barrier.measured.is_some()).count();
    let tried: usize = record.rank_counts.iter().map(|found| measured(found) - 1).sum();
    let mut page = Page::new(width);
    page.hanging(&format!(
        "evenkeel: tuned barriers on {} of {} in {:.0} s: {} compared with the built-in barrier.",
        plural(record.cores as u64, "core", "cores"),
        record.machine.processor,
        record.elapsed_s,
        plural(tried as u64, "schedule", "schedules")
    ));
    let rows: Vec<Vec<String>> = record.rank_counts.iter().flat_map(rows).collect();
    page.blank().table(COLUMNS, &rows).blank().paragraph(LEGEND).blank();
    page.paragraph(&verdict(record, table)).text()
}

/// The built-in barrier, and those that reached the finals, the best first.
fn rows(found: &RankCountResult) -> Vec<Vec<String>> {
    let median = |at: &usize| found.barriers[*at].ratio().map(|ratio| ratio.median);
    let mut finalists: Vec<usize> = (1..found.barriers.len()).filter(|at| median(at).is_some()).collect();
    finalists.sort_by(|a, b| median(a).partial_cmp(&median(b)).expect("ratios are finite"));
    std::iter::once(0)
        .chain(finalists)
        .map(|at| row(found, &found.barriers[at], at > 0 && at == found.chosen))
        .collect()
}

fn row(found: &RankCountResult, barrier: &BarrierResult, is_chosen: bool) -> Vec<String> {
    let (measured, ratio) = (barrier.measured.as_ref(), barrier.ratio());
    let name = barrier.schedule.as_deref().unwrap_or("built-in");
    let builtin_ns = found.barriers[0].predicted_ns;
    let predicted = barrier.predicted_ns.zip(builtin_ns).map(|(predicted, builtin)| predicted / builtin);
    let predicted = predicted.filter(|_| barrier.schedule.is_some());
    let shown = |value: Option<String>| value.unwrap_or("-".into());
    vec![
        format!("{}: {name}{}", found.ranks, if is_chosen { " *" } else { "" }),
        shown(measured.map(|measured| nanoseconds(measured.median_ns))),
        shown(ratio.map(|ratio| format!("{:.2}", ratio.median))),
        shown(ratio.map(|ratio| format!("{:.2} to {:.2}", ratio.low, ratio.high))),
        shown(predicted.map(|predicted| format!("{predicted:.2}"))),
        shown(measured.map(|measured| measured.turns.to_string())),
    ]
}

fn verdict(record: &TuneRecord, table: Option<&TableFile>) -> String {
    let better = record.rank_counts.iter().filter(|found| found.chosen > 0).count();
    let result = match (better, record.rank_counts.len()) {
        (0, 1) => "The built-in barrier stays.".to_string(),
        (0, _) => "The built-in barrier stays for every number of ranks.".to_string(),
        (better, all) => format!(
            "With {better} of {} a schedule is clearly faster.",
            plural(all as u64, "number of ranks", "numbers of ranks")
        ),
    };
    let Some(table) = table else { return format!("{result} Nothing was written.") };
    let file = table.path.display();
    let use_it = match table.is_named {
        true => format!("Use it: evenkeel run --barrier strict --table {file}"),
        false => "evenkeel run --barrier strict uses it from now on".into(),
    };
    format!("{result} {file} written. {use_it}")
}

//! The table of `evenkeel cluster workload`.

use super::arguments::WorkloadArguments;
use super::result::PolicyResult;
use crate::commands::cluster::intervals::with_interval;
use evenkeel_cluster_sim::{Cluster, Interval};
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::{count, duration, plural, short_count};

const COLUMNS: &[Column] = &[
    Column { group: "", head: "policy", dispensable: 0 },
    Column { group: "", head: "turnaround, s", dispensable: 4 },
    Column { group: "response, s", head: "mean", dispensable: 0 },
    Column { group: "response, s", head: "median", dispensable: 1 },
    Column { group: "slowdown", head: "mean", dispensable: 0 },
    Column { group: "slowdown", head: "median", dispensable: 2 },
    Column { group: "", head: "in use", dispensable: 3 },
    Column { group: "", head: "events", dispensable: 5 },
];

/// The text for a terminal of this width.
pub fn text(
    arguments: &WorkloadArguments,
    cluster: &Cluster,
    results: &[PolicyResult],
    width: usize,
) -> String {
    let mut page = Page::new(width);
    page.hanging(&format!(
        "evenkeel: {} jobs on {}, load {}, {}, quanta of {}, up to {} slots",
        count(arguments.jobs as u64),
        plural(cluster.cores as u64, "core", "cores"),
        arguments.load,
        plural(arguments.seeds, "seed", "seeds"),
        duration(cluster.quantum_ns),
        cluster.slots
    ));
    let rows: Vec<Vec<String>> = results.iter().map(row).collect();
    page.blank().table(COLUMNS, &rows).blank();
    page.paragraph(
        "response: from submission to end. slowdown: response over the run time on cores of its own. in \
         use: the share of the cores' time until the last end in which jobs did work.",
    );
    let events: u64 = results.iter().map(|result| result.events).sum();
    let seconds: f64 = results.iter().map(|result| result.seconds).sum();
    page.blank();
    let rate = (events as f64 / seconds.max(1e-9)) as u64;
    let all = duration((seconds * 1e9) as u64);
    page.paragraph(&format!("{} events, {} a second of {all}.", count(events), short_count(rate)));
    page.text()
}

fn row(result: &PolicyResult) -> Vec<String> {
    let percent = |interval: Interval| Interval {
        mean: interval.mean * 100.0,
        half_width: interval.half_width * 100.0,
    };
    vec![
        result.policy.into(),
        readable(result.turnaround_s),
        readable(result.mean_response_s),
        readable(result.median_response_s),
        readable(result.mean_slowdown),
        readable(result.median_slowdown),
        readable(percent(result.utilisation)) + "%",
        short_count(result.events),
    ]
}

/// With as many digits as tell small numbers apart.
fn readable(interval: Interval) -> String {
    with_interval(interval, if interval.mean < 10.0 { 2 } else { 0 })
}

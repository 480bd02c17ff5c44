//! The table of `evenkeel cluster saturation`.

use super::arguments::SaturationArguments;
use super::point::LoadPoint;
use crate::commands::cluster::intervals::with_interval;
use evenkeel_cluster_sim::Cluster;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::{count, duration, plural, short_count};

const COLUMNS: &[Column] = &[
    Column { group: "", head: "policy", dispensable: 0 },
    Column { group: "", head: "offered", dispensable: 0 },
    Column { group: "", head: "carried", dispensable: 0 },
    Column { group: "", head: "gain", dispensable: 2 },
    Column { group: "", head: "keeps up", dispensable: 1 },
    Column { group: "", head: "response, s", dispensable: 0 },
    Column { group: "", head: "events", dispensable: 3 },
];

/// The text for a terminal of this width.
pub fn text(
    arguments: &SaturationArguments,
    cluster: &Cluster,
    points: &[LoadPoint],
    width: usize,
) -> String {
    let mut page = Page::new(width);
    page.hanging(&format!(
        "evenkeel: {} jobs on {}, {}, quanta of {}, up to {} slots",
        count(arguments.jobs as u64),
        plural(cluster.cores as u64, "core", "cores"),
        plural(arguments.seeds, "seed", "seeds"),
        duration(cluster.quantum_ns),
        cluster.slots
    ));
    let rows: Vec<Vec<String>> = points.iter().map(row).collect();
    page.blank().table(COLUMNS, &rows).blank();
    page.paragraph(
        "carried: the work that was done until the last submission, as a share of what the cores could \
         do. gain: what is carried beyond what the first policy carries of the same jobs. keeps up: the \
         share of seeds in which less than 0.05 was put off. response: from submission to end.",
    );
    page.text()
}

fn row(point: &LoadPoint) -> Vec<String> {
    vec![
        point.policy.into(),
        point.offered.to_string(),
        with_interval(point.carried, 3),
        with_interval(point.gain, 3),
        format!("{:.0}%", point.keeps_up * 100.0),
        with_interval(point.response_s, 0),
        short_count(point.events),
    ]
}

//! The table of `evenkeel cluster scenario`.

use super::result::ScenarioResult;
use evenkeel_cluster_sim::Cluster;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;
use evenkeel_text::units::duration;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "scenario", dispensable: 0 },
    Column { group: "", head: "policy", dispensable: 0 },
    Column { group: "turnaround, s", head: "simulated", dispensable: 0 },
    Column { group: "turnaround, s", head: "published", dispensable: 0 },
    Column { group: "turnaround, s", head: "optimum", dispensable: 2 },
    Column { group: "mean response, s", head: "simulated", dispensable: 0 },
    Column { group: "mean response, s", head: "published", dispensable: 1 },
    Column { group: "", head: "classes", dispensable: 3 },
];

/// The text for a terminal of this width.
pub fn text(cluster: &Cluster, results: &[ScenarioResult], width: usize) -> String {
    let mut page = Page::new(width);
    page.hanging(&format!(
        "evenkeel: jobs on {} cores, quanta of {}, switches of {}, messages of {}",
        cluster.cores,
        duration(cluster.quantum_ns),
        duration(cluster.switch_ns),
        duration(cluster.latency_ns)
    ));
    let rows: Vec<Vec<String>> = results.iter().map(row).collect();
    page.blank().table(COLUMNS, &rows).blank();
    page.paragraph(
        "published: measured on a cluster of 2003. optimum: the work of the busiest core. classes: of \
         each rank of each job under flexible coscheduling: c coscheduled, f frustrated, d don't care.",
    );
    page.text()
}

fn row(result: &ScenarioResult) -> Vec<String> {
    let seconds = |value: f64| format!("{value:.2}");
    let known = |value: Option<f64>| value.map_or("-".into(), seconds);
    vec![
        result.scenario.into(),
        result.policy.into(),
        seconds(result.turnaround_s),
        known(result.published_turnaround_s),
        format!("{:.0}", result.optimum_s),
        seconds(result.mean_response_s),
        known(result.published_mean_response_s),
        result.classes.as_ref().map_or(String::new(), |classes| classes.join(" ")),
    ]
}

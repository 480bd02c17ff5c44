//! What was measured, for people and for programs.

use super::arguments::Simulate;
use super::command::Case;
use evenkeel_switch_sim::{Interval, Parameters, Rules};
use evenkeel_text::paragraph::wrap;
use evenkeel_text::table::{Column, table};
use serde_json::json;

const COLUMNS: &[Column] = &[
    Column { group: "", head: "network", dispensable: 0 },
    Column { group: "", head: "scheme", dispensable: 0 },
    Column { group: "throughput", head: "mean", dispensable: 0 },
    Column { group: "throughput", head: "95%", dispensable: 1 },
    Column { group: "latency, cycles", head: "least load", dispensable: 2 },
    Column { group: "latency, cycles", head: "half load", dispensable: 3 },
    Column { group: "", head: "busiest", dispensable: 4 },
    Column { group: "", head: "seconds", dispensable: 5 },
];

pub fn text(cases: &[Case], seconds: f64, width: usize) -> String {
    let rows: Vec<Vec<String>> = cases.iter().map(row).collect();
    let mut lines: Vec<String> = table(COLUMNS, &rows, width).lines().collect();
    lines.push(String::new());
    lines.extend(wrap(
        "throughput: the most phits per cycle and sending host that were accepted, over seeds. latency: from making a message to its last phit's arrival; half load: at the point next to half the \
         throughput. busiest: share of its cycles that the busiest channel between switches moves a phit, at the highest load. seconds: to find the routes.",
        width,
        "",
    ));
    let moves: u64 = cases.iter().flat_map(|c| &c.runs).flat_map(|r| &r.points).map(|p| p.phit_moves).sum();
    lines.push(format!("{:.0} million phit moves in {seconds:.1} s.", moves as f64 / 1e6));
    for (case, halted) in
        cases.iter().flat_map(|c| c.runs.iter().filter_map(move |r| Some((c, r.halted.as_ref()?)))).take(5)
    {
        lines.push(String::new());
        lines.extend(wrap(&format!("{}, {}: {halted}.", case.network, case.scheme), width, "  "));
    }
    lines.join("\n") + "\n"
}

fn row(case: &Case) -> Vec<String> {
    let points = &case.runs[0].points;
    let (mean, spread) = match case.throughput {
        Some(Interval { mean, half_width, .. }) => (
            format!("{mean:.4}"),
            if half_width.is_finite() { format!("±{half_width:.4}") } else { "-".into() },
        ),
        None => ("deadlock".into(), "-".into()),
    };
    let latency = |load: f64| {
        let nearest =
            points.iter().min_by(|a, b| (a.offered - load).abs().total_cmp(&(b.offered - load).abs()));
        nearest.map_or("-".into(), |p| format!("{:.0}", p.latency.mean))
    };
    let half = case.throughput.map_or(0.0, |t| t.mean / 2.0);
    let between = points.last().map_or(0.0, |p| {
        p.utilization[..p.utilization.len() - 2 * case.hosts as usize].iter().copied().fold(0.0, f64::max)
    });
    vec![
        case.network.clone(),
        case.scheme.clone(),
        mean,
        spread,
        latency(0.0),
        latency(half),
        format!("{:.0}%", 100.0 * between),
        format!("{:.3}", case.seconds),
    ]
}

pub fn json(arguments: &Simulate, parameters: &Parameters, rules: &Rules, cases: &[Case]) -> String {
    let record = json!({
        "parameters": parameters,
        "rules": rules,
        "pattern": arguments.pattern.to_string(),
        "length": arguments.length.to_string(),
        "copies": arguments.copies,
        "cases": cases,
    });
    serde_json::to_string_pretty(&record).expect("numbers and texts") + "\n"
}

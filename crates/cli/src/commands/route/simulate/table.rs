//! What was measured, for a terminal.

use super::result::RoutedCase;
use evenkeel_switch_sim::Interval;
use evenkeel_text::page::Page;
use evenkeel_text::table::Column;

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

const LEGEND: &str = "throughput: the most phits per cycle and sending host that were accepted, over seeds. \
                      latency: from making a message to its last phit's arrival; half load: at the load next \
                      to half the throughput. busiest: share of its cycles in which the busiest channel \
                      between switches moves a phit, at the highest load. seconds: to find the routes.";
/// Runs that were stopped early are named, up to this number.
const MOST_HALTED: usize = 5;

/// The text for a terminal of this width. `seconds`: what all simulations took.
pub fn text(cases: &[RoutedCase], seconds: f64, width: usize) -> String {
    let mut page = Page::new(width);
    page.table(COLUMNS, &cases.iter().map(row).collect::<Vec<_>>()).blank().paragraph(LEGEND);
    let points = cases.iter().flat_map(|case| &case.runs).flat_map(|run| &run.points);
    let moves: u64 = points.map(|point| point.phit_moves).sum();
    page.line(format!("{:.0} million phit moves in {seconds:.1} s.", moves as f64 / 1e6));
    let halted = cases
        .iter()
        .flat_map(|case| case.runs.iter().filter_map(move |run| Some((case, run.halted.as_ref()?))));
    for (case, halted) in halted.take(MOST_HALTED) {
        page.blank().hanging(&format!("{}, {}: {halted}.", case.network, case.scheme));
    }
    page.text()
}

fn row(case: &RoutedCase) -> Vec<String> {
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

//! A measurement, told in a terminal.

use evenkeel_model::measurement::{Curve, MeasuredParameters};
use evenkeel_model::samples::{Quantity, SeriesSummary};
use evenkeel_text::paragraph::{firm, wrap};
use evenkeel_text::table::{Column, table};
use evenkeel_text::units::{bytes, count, duration, nanoseconds as ns};

/// Text that ends with a newline, no line longer than `width` characters (within 60 and 160).
pub fn text(found: &MeasuredParameters, width: usize) -> String {
    let width = width.clamp(60, 160);
    let mut lines = wrap(&headline(found), width, "  ");
    lines.push(String::new());
    lines.extend(estimates(found, width));
    lines.push(String::new());
    lines.extend(peers(found, width));
    lines.push(String::new());
    lines.extend(messages(found, width));
    if !found.measurement.curves.is_empty() {
        lines.push(String::new());
        lines.extend(curves(found, width));
    }
    let checks = checks(found, width);
    if !checks.is_empty() {
        lines.push(String::new());
        lines.extend(checks);
    }
    lines.push(String::new());
    for note in found.measurement.notes.iter().map(String::as_str).chain([LEGEND]) {
        lines.extend(wrap(note, width, ""));
    }
    lines.join("\n") + "\n"
}

const LEGEND: &str = "All times are medians. In brackets: 95% intervals from passes drawn again; they tell how far another measurement may differ, not \
     what disturbs all passes alike. *: more ranks than cores, a context switch is part of the time.";

fn headline(found: &MeasuredParameters) -> String {
    let c = &found.measurement.conditions;
    let cores = if c.cores.len() == 1 { "1 core".into() } else { format!("{} cores", c.cores.len()) };
    let most = found.measurement.points.iter().map(|p| p.peers).max().unwrap_or(0);
    let samples: u64 = found.measurement.points.iter().map(|p| p.samples).sum();
    if c.of_network() {
        let first = c.hosts.first().map_or("", String::as_str);
        return format!(
            "evenkeel: network between {} hosts ({}; {}), by UCX messages from {first} to up to {most} others, measured in {}: {} samples.",
            c.hosts.len(),
            c.processor,
            c.kernel,
            firm(duration(c.elapsed_ns)),
            count(samples)
        );
    }
    format!(
        "evenkeel: shared memory of {} ({}), measured among up to {} ranks on {cores} in {}: {} samples.",
        c.processor,
        c.kernel,
        most + 1,
        firm(duration(c.elapsed_ns)),
        count(samples)
    )
}

const ESTIMATES: &[Column] = &[
    Column { group: "", head: "parameter", dispensable: 0 },
    Column { group: "", head: "", dispensable: 0 },
    Column { group: "", head: "value", dispensable: 0 },
    Column { group: "", head: "95% interval", dispensable: 0 },
];

fn estimates(found: &MeasuredParameters, width: usize) -> Vec<String> {
    let shown = |value: f64, unit: &str| if unit == "ns" { ns(value) } else { format!("{value:.4} {unit}") };
    let row = |e: &evenkeel_model::measurement::Estimate| {
        vec![
            e.name.clone(),
            e.symbol.clone(),
            shown(e.value, &e.unit),
            format!("[{}, {}]", shown(e.low, &e.unit), shown(e.high, &e.unit)),
        ]
    };
    table(ESTIMATES, &found.measurement.estimates.iter().map(row).collect::<Vec<_>>(), width)
        .lines()
        .collect()
}

const PEERS: &[Column] = &[
    Column { group: "", head: "peers", dispensable: 0 },
    Column { group: "round trip", head: "per peer", dispensable: 0 },
    Column { group: "round trip", head: "least", dispensable: 1 },
    Column { group: "round trip", head: "p99", dispensable: 2 },
    Column { group: "round trip", head: "all", dispensable: 3 },
    Column { group: "overhead per peer", head: "o_s", dispensable: 0 },
    Column { group: "overhead per peer", head: "o_r", dispensable: 0 },
    Column { group: "to and from the last", head: "1:n", dispensable: 0 },
    Column { group: "to and from the last", head: "n:1", dispensable: 0 },
];

fn peers(found: &MeasuredParameters, width: usize) -> Vec<String> {
    let points = &found.measurement.points;
    let at =
        |quantity: Quantity, peers: u32| points.iter().find(|p| p.quantity == quantity && p.peers == peers);
    let row = |trip: &SeriesSummary| {
        let median = |quantity| at(quantity, trip.peers).map_or("-".into(), |p| ns(p.median_ns));
        vec![
            format!("{}{}", trip.peers, if trip.oversubscribed { " *" } else { "" }),
            ns(trip.median_ns),
            ns(trip.min_ns),
            ns(trip.p99_ns),
            ns(trip.median_ns * f64::from(trip.peers)),
            median(Quantity::SendOverhead),
            median(Quantity::ReceiveOverhead),
            median(Quantity::OneToMany),
            median(Quantity::ManyToOne),
        ]
    };
    let mut rows: Vec<_> = points.iter().filter(|p| p.quantity == Quantity::RoundTrip).map(row).collect();
    // Hosts have no common clock, and hence no stamps.
    let shown =
        if points.iter().any(|p| p.quantity == Quantity::OneToMany) { PEERS.len() } else { PEERS.len() - 2 };
    rows.iter_mut().for_each(|row| row.truncate(shown));
    table(&PEERS[..shown], &rows, width).lines().collect()
}

const MESSAGES: &[Column] = &[
    Column { group: "", head: "message", dispensable: 0 },
    Column { group: "", head: "one way", dispensable: 0 },
    Column { group: "", head: "95% interval", dispensable: 1 },
    Column { group: "", head: "p99", dispensable: 2 },
    Column { group: "", head: "per second", dispensable: 3 },
];

fn messages(found: &MeasuredParameters, width: usize) -> Vec<String> {
    let row = |p: &SeriesSummary| {
        vec![
            bytes(p.bytes),
            ns(p.median_ns),
            format!("[{}, {}]", ns(p.median_low_ns), ns(p.median_high_ns)),
            ns(p.p99_ns),
            if p.median_ns > 0.0 { bytes((p.bytes as f64 / p.median_ns * 1e9) as u64) } else { "-".into() },
        ]
    };
    let rows: Vec<_> =
        found.measurement.points.iter().filter(|p| p.quantity == Quantity::Message).map(row).collect();
    table(MESSAGES, &rows, width).lines().collect()
}

const CURVES: &[Column] = &[
    Column { group: "", head: "fit of LoP", dispensable: 0 },
    Column { group: "", head: "peers", dispensable: 0 },
    Column { group: "distance: fitted to", head: "median", dispensable: 0 },
    Column { group: "distance: fitted to", head: "worst", dispensable: 1 },
    Column { group: "held out", head: "median", dispensable: 0 },
    Column { group: "held out", head: "worst", dispensable: 1 },
];

fn share(x: f64) -> String {
    format!("{:.1}%", x * 100.0)
}

fn curves(found: &MeasuredParameters, width: usize) -> Vec<String> {
    let row = |c: &Curve| {
        let name = match c.quantity {
            Quantity::RoundTrip => "RTT(p)",
            Quantity::SendOverhead => "o_s(p)",
            _ => "o_r(p)",
        };
        let range = format!("{}-{}", c.peers.first().unwrap_or(&0), c.peers.last().unwrap_or(&0));
        let out = |of: fn(&evenkeel_model::fit::Distance) -> f64| {
            c.held_out.as_ref().map_or("-".into(), |d| share(of(d)))
        };
        let name = format!("{name}{}", if c.oversubscribed { " *" } else { "" });
        vec![name, range, share(c.seen.median), share(c.seen.worst), out(|d| d.median), out(|d| d.worst)]
    };
    table(CURVES, &found.measurement.curves.iter().map(row).collect::<Vec<_>>(), width).lines().collect()
}

const CHECKS: &[Column] = &[
    Column { group: "", head: "not fitted, predicted by LogGP", dispensable: 0 },
    Column { group: "", head: "predicted", dispensable: 0 },
    Column { group: "", head: "measured", dispensable: 0 },
    Column { group: "", head: "off by", dispensable: 0 },
];

fn checks(found: &MeasuredParameters, width: usize) -> Vec<String> {
    let row = |c: &evenkeel_model::measurement::Check| {
        let what = if c.bytes > 0 {
            format!("{} of {}", c.what, bytes(c.bytes))
        } else {
            format!("{}, {} peers", c.what, c.peers)
        };
        vec![
            what.replace(", 1 peers", ", 1 peer"),
            ns(c.predicted_ns),
            ns(c.measured_ns),
            format!("{:+.0}%", (c.predicted_ns / c.measured_ns - 1.0) * 100.0),
        ]
    };
    let rows: Vec<_> = found.measurement.checks.iter().map(row).collect();
    if rows.is_empty() { Vec::new() } else { table(CHECKS, &rows, width).lines().collect() }
}

//! A measurement, for a terminal.

use evenkeel_model::measurement::{Check, Curve, Estimate, MeasuredParameters};
use evenkeel_model::samples::{Quantity, SeriesSummary};
use evenkeel_text::page::Page;
use evenkeel_text::paragraph::firm;
use evenkeel_text::table::Column;
use evenkeel_text::units::{bytes, count, duration, nanoseconds as ns, plural};

/// The text for a terminal of this width.
pub fn text(found: &MeasuredParameters, width: usize) -> String {
    let mut page = Page::new(width);
    page.hanging(&headline(found)).blank().table(ESTIMATES, &estimates(found)).blank();
    let (columns, rows) = peers(found);
    page.table(columns, &rows).blank().table(MESSAGES, &messages(found));
    if !found.measurement.curves.is_empty() {
        page.blank().table(CURVES, &curves(found));
    }
    if !found.measurement.checks.is_empty() {
        page.blank().table(CHECKS, &checks(found));
    }
    page.blank();
    for note in found.measurement.notes.iter().map(String::as_str).chain([LEGEND]) {
        page.paragraph(note);
    }
    page.text()
}

const LEGEND: &str = "All times are medians. In brackets: 95% intervals from resampled passes. They tell \
                      how far another measurement may differ, but not what disturbs all passes alike. *: \
                      more ranks than cores, so that a context switch is part of the time.";

fn headline(found: &MeasuredParameters) -> String {
    let c = &found.measurement.conditions;
    let cores = plural(c.cores.len() as u64, "core", "cores");
    let most = found.measurement.points.iter().map(|p| p.peers).max().unwrap_or(0);
    let samples: u64 = found.measurement.points.iter().map(|p| p.samples).sum();
    if c.of_network() {
        let first = c.hosts.first().map_or("", String::as_str);
        return format!(
            "evenkeel: network between {} hosts ({}; {}), by UCX messages from {first} to up to {most} \
             others, measured in {}: {} samples.",
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

fn estimates(found: &MeasuredParameters) -> Vec<Vec<String>> {
    let shown = |value: f64, unit: &str| if unit == "ns" { ns(value) } else { format!("{value:.4} {unit}") };
    let row = |e: &Estimate| {
        vec![
            e.name.clone(),
            e.symbol.clone(),
            shown(e.value, &e.unit),
            format!("[{}, {}]", shown(e.low, &e.unit), shown(e.high, &e.unit)),
        ]
    };
    found.measurement.estimates.iter().map(row).collect()
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

/// The columns and rows of the table of peers. Hosts have no common clock, and hence no columns for time
/// stamps.
fn peers(found: &MeasuredParameters) -> (&'static [Column], Vec<Vec<String>>) {
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
    let has_stamps = points.iter().any(|point| point.quantity == Quantity::OneToMany);
    let shown = if has_stamps { PEERS.len() } else { PEERS.len() - 2 };
    rows.iter_mut().for_each(|row| row.truncate(shown));
    (&PEERS[..shown], rows)
}

const MESSAGES: &[Column] = &[
    Column { group: "", head: "message", dispensable: 0 },
    Column { group: "", head: "one way", dispensable: 0 },
    Column { group: "", head: "95% interval", dispensable: 1 },
    Column { group: "", head: "p99", dispensable: 2 },
    Column { group: "", head: "per second", dispensable: 3 },
];

fn messages(found: &MeasuredParameters) -> Vec<Vec<String>> {
    let row = |p: &SeriesSummary| {
        vec![
            bytes(p.bytes),
            ns(p.median_ns),
            format!("[{}, {}]", ns(p.median_low_ns), ns(p.median_high_ns)),
            ns(p.p99_ns),
            if p.median_ns > 0.0 { bytes((p.bytes as f64 / p.median_ns * 1e9) as u64) } else { "-".into() },
        ]
    };
    let points = found.measurement.points.iter();
    points.filter(|point| point.quantity == Quantity::Message).map(row).collect()
}

const CURVES: &[Column] = &[
    Column { group: "", head: "fit of LoP", dispensable: 0 },
    Column { group: "", head: "peers", dispensable: 0 },
    Column { group: "distance: fitted to", head: "median", dispensable: 0 },
    Column { group: "distance: fitted to", head: "worst", dispensable: 1 },
    Column { group: "held out", head: "median", dispensable: 0 },
    Column { group: "held out", head: "worst", dispensable: 1 },
];

/// A share in percent.
fn share(x: f64) -> String {
    format!("{:.1}%", x * 100.0)
}

fn curves(found: &MeasuredParameters) -> Vec<Vec<String>> {
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
    found.measurement.curves.iter().map(row).collect()
}

const CHECKS: &[Column] = &[
    Column { group: "", head: "not fitted, predicted by LogGP", dispensable: 0 },
    Column { group: "", head: "predicted", dispensable: 0 },
    Column { group: "", head: "measured", dispensable: 0 },
    Column { group: "", head: "off by", dispensable: 0 },
];

fn checks(found: &MeasuredParameters) -> Vec<Vec<String>> {
    let row = |c: &Check| {
        let of = if c.bytes > 0 {
            format!(" of {}", bytes(c.bytes))
        } else {
            format!(", {}", plural(c.peers.into(), "peer", "peers"))
        };
        vec![
            format!("{}{of}", c.what),
            ns(c.predicted_ns),
            ns(c.measured_ns),
            format!("{:+.0}%", (c.predicted_ns / c.measured_ns - 1.0) * 100.0),
        ]
    };
    found.measurement.checks.iter().map(row).collect()
}

//! What was measured and what was fitted, side by side: times against peers, and times against bytes.

use crate::errors::MeasurementError;
use crate::output::plot::{self, Area, COLOURS, Drawn, FONT, draw_legend, legend_line};
use evenkeel_model::Model;
use evenkeel_model::measurement::{Curve, MeasuredParameters};
use evenkeel_model::samples::{Quantity, SeriesSummary};
use plotters::prelude::*;

/// In pixels.
const SIZE: (u32, u32) = (1120, 480);
/// Quantities that depend on the number of peers, and how they are drawn.
const CURVES: [(Quantity, &str, RGBColor); 5] = [
    (Quantity::RoundTrip, "RTT(p), round trip per peer", COLOURS[0]),
    (Quantity::SendOverhead, "o_s(p), send overhead", COLOURS[1]),
    (Quantity::ReceiveOverhead, "o_r(p), receive overhead", COLOURS[2]),
    (Quantity::OneToMany, "1:n, until the last has seen it", COLOURS[3]),
    (Quantity::ManyToOne, "n:1, after the last has signalled", COLOURS[6]),
];
/// A logarithmic axis has no zero: shorter times stand on its lower edge.
const LEAST_NS: f64 = 0.5;

/// An SVG document that needs no other file. Points are medians with 95% intervals; lines are LoP's fits with
/// theirs, and LogGP.
pub fn svg(found: &MeasuredParameters) -> Result<String, MeasurementError> {
    let draw = |area: &Area| {
        let (left, right) = area.split_horizontally(SIZE.0 * 6 / 11);
        against_peers(found, &left)?;
        against_bytes(found, &right)
    };
    plot::svg(SIZE, draw)
        .map_err(|why| MeasurementError::Failed { why: format!("the plot could not be drawn ({why})") })
}

/// A chart with two logarithmic axes.
type LogChart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<LogCoord<f64>, LogCoord<f64>>>;

/// From a little below the least of times to a little above the greatest.
fn range(times: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (least, most) =
        times.filter(|t| *t > 0.0).fold((f64::INFINITY, 0.0_f64), |(a, b), t| (a.min(t), b.max(t)));
    if least.is_finite() {
        (least * 0.7).max(LEAST_NS)..(most * 1.5).max(2.0 * LEAST_NS)
    } else {
        LEAST_NS..1000.0
    }
}

/// The label of an axis of times.
fn label(ns: &f64) -> String {
    evenkeel_text::units::nanoseconds(*ns).replace(".00", "").replace(".0 ", " ")
}

fn against_peers(found: &MeasuredParameters, area: &Area) -> Drawn {
    let of =
        |quantity| found.measurement.points.iter().filter(move |p: &&SeriesSummary| p.quantity == quantity);
    let drawn = CURVES.iter().flat_map(|(quantity, _, _)| of(*quantity));
    let times = range(drawn.flat_map(|p| [p.median_low_ns, p.median_ns, p.median_high_ns]));
    let times = times.start..times.end * 30.0; // room for the legend
    let most = found.measurement.points.iter().map(|p| p.peers).max().unwrap_or(1);
    let between_hosts = found.parameters.node.is_none();
    let mut chart = ChartBuilder::on(area)
        .caption(
            if between_hosts { "Short messages, against peers" } else { "Signals, against peers" },
            (FONT, 17),
        )
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(70)
        .build_cartesian_2d((0.9..f64::from(most) * 1.1).log_scale(), times.clone().log_scale())?;
    let shared = of(Quantity::RoundTrip).filter(|p| p.oversubscribed).map(|p| p.peers).min();
    let beyond =
        shared.map_or("peers".into(), |from| format!("peers; from {from} on cores are shared (open points)"));
    chart
        .configure_mesh()
        .x_desc(beyond)
        .x_label_formatter(&|p| format!("{p:.0}"))
        .y_label_formatter(&label)
        .label_style((FONT, 12))
        .axis_desc_style((FONT, 13))
        .light_line_style(WHITE)
        .draw()?;
    for curve in &found.measurement.curves {
        draw_fit(&mut chart, curve, times.start)?;
    }
    for (quantity, name, colour) in CURVES {
        // Between hosts there are no time stamps, and quantities that need them are not measured.
        let points: Vec<&SeriesSummary> = of(quantity).collect();
        draw_medians(&mut chart, &points, |point| f64::from(point.peers), times.start, (name, colour))?;
    }
    draw_legend(&mut chart, 12)
}

/// The fitted function with its interval.
fn draw_fit(chart: &mut LogChart, curve: &Curve, least: f64) -> Drawn {
    let Some((_, _, colour)) = CURVES.iter().find(|drawn| drawn.0 == curve.quantity) else { return Ok(()) };
    let values = curve.peers.iter().zip(&curve.value_ns).map(|(p, v)| (f64::from(*p), v.max(least)));
    chart.draw_series(std::iter::once(Polygon::new(band(curve, least), colour.mix(0.15))))?;
    chart.draw_series(LineSeries::new(values, colour.stroke_width(2)))?;
    Ok(())
}

/// Medians with their intervals; open points where cores are shared.
fn draw_medians(
    chart: &mut LogChart,
    points: &[&SeriesSummary],
    x: fn(&SeriesSummary) -> f64,
    least: f64,
    (name, colour): (&'static str, RGBColor),
) -> Drawn {
    if points.is_empty() {
        return Ok(());
    }
    let bars = points.iter().map(|point| {
        let ends = [point.median_low_ns, point.median_high_ns].map(|ns| (x(point), ns.max(least)));
        PathElement::new(ends.to_vec(), colour.stroke_width(1))
    });
    chart.draw_series(bars)?;
    let style = |point: &SeriesSummary| {
        if point.oversubscribed { colour.stroke_width(1) } else { colour.filled() }
    };
    let medians =
        points.iter().map(|point| Circle::new((x(point), point.median_ns.max(least)), 4, style(point)));
    chart.draw_series(medians)?.label(name).legend(move |(x, y)| Circle::new((x + 8, y), 4, colour.filled()));
    Ok(())
}

/// The outline of a curve's interval.
fn band(curve: &Curve, least: f64) -> Vec<(f64, f64)> {
    let upper = curve.peers.iter().zip(&curve.high_ns).map(|(p, v)| (f64::from(*p), v.max(least)));
    let lower = curve.peers.iter().zip(&curve.low_ns).rev().map(|(p, v)| (f64::from(*p), v.max(least)));
    upper.chain(lower).collect()
}

fn against_bytes(found: &MeasuredParameters, area: &Area) -> Drawn {
    let points: Vec<&SeriesSummary> =
        found.measurement.points.iter().filter(|p| p.quantity == Quantity::Message).collect();
    let times = range(points.iter().flat_map(|p| [p.median_low_ns, p.median_high_ns]));
    let times = times.start..times.end * 6.0; // room for the legend
    let (least, most) =
        points.iter().fold((u64::MAX, 1), |(least, most), p| (least.min(p.bytes), most.max(p.bytes)));
    let mut chart = ChartBuilder::on(area)
        .caption("Messages, one way, against bytes", (FONT, 17))
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(70)
        .build_cartesian_2d(
            (least.min(most) as f64 * 0.7..most as f64 * 1.5).log_scale(),
            times.clone().log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("bytes")
        .x_label_formatter(&|b| evenkeel_text::units::short_count(b.round() as u64))
        .y_label_formatter(&label)
        .label_style((FONT, 12))
        .axis_desc_style((FONT, 13))
        .light_line_style(WHITE)
        .draw()?;
    let parts = &found.parameters;
    if let Some(Model::LogGp(m)) = parts.node.as_ref().map(|n| n.model).or(parts.network) {
        let line = points.iter().map(|p| (p.bytes as f64, m.message_ns(p.bytes).max(times.start)));
        let grey = RGBColor(110, 110, 110);
        chart
            .draw_series(LineSeries::new(line, grey.stroke_width(2)))?
            .label("LogGP: o_s + (m - 1)G + L + o_r")
            .legend(legend_line(grey));
    }
    draw_medians(&mut chart, &points, |point| point.bytes as f64, times.start, ("measured", CURVES[0].2))?;
    draw_legend(&mut chart, 12)
}

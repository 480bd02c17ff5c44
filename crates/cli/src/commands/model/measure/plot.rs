//! What was measured and what was fitted, side by side: times against peers, and times against bytes.

use crate::errors::Failure;
use crate::output::plot_style::{COLOURS, FONT};
use evenkeel_model::Model;
use evenkeel_model::measurement::{Curve, MeasuredParameters};
use evenkeel_model::samples::{Quantity, SeriesSummary};
use plotters::prelude::*;

const SIZE: (u32, u32) = (1120, 480);
const CURVES: [(Quantity, &str, RGBColor); 5] = [
    (Quantity::RoundTrip, "RTT(p), round trip per peer", COLOURS[0]),
    (Quantity::SendOverhead, "o_s(p), send overhead", COLOURS[1]),
    (Quantity::ReceiveOverhead, "o_r(p), receive overhead", COLOURS[2]),
    (Quantity::OneToMany, "1:n, until the last has seen it", COLOURS[3]),
    (Quantity::ManyToOne, "n:1, after the last has signalled", COLOURS[6]),
];
/// Shorter times stand on the lower edge: a logarithmic axis has no zero.
const LEAST_NS: f64 = 0.5;

/// An SVG document that needs nothing else. Points are medians with 95% intervals; lines are LoP's fits
/// with theirs, and LogGP.
pub fn svg(found: &MeasuredParameters) -> Result<String, Failure> {
    let mut text = String::new();
    draw(found, &mut text)
        .map_err(|why| Failure::Measuring { why: format!("the plot could not be drawn ({why})") })?;
    Ok(text)
}

fn draw(found: &MeasuredParameters, text: &mut String) -> Result<(), String> {
    let said = |e: &dyn std::fmt::Display| e.to_string();
    let area = SVGBackend::with_string(text, SIZE).into_drawing_area();
    area.fill(&WHITE).map_err(|e| said(&e))?;
    let (left, right) = area.split_horizontally(SIZE.0 * 6 / 11);
    against_peers(found, &left).map_err(|e| said(&e))?;
    against_bytes(found, &right).map_err(|e| said(&e))?;
    area.present().map_err(|e| said(&e))
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Done = Result<(), Box<dyn std::error::Error>>;

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

fn label(ns: &f64) -> String {
    evenkeel_text::units::nanoseconds(*ns).replace(".00", "").replace(".0 ", " ")
}

fn against_peers(found: &MeasuredParameters, area: &Area) -> Done {
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
        let Some((_, _, colour)) = CURVES.iter().find(|c| c.0 == curve.quantity) else { continue };
        let at = |values: &[f64]| {
            curve
                .peers
                .iter()
                .zip(values)
                .map(|(p, v)| (f64::from(*p), v.max(times.start)))
                .collect::<Vec<_>>()
        };
        chart.draw_series(std::iter::once(Polygon::new(band(curve, times.start), colour.mix(0.15))))?;
        chart.draw_series(LineSeries::new(at(&curve.value_ns), colour.stroke_width(2)))?;
    }
    for (quantity, name, colour) in &CURVES {
        let points: Vec<&SeriesSummary> = of(*quantity).collect();
        if points.is_empty() {
            continue; // between hosts there are no stamps, and what needs them is not measured
        }
        let colour = *colour;
        let at = |p: &SeriesSummary, ns: f64| (f64::from(p.peers), ns.max(times.start));
        let bars = points.iter().map(|p| {
            PathElement::new(vec![at(p, p.median_low_ns), at(p, p.median_high_ns)], colour.stroke_width(1))
        });
        chart.draw_series(bars)?;
        let style =
            |p: &SeriesSummary| if p.oversubscribed { colour.stroke_width(1) } else { colour.filled() };
        chart
            .draw_series(points.iter().map(|p| Circle::new(at(p, p.median_ns), 4, style(p))))?
            .label(*name)
            .legend(move |(x, y)| Circle::new((x + 8, y), 4, colour.filled()));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font((FONT, 12))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}

/// The outline of a curve's interval.
fn band(curve: &Curve, least: f64) -> Vec<(f64, f64)> {
    let upper = curve.peers.iter().zip(&curve.high_ns).map(|(p, v)| (f64::from(*p), v.max(least)));
    let lower = curve.peers.iter().zip(&curve.low_ns).rev().map(|(p, v)| (f64::from(*p), v.max(least)));
    upper.chain(lower).collect()
}

fn against_bytes(found: &MeasuredParameters, area: &Area) -> Done {
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
    let colour = CURVES[0].2;
    let parts = &found.parameters;
    if let Some(Model::LogGp(m)) = parts.node.as_ref().map(|n| n.model).or(parts.network) {
        let line = points.iter().map(|p| (p.bytes as f64, m.message_ns(p.bytes).max(times.start)));
        let grey = RGBColor(110, 110, 110);
        chart
            .draw_series(LineSeries::new(line, grey.stroke_width(2)))?
            .label("LogGP: o_s + (m - 1)G + L + o_r")
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], grey.stroke_width(2)));
    }
    let bars = points.iter().map(|p| {
        let ends = [p.median_low_ns, p.median_high_ns].map(|ns| (p.bytes as f64, ns.max(times.start)));
        PathElement::new(ends.to_vec(), colour.stroke_width(1))
    });
    chart.draw_series(bars)?;
    chart
        .draw_series(
            points
                .iter()
                .map(|p| Circle::new((p.bytes as f64, p.median_ns.max(times.start)), 4, colour.filled())),
        )?
        .label("measured")
        .legend(move |(x, y)| Circle::new((x + 8, y), 4, colour.filled()));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font((FONT, 12))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    Ok(())
}

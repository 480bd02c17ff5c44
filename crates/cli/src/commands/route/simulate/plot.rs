//! Latency against accepted traffic, and how busy each channel is.

use super::command::{Case, refuse};
use crate::errors::Failure;
use crate::output::plot_style::{COLOURS, FONT};
use evenkeel_switch_sim::{ChannelId, End, Wiring};
use plotters::prelude::*;

type Done = Result<(), Box<dyn std::error::Error>>;

/// SVG that needs nothing else, of the first network's cases: a line for each scheme and seed; bars are
/// 95% intervals over batches.
pub fn curves(cases: &[Case]) -> Result<String, Failure> {
    let of_first: Vec<&Case> = cases.iter().filter(|c| c.network == cases[0].network).collect();
    let mut text = String::new();
    draw_curves(&of_first, &mut text).map_err(|e| refuse(format!("the plot could not be drawn ({e})")))?;
    Ok(text)
}

fn draw_curves(cases: &[&Case], text: &mut String) -> Done {
    let area = SVGBackend::with_string(text, (760, 460)).into_drawing_area();
    area.fill(&WHITE)?;
    let points = || cases.iter().flat_map(|c| &c.runs).flat_map(|r| &r.points);
    let most = points().map(|p| p.accepted.mean).fold(0.0, f64::max);
    let least = points().map(|p| p.latency.mean).fold(f64::INFINITY, f64::min);
    // Behind saturation latency only says how long it was looked at.
    let high = points().filter(|p| !p.saturated).map(|p| p.latency.mean).fold(least, f64::max) * 3.0;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{}: latency against accepted traffic", cases[0].network), (FONT, 16))
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(62)
        .build_cartesian_2d(0.0..most * 1.05, (least * 0.8..high).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("accepted, phits per cycle and host")
        .y_desc("latency, cycles")
        .y_label_formatter(&|c| format!("{c:.0}"))
        .label_style((FONT, 12))
        .light_line_style(WHITE)
        .draw()?;
    for (i, case) in cases.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        for (seed, run) in case.runs.iter().enumerate() {
            let at = |latency: f64| latency.clamp(least * 0.8, high);
            let line: Vec<(f64, f64)> =
                run.points.iter().map(|p| (p.accepted.mean, at(p.latency.mean))).collect();
            let bars =
                run.points.iter().filter(|p| !p.saturated && p.latency.half_width.is_finite()).map(|p| {
                    let ends =
                        [-1.0, 1.0].map(|s| (p.accepted.mean, at(p.latency.mean + s * p.latency.half_width)));
                    PathElement::new(ends.to_vec(), colour.stroke_width(1))
                });
            chart.draw_series(bars)?;
            chart.draw_series(line.iter().map(|p| Circle::new(*p, 2, colour.filled())))?;
            let drawn = chart.draw_series(LineSeries::new(line, colour.stroke_width(1)))?;
            if seed == 0 {
                drawn.label(case.scheme.clone()).legend(move |(x, y)| {
                    PathElement::new(vec![(x, y), (x + 16, y)], colour.stroke_width(2))
                });
            }
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .label_font((FONT, 12))
        .background_style(WHITE.mix(0.8))
        .draw()?;
    area.present()?;
    Ok(())
}

/// SVG: for each scheme of the first network a square of switches, from the row to the column, darker
/// where the channel is busier.
pub fn map(cases: &[Case], wirings: &[&Wiring]) -> Result<String, Failure> {
    let of_first: Vec<(&Case, &Wiring)> =
        cases.iter().zip(wirings.iter().copied()).filter(|(c, _)| c.network == cases[0].network).collect();
    let mut text = String::new();
    draw_map(&of_first, &mut text).map_err(|e| refuse(format!("the map could not be drawn ({e})")))?;
    Ok(text)
}

fn draw_map(cases: &[(&Case, &Wiring)], text: &mut String) -> Done {
    let area = SVGBackend::with_string(text, (420 * cases.len() as u32, 450)).into_drawing_area();
    area.fill(&WHITE)?;
    for ((case, wiring), panel) in cases.iter().zip(area.split_evenly((1, cases.len()))) {
        let Some(point) = case.runs[0].points.last() else { continue };
        let n = wiring.switches() as i32;
        let mut cells: std::collections::BTreeMap<(i32, i32), f64> = std::collections::BTreeMap::new();
        for c in 0..wiring.channels() {
            if let (End::Switch(a), End::Switch(b)) = (wiring.from(ChannelId(c)), wiring.to(ChannelId(c))) {
                let cell = cells.entry((a.0 as i32, b.0 as i32)).or_insert(0.0);
                *cell = cell.max(point.utilization[c as usize]);
            }
        }
        let busiest = cells.values().copied().fold(0.0, f64::max);
        let mut chart = ChartBuilder::on(&panel)
            .caption(
                format!(
                    "{}, {}: load {:.3}, busiest {:.0}%",
                    case.network,
                    case.scheme,
                    point.offered,
                    100.0 * busiest
                ),
                (FONT, 13),
            )
            .margin(12)
            .x_label_area_size(34)
            .y_label_area_size(38)
            .build_cartesian_2d(0..n, n..0)?;
        chart
            .configure_mesh()
            .disable_mesh()
            .x_desc("to switch")
            .y_desc("from switch")
            .label_style((FONT, 11))
            .draw()?;
        // White is idle, black moves a phit in every cycle.
        let shade = |u: f64| {
            RGBColor((250.0 - 250.0 * u) as u8, (250.0 - 215.0 * u) as u8, (250.0 - 150.0 * u) as u8)
        };
        chart.draw_series(
            cells.iter().map(|((a, b), u)| Rectangle::new([(*b, *a), (*b + 1, *a + 1)], shade(*u).filled())),
        )?;
    }
    area.present()?;
    Ok(())
}

//! Latency against accepted traffic, as a picture.

use super::result::RoutedCase;
use crate::errors::RouteReason;
use crate::output::plot::{self, Area, COLOURS, Drawn, FONT, draw_legend, legend_line};
use plotters::prelude::*;

/// In pixels.
const SIZE: (u32, u32) = (760, 460);

/// An SVG document that needs no other file, of the first network's cases: a line for each scheme and seed.
/// Bars are 95% intervals over batches.
pub fn svg(cases: &[RoutedCase]) -> Result<String, RouteReason> {
    let of_first: Vec<&RoutedCase> = cases.iter().filter(|case| case.network == cases[0].network).collect();
    plot::svg(SIZE, |area| draw(&of_first, area)).map_err(RouteReason::Plot)
}

fn draw(cases: &[&RoutedCase], area: &Area) -> Drawn {
    let points = || cases.iter().flat_map(|c| &c.runs).flat_map(|r| &r.points);
    let most = points().map(|p| p.accepted.mean).fold(0.0, f64::max);
    let least = points().map(|p| p.latency.mean).fold(f64::INFINITY, f64::min);
    // Beyond saturation the latency depends only on how long it was observed.
    let high = points().filter(|p| !p.saturated).map(|p| p.latency.mean).fold(least, f64::max) * 3.0;
    let mut chart = ChartBuilder::on(area)
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
    let clamp = |latency: f64| latency.clamp(least * 0.8, high);
    for (case, colour) in cases.iter().zip(COLOURS.into_iter().cycle()) {
        for (seed, run) in case.runs.iter().enumerate() {
            let line: Vec<(f64, f64)> =
                run.points.iter().map(|p| (p.accepted.mean, clamp(p.latency.mean))).collect();
            let known = run.points.iter().filter(|p| !p.saturated && p.latency.half_width.is_finite());
            chart.draw_series(known.map(|p| {
                let end = |sign: f64| clamp(p.latency.mean + sign * p.latency.half_width);
                let ends = [-1.0, 1.0].map(|sign| (p.accepted.mean, end(sign)));
                PathElement::new(ends.to_vec(), colour.stroke_width(1))
            }))?;
            chart.draw_series(line.iter().map(|p| Circle::new(*p, 2, colour.filled())))?;
            let drawn = chart.draw_series(LineSeries::new(line, colour.stroke_width(1)))?;
            if seed == 0 {
                drawn.label(case.scheme.clone()).legend(legend_line(colour));
            }
        }
    }
    draw_legend(&mut chart, 12)
}

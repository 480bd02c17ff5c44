//! Latency of messages, and the progress of iterations, as a picture.

use super::case::ApplicationCase;
use crate::errors::RouteReason;
use crate::output::plot::{self, Area, COLOURS, Drawn, FONT, draw_legend, legend_line};
use plotters::prelude::*;

/// In pixels.
const SIZE: (u32, u32) = (1080, 460);
/// The width of the left panel, in pixels.
const LEFT: u32 = 560;

/// An SVG document that needs no other file. Left: share of messages by latency. Right: when the first and
/// the last host are done with each iteration.
pub fn svg(cases: &[ApplicationCase]) -> Result<String, RouteReason> {
    let draw = |area: &Area| {
        let (left, right) = area.split_horizontally(LEFT);
        latencies(cases, &left)?;
        iterations(cases, &right)
    };
    plot::svg(SIZE, draw).map_err(RouteReason::Plot)
}

fn latencies(cases: &[ApplicationCase], area: &Area) -> Drawn {
    let all = || cases.iter().flat_map(|case| &case.percentiles).copied();
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let mut chart = ChartBuilder::on(area)
        .caption("latency of messages", (FONT, 15))
        .margin(14)
        .x_label_area_size(40)
        .y_label_area_size(56)
        .build_cartesian_2d((least * 0.9..most * 1.1).log_scale(), 0.0..1.0)?;
    let number = |us: &f64| if *us < 10.0 { format!("{us}") } else { format!("{us:.0}") };
    chart
        .configure_mesh()
        .x_desc("µs")
        .y_desc("share of messages")
        .x_label_formatter(&number)
        .label_style((FONT, 12))
        .light_line_style(WHITE)
        .draw()?;
    for (case, colour) in cases.iter().zip(COLOURS.into_iter().cycle()) {
        let line = case.percentiles.iter().enumerate().map(|(at, us)| (*us, (at + 1) as f64 / 100.0));
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
            .label(format!("{}, {}, {} bytes", case.fabric, case.core, case.bytes))
            .legend(legend_line(colour));
    }
    draw_legend(&mut chart, 11)
}

fn iterations(cases: &[ApplicationCase], area: &Area) -> Drawn {
    let coloured = cases.iter().zip(COLOURS.into_iter().cycle());
    let iterating: Vec<(&ApplicationCase, RGBColor)> =
        coloured.filter(|(case, _)| !case.iterations.is_empty()).collect();
    let ends = iterating.iter().flat_map(|(case, _)| case.iterations.last()).map(|iteration| iteration.1);
    let Some(last) = ends.reduce(f64::max) else { return Ok(()) };
    let count = iterating[0].0.iterations.len() as f64;
    let mut chart = ChartBuilder::on(area)
        .caption("the first and the last host are done", (FONT, 15))
        .margin(14)
        .x_label_area_size(40)
        .y_label_area_size(64)
        .build_cartesian_2d(1.0..count, 0.0..last * 1.05)?;
    chart
        .configure_mesh()
        .x_desc("iteration")
        .y_desc("µs")
        .x_label_formatter(&|iteration| format!("{iteration:.0}"))
        .y_label_formatter(&|us| format!("{us:.0}"))
        .label_style((FONT, 12))
        .light_line_style(WHITE)
        .draw()?;
    for (case, colour) in iterating {
        for end in [|ends: &(f64, f64)| ends.0, |ends: &(f64, f64)| ends.1] {
            let line = case.iterations.iter().enumerate().map(|(at, ends)| ((at + 1) as f64, end(ends)));
            chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
        }
    }
    Ok(())
}

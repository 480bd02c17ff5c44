//! Latency and deliveries over time, as a picture.

use crate::errors::RouteReason;
use crate::output::plot::{self, Area, COLOURS, Drawn, FONT, draw_legend, legend_line};
use evenkeel_switch_sim::reconfiguration::{TimeWindow, Timeline};
use plotters::prelude::*;

/// In pixels.
const SIZE: (u32, u32) = (820, 560);
const PROTOCOL_COLOURS: [RGBColor; 3] = [COLOURS[1], COLOURS[2], COLOURS[0]];

/// What a panel shows.
struct Panel {
    name: &'static str,
    value: fn(&TimeWindow) -> f64,
}

const PANELS: [Panel; 2] = [
    Panel { name: "latency, cycles", value: |window| window.latency },
    Panel { name: "packets delivered", value: |window| window.packets as f64 },
];

/// An SVG document that needs no other file: a line for each protocol.
pub fn svg(lines: &[Timeline], names: [&str; 3]) -> Result<String, RouteReason> {
    let draw = |area: &Area| {
        let areas = area.split_evenly((PANELS.len(), 1));
        PANELS.iter().zip(&areas).try_for_each(|(panel, area)| draw_panel(panel, lines, names, area))
    };
    plot::svg(SIZE, draw).map_err(RouteReason::Plot)
}

fn draw_panel(panel: &Panel, lines: &[Timeline], names: [&str; 3], area: &Area) -> Drawn {
    let end = lines.iter().map(|line| line.windows.len() as u64 * line.window_cycles).max().unwrap_or(1);
    let most = lines.iter().flat_map(|line| &line.windows).map(panel.value).fold(1.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(28)
        .x_label_area_size(36)
        .y_label_area_size(60)
        .build_cartesian_2d(0.0..end as f64, 0.0..most * 1.1)?;
    chart
        .configure_mesh()
        .x_desc("cycles")
        .y_desc(panel.name)
        .x_label_formatter(&|cycles| format!("{cycles:.0}"))
        .y_label_formatter(&|value| format!("{value:.0}"))
        .label_style((FONT, 12))
        .light_line_style(WHITE)
        .draw()?;
    for ((line, name), colour) in lines.iter().zip(names).zip(PROTOCOL_COLOURS) {
        let middle = |window: usize| (window as f64 + 0.5) * line.window_cycles as f64;
        let points =
            line.windows.iter().enumerate().map(|(index, window)| (middle(index), (panel.value)(window)));
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(name)
            .legend(legend_line(colour));
    }
    for (when, _) in lines.iter().take(1).flat_map(|line| &line.changes) {
        let ends = vec![(*when as f64, 0.0), (*when as f64, most * 1.1)];
        chart.draw_series(std::iter::once(PathElement::new(ends, BLACK.mix(0.3))))?;
    }
    draw_legend(&mut chart, 12)
}

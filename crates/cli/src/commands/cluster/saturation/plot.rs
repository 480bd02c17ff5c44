//! Carried load and response against the load that is offered, as a picture.

use super::point::LoadPoint;
use crate::errors::ClusterError;
use crate::output::plot::{self, Area, COLOURS, Drawn, FONT, draw_legend, legend_line};
use evenkeel_cluster_sim::Interval;
use plotters::prelude::*;

/// The size of a panel in pixels.
const SIZE: (u32, u32) = (460, 440);

/// A value of a point.
type Value = fn(&LoadPoint) -> Interval;

/// An SVG document that needs no other file.
pub fn svg(points: &[LoadPoint]) -> Result<String, ClusterError> {
    let draw = |area: &Area| {
        let panels = area.split_evenly((1, 2));
        against_load(points, "Carried load, 95% intervals", |point| point.carried, &panels[0])?;
        against_load(points, "Mean response in seconds, 95% intervals", |point| point.response_s, &panels[1])
    };
    plot::svg((2 * SIZE.0, SIZE.1), draw).map_err(ClusterError::Plot)
}

fn against_load(points: &[LoadPoint], title: &str, value: Value, area: &Area) -> Drawn {
    let ends = |point: &LoadPoint| {
        let Interval { mean, half_width } = value(point);
        let half_width = if half_width.is_finite() { half_width } else { 0.0 };
        (mean - half_width, mean, mean + half_width)
    };
    let most = points.iter().map(|point| ends(point).2).fold(0.0, f64::max);
    let loads = points.iter().map(|point| point.offered);
    let (least_load, most_load) = loads.fold((f64::INFINITY, 0.0), |(a, b), v| (v.min(a), v.max(b)));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 15))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(66)
        .build_cartesian_2d(least_load * 0.95..most_load * 1.05, 0.0..most * 1.25)?;
    chart
        .configure_mesh()
        .x_desc("offered load")
        .x_labels(7)
        .label_style((FONT, 12))
        .light_line_style(WHITE)
        .draw()?;
    let mut policies: Vec<&str> = points.iter().map(|point| point.policy).collect();
    policies.dedup();
    for (policy, colour) in policies.into_iter().zip(COLOURS.into_iter().cycle()) {
        let of_policy: Vec<&LoadPoint> = points.iter().filter(|point| point.policy == policy).collect();
        chart.draw_series(of_policy.iter().map(|point| {
            let (low, mean, high) = ends(point);
            ErrorBar::new_vertical(point.offered, low, mean, high, colour.filled(), 6)
        }))?;
        let line = of_policy.iter().map(|point| (point.offered, value(point).mean));
        let line = chart.draw_series(LineSeries::new(line, colour.stroke_width(2)))?;
        line.label(policy).legend(legend_line(colour));
    }
    draw_legend(&mut chart, 12)
}

//! All results of a command as a picture: completion and time held against ranks, and the ranks that others
//! waited for.

use super::simulated::Simulated;
use crate::errors::SimulationError;
use crate::output::plot::{self, Area, COLOURS, Drawn, FONT, draw_legend, legend_line};
use evenkeel_schedule_sim::VirtualTime;
use evenkeel_text::units::{duration, short_count};
use plotters::prelude::*;

/// The size of a panel in pixels.
const SIZE: (u32, u32) = (460, 440);
/// Labels of the axis of ranks: powers of two, but not so many that they touch.
const LABELS: usize = 7;
/// A logarithmic axis has no zero: smaller values stand on its lower edge.
const LEAST_NS: f64 = 1.0;

/// A line of a panel: the width of its stroke, and its value of a result.
type Curve = (u32, fn(&Simulated) -> VirtualTime);

const COMPLETION: [Curve; 2] = [(2, |r| r.outcome.completion.mean), (1, |r| r.outcome.completion.p99)];
const HELD: [Curve; 3] =
    [(3, |r| r.outcome.held.mean), (2, |r| r.outcome.held.p99), (1, |r| r.outcome.held.max)];

/// An SVG document that needs no other file.
pub fn svg(results: &[Simulated]) -> Result<String, SimulationError> {
    let waited_for = largest_with_late_ranks(results);
    let panels = if waited_for.is_some() { 3 } else { 2 };
    let draw = |area: &Area| {
        let panels = area.split_evenly((1, panels));
        against_ranks(results, "Completion: wide mean, narrow p99", &COMPLETION, &panels[0])?;
        against_ranks(results, "Time in a call: from wide mean, p99, longest", &HELD, &panels[1])?;
        waited_for.map_or(Ok(()), |result| late_ranks(result, &panels[2]))
    };
    plot::svg((panels as u32 * SIZE.0, SIZE.1), draw).map_err(SimulationError::Plot)
}

/// The value of a result, not below the axis.
fn value(result: &Simulated, of: fn(&Simulated) -> VirtualTime) -> f64 {
    of(result).ns().max(LEAST_NS)
}

fn against_ranks(results: &[Simulated], title: &str, curves: &[Curve], area: &Area) -> Drawn {
    let values = results.iter().flat_map(|result| curves.iter().map(move |curve| value(result, curve.1)));
    let (least, most) = values.fold((f64::INFINITY, LEAST_NS), |(a, b), v| (a.min(v), b.max(v)));
    let ranks = results.iter().map(|result| result.ranks);
    let (few, many) = ranks.fold((u32::MAX, 1), |(a, b), ranks| (a.min(ranks), b.max(ranks)));
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 15))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(66)
        .build_cartesian_2d(
            (f64::from(few) * 0.8..f64::from(many) * 1.25).log_scale().base(2.0),
            (least * 0.7..most * 2.0).log_scale(),
        )?;
    chart
        .configure_mesh()
        .x_desc("ranks")
        .x_labels(LABELS)
        .x_label_formatter(&|ranks| short_count(ranks.round() as u64))
        .y_label_formatter(&|ns| duration(ns.round() as u64))
        .label_style((FONT, 12))
        .light_line_style(WHITE)
        .draw()?;
    for (schedule, colour) in schedules(results).into_iter().zip(COLOURS.into_iter().cycle()) {
        for (at, (width, of)) in curves.iter().enumerate() {
            let of_schedule = results.iter().filter(|result| result.schedule == schedule);
            let mut points: Vec<(f64, f64)> =
                of_schedule.map(|result| (f64::from(result.ranks), value(result, *of))).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            chart.draw_series(points.iter().map(|point| Circle::new(*point, 2, colour.filled())))?;
            let line = chart.draw_series(LineSeries::new(points, colour.stroke_width(*width)))?;
            if at == 0 {
                line.label(schedule).legend(legend_line(colour));
            }
        }
    }
    draw_legend(&mut chart, 12)
}

/// The names of schedules, in the order of their first results.
fn schedules(results: &[Simulated]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for result in results {
        if !names.contains(&result.schedule.as_str()) {
            names.push(&result.schedule);
        }
    }
    names
}

/// The last of the results with most ranks in which some ranks were late. Where ranks share cores none is.
fn largest_with_late_ranks(results: &[Simulated]) -> Option<&Simulated> {
    let most = results.iter().map(|result| result.ranks).max()?;
    results.iter().rfind(|result| result.ranks == most && !result.outcome.late.is_empty())
}

/// The ranks that others waited for longest.
fn late_ranks(result: &Simulated, area: &Area) -> Drawn {
    let late = &result.outcome.late;
    let most = late.iter().map(|l| l.held.ns()).fold(LEAST_NS, f64::max);
    let ranks = short_count(result.ranks.into());
    let title = format!("Ranks that others waited for: {}, {ranks} ranks", result.schedule);
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 15))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(66)
        .build_cartesian_2d((0..late.len().max(1) - 1).into_segmented(), 0.0..most * 1.1)?;
    // A single bar has no label of its own.
    let names = if let [only] = late.as_slice() {
        format!("rank {}", only.rank)
    } else {
        "rank, the worst first".into()
    };
    let name = |at: &SegmentValue<usize>| match at {
        SegmentValue::CenterOf(i) => late.get(*i).map_or(String::new(), |l| l.rank.to_string()),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(late.len().max(1) + 1)
        .x_desc(names)
        .y_desc("time of all ranks in calls that it held up")
        .x_label_formatter(&name)
        .y_label_formatter(&|ns| duration(ns.round() as u64))
        .label_style((FONT, 12))
        .light_line_style(WHITE)
        .draw()?;
    let all = late.len();
    let bar = |(i, late): (usize, &evenkeel_schedule_sim::LateRank)| {
        let end = if i + 1 < all { SegmentValue::Exact(i + 1) } else { SegmentValue::Last };
        let mut bar =
            Rectangle::new([(SegmentValue::Exact(i), 0.0), (end, late.held.ns())], COLOURS[1].filled());
        bar.set_margin(0, 0, 6, 6);
        bar
    };
    chart.draw_series(late.iter().enumerate().map(bar))?;
    Ok(())
}

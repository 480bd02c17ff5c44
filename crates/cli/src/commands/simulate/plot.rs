//! All runs of a command as a picture: completion and time held against ranks, and whom the others
//! waited for.

use super::command::Run;
use crate::errors::Failure;
use crate::output::plot_style::{COLOURS, FONT};
use evenkeel_schedule_sim::VirtualTime;
use evenkeel_text::units::{duration, short_count};
use plotters::prelude::*;

/// Of a panel.
const SIZE: (u32, u32) = (460, 440);
/// Of an axis of ranks: powers of two, but not so many that they touch.
const LABELS: usize = 7;
/// A logarithmic axis has no zero: what is less stands on its lower edge.
const LEAST_NS: f64 = 1.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Done = Result<(), Box<dyn std::error::Error>>;
/// A line of a panel: its name, how wide it is drawn, and its value of a run.
type Curve = (&'static str, u32, fn(&Run) -> VirtualTime);

const COMPLETION: [Curve; 2] =
    [("mean", 2, |r| r.outcome.completion.mean), ("p99", 1, |r| r.outcome.completion.p99)];
const HELD: [Curve; 3] = [
    ("mean", 3, |r| r.outcome.held.mean),
    ("p99", 2, |r| r.outcome.held.p99),
    ("longest", 1, |r| r.outcome.held.max),
];

/// An SVG document that needs nothing else.
pub fn svg(runs: &[Run]) -> Result<String, Failure> {
    let mut text = String::new();
    draw(runs, &mut text)
        .map_err(|e| Failure::Simulate { why: format!("the plot could not be drawn ({e})") })?;
    Ok(text)
}

fn draw(runs: &[Run], text: &mut String) -> Done {
    let waited_for = most_ranks_with_lateness(runs);
    let panels = if waited_for.is_some() { 3 } else { 2 };
    let area = SVGBackend::with_string(text, (panels as u32 * SIZE.0, SIZE.1)).into_drawing_area();
    let said = |e: &dyn std::fmt::Display| e.to_string();
    area.fill(&WHITE).map_err(|e| said(&e))?;
    let panels = area.split_evenly((1, panels));
    against_ranks(runs, "Completion: wide mean, narrow p99", &COMPLETION, &panels[0])
        .map_err(|e| said(&*e))?;
    against_ranks(runs, "Time in a call: from wide mean, p99, longest", &HELD, &panels[1])
        .map_err(|e| said(&*e))?;
    if let Some(run) = waited_for {
        late_ranks(run, &panels[2]).map_err(|e| said(&*e))?;
    }
    area.present().map_err(|e| said(&e))?;
    Ok(())
}

fn against_ranks(runs: &[Run], title: &str, curves: &[Curve], area: &Area) -> Done {
    let mut schedules: Vec<&str> = Vec::new();
    runs.iter().for_each(|r| {
        if !schedules.contains(&r.schedule.as_str()) {
            schedules.push(&r.schedule)
        }
    });
    let value = |run: &Run, of: fn(&Run) -> VirtualTime| of(run).ns().max(LEAST_NS);
    let all: Vec<f64> = runs.iter().flat_map(|r| curves.iter().map(move |c| value(r, c.2))).collect();
    let (least, most) = all.iter().fold((f64::INFINITY, LEAST_NS), |(a, b), v| (a.min(*v), b.max(*v)));
    let (few, many) = runs.iter().fold((u32::MAX, 1), |(a, b), r| (a.min(r.ranks), b.max(r.ranks)));
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
        .x_label_formatter(&|n| short_count(n.round() as u64))
        .y_label_formatter(&|ns| duration(ns.round() as u64))
        .label_style((FONT, 12))
        .light_line_style(WHITE)
        .draw()?;
    for (i, schedule) in schedules.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        for (which, (_, width, of)) in curves.iter().enumerate() {
            let mut points: Vec<(f64, f64)> = runs
                .iter()
                .filter(|r| r.schedule == *schedule)
                .map(|r| (f64::from(r.ranks), value(r, *of)))
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            chart.draw_series(points.iter().map(|p| Circle::new(*p, 2, colour.filled())))?;
            let line = chart.draw_series(LineSeries::new(points, colour.stroke_width(*width)))?;
            if which == 0 {
                line.label(*schedule).legend(move |(x, y)| {
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
    Ok(())
}

/// The last run with most ranks in which some were seen to be late: where cores are shared nobody is.
fn most_ranks_with_lateness(runs: &[Run]) -> Option<&Run> {
    let most = runs.iter().map(|r| r.ranks).max()?;
    runs.iter().rfind(|r| r.ranks == most && !r.outcome.late.is_empty())
}

/// The ranks that others waited for longest.
fn late_ranks(run: &Run, area: &Area) -> Done {
    let late = &run.outcome.late;
    let most = late.iter().map(|l| l.held.ns()).fold(LEAST_NS, f64::max);
    let title =
        format!("Whom the others waited for: {}, {} ranks", run.schedule, short_count(run.ranks.into()));
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

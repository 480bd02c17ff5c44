//! How busy each channel is, as a picture.

use super::result::RoutedCase;
use crate::errors::RouteReason;
use crate::output::plot::{self, Area, Drawn, FONT};
use evenkeel_switch_sim::{ChannelId, Node, Wiring};
use plotters::prelude::*;
use std::collections::BTreeMap;

/// The size of the square of a scheme, in pixels.
const SIZE: (u32, u32) = (420, 450);

/// An SVG document that needs no other file: for each scheme of the first network a square of switches, from
/// the row to the column, darker where the channel is busier.
pub fn svg(cases: &[RoutedCase], wirings: &[&Wiring]) -> Result<String, RouteReason> {
    let all = cases.iter().zip(wirings.iter().copied());
    let of_first: Vec<_> = all.filter(|(case, _)| case.network == cases[0].network).collect();
    let size = (SIZE.0 * of_first.len() as u32, SIZE.1);
    let draw = |area: &Area| {
        let squares = area.split_evenly((1, of_first.len()));
        of_first.iter().zip(&squares).try_for_each(|((case, wiring), square)| draw(case, wiring, square))
    };
    plot::svg(size, draw).map_err(RouteReason::Plot)
}

/// The share of cycles in which each channel moves a phit, at the highest load: by the switches from and to
/// which it leads. Of several channels between two switches the busiest counts.
fn utilizations(case: &RoutedCase, wiring: &Wiring) -> BTreeMap<(i32, i32), f64> {
    let mut cells = BTreeMap::new();
    let Some(point) = case.runs[0].points.last() else { return cells };
    for channel in 0..wiring.channels() {
        let ends = (wiring.from(ChannelId(channel)), wiring.to(ChannelId(channel)));
        if let (Node::Switch(from), Node::Switch(to)) = ends {
            let cell = cells.entry((from.0 as i32, to.0 as i32)).or_insert(0.0_f64);
            *cell = cell.max(point.utilization[channel as usize]);
        }
    }
    cells
}

fn draw(case: &RoutedCase, wiring: &Wiring, area: &Area) -> Drawn {
    let Some(point) = case.runs[0].points.last() else { return Ok(()) };
    let cells = utilizations(case, wiring);
    let switches = wiring.switches() as i32;
    let busiest = 100.0 * cells.values().copied().fold(0.0, f64::max);
    let title =
        format!("{}, {}: load {:.3}, busiest {busiest:.0}%", case.network, case.scheme, point.offered);
    let mut chart = ChartBuilder::on(area)
        .caption(title, (FONT, 13))
        .margin(12)
        .x_label_area_size(34)
        .y_label_area_size(38)
        .build_cartesian_2d(0..switches, switches..0)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("to switch")
        .y_desc("from switch")
        .label_style((FONT, 11))
        .draw()?;
    // White is idle, dark blue moves a phit in every cycle.
    let shade =
        |u: f64| RGBColor((250.0 - 250.0 * u) as u8, (250.0 - 215.0 * u) as u8, (250.0 - 150.0 * u) as u8);
    chart.draw_series(cells.iter().map(|((from, to), utilization)| {
        Rectangle::new([(*to, *from), (*to + 1, *from + 1)], shade(*utilization).filled())
    }))?;
    Ok(())
}

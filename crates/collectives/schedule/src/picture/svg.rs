//! A picture as SVG: ranks across, time down.

use super::content::{Arrow, Picture, Purpose};
use crate::step::Rank;
use std::fmt::Write;

/// The distance between two ranks, in pixels; the other lengths are in pixels too.
const STEP: f64 = 64.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 36.0;
const TOP: f64 = 84.0;
/// The distance between two messages of a rank in the same round.
const NEXT: f64 = 7.0;

fn colour(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Flag => "#2563a8",
        Purpose::Data | Purpose::Shared => "#c2410c",
        Purpose::Repeat => "#e08a4f",
        Purpose::Count | Purpose::Answer => "#1b7f5c",
        Purpose::Acknowledgement => "#8a94a3",
    }
}

fn class(purpose: Purpose) -> char {
    match purpose {
        Purpose::Flag => 'f',
        Purpose::Data => 'd',
        Purpose::Repeat => 'r',
        Purpose::Shared => 's',
        Purpose::Count => 'c',
        Purpose::Answer => 'w',
        Purpose::Acknowledgement => 'a',
    }
}

/// The picture as one self-contained SVG file.
pub fn svg(picture: &Picture) -> String {
    let layout = Layout::of(picture);
    let purposes = picture.purposes();
    let mut out = String::new();
    head(&mut out, picture, &purposes, &layout);
    nodes(&mut out, picture, &layout);
    rounds(&mut out, &layout);
    ranks(&mut out, picture, &layout);
    for purpose in &purposes {
        for arrow in picture.arrows.iter().filter(|a| a.purpose == *purpose) {
            if *purpose == Purpose::Shared {
                shared_write(&mut out, arrow, &layout);
            } else {
                messages(&mut out, picture, arrow, &layout);
            }
        }
    }
    legend(&mut out, &purposes, layout.bottom + 26.0);
    out.push_str("</svg>\n");
    out
}

/// Where things are, in pixels.
struct Layout {
    /// The upper edge of each round, and the lower edge of the last one.
    tops: Vec<f64>,
    /// Where the lines of the ranks end.
    bottom: f64,
    width: f64,
    height: f64,
}

impl Layout {
    fn of(picture: &Picture) -> Layout {
        // A round is higher if a rank sends many messages in it, and if messages go far.
        let mut tops = vec![TOP + 14.0];
        for round in 1..=picture.rounds {
            let arrows = picture.arrows.iter().filter(|a| a.round == round);
            let (sends, far) =
                arrows.fold((0, 0), |(sends, far), a| (sends.max(a.before), far.max(reach(a))));
            tops.push(tops[tops.len() - 1] + 40.0 + NEXT * f64::from(sends) + 4.0 * f64::from(far.min(10)));
        }
        let bottom = tops[tops.len() - 1] + 10.0;
        let legend: f64 = picture.purposes().iter().map(|p| 60.0 + 6.6 * p.name().len() as f64).sum();
        let ranks = picture.schedule.problem.ranks;
        let title = 9.4 * picture.name().len() as f64 + 6.9 * picture.parameters().len() as f64;
        let width = (LEFT + f64::from(ranks - 1) * STEP + RIGHT).max(LEFT + legend).max(36.0 + title);
        Layout { tops, bottom, width, height: bottom + 42.0 }
    }

    fn x(&self, rank: u32) -> f64 {
        LEFT + f64::from(rank) * STEP
    }

    /// The upper and lower edge of a round.
    fn round(&self, round: u32) -> (f64, f64) {
        (self.tops[round as usize - 1], self.tops[round as usize])
    }
}

/// The distance of the farthest receiver, in ranks.
fn reach(arrow: &Arrow) -> u32 {
    arrow.to.iter().map(|to| to.0.abs_diff(arrow.from.0)).max().unwrap_or(0)
}

/// A label for each round, and a background for every second one.
fn rounds(out: &mut String, layout: &Layout) {
    for round in 1..layout.tops.len() {
        let (top, end) = (layout.tops[round - 1], layout.tops[round]);
        if round % 2 == 1 {
            let (width, height) = (layout.width - 16.0, end - top);
            let _ = write!(
                out,
                r##"<rect x="8" y="{top:.0}" width="{width:.0}" height="{height:.0}" fill="#1e293b" "##
            );
            let _ = write!(out, r#"fill-opacity=".045"/>"#);
        }
        let y = (top + end) / 2.0 + 4.0;
        let _ = writeln!(out, r#"<text x="16" y="{y:.0}" class="t">round {round}</text>"#);
    }
}

/// A line for each rank, with its number on top.
fn ranks(out: &mut String, picture: &Picture, layout: &Layout) {
    for rank in 0..picture.schedule.problem.ranks {
        let x = layout.x(rank);
        let _ = write!(out, r##"<path d="M{x:.0} {TOP:.0}V{:.0}" stroke="#cbd2dc"/>"##, layout.bottom);
        let _ = write!(out, r##"<circle cx="{x:.0}" cy="{:.0}" r="12" fill="#334155"/>"##, TOP - 12.0);
        let _ = writeln!(out, r#"<text x="{x:.0}" y="{:.0}" class="n">{rank}</text>"#, TOP - 8.0);
    }
}

/// The strokes of an arrow: one for each receiver.
fn messages(out: &mut String, picture: &Picture, arrow: &Arrow, layout: &Layout) {
    let class = class(arrow.purpose);
    let (top, end) = layout.round(arrow.round);
    let same = |a: &&Arrow| (a.round, a.from) == (arrow.round, arrow.from);
    let sends = picture.arrows.iter().filter(same).count() as f64;
    let (x, y) = (layout.x(arrow.from.0), top + 4.0 + NEXT * f64::from(arrow.before));
    let arrive = end - 4.0 - NEXT * (sends - 1.0 - f64::from(arrow.before));
    let mut path = String::new();
    for to in &arrow.to {
        let _ = write!(path, "M{x:.0} {y:.0}L{}", tip(x, y, layout.x(to.0), arrive));
    }
    // A stroke that wraps around the end of the row must not hide the others.
    let is_faint = arrow.to.len() == 1 && 2 * reach(arrow) > picture.schedule.problem.ranks;
    let faint = if is_faint { r#" stroke-opacity=".45""# } else { "" };
    let _ = write!(out, r#"<path class="{class}"{faint} d="{path}"/>"#);
    // Each stroke of the path needs a tip of its own, because a marker stands only at the end of the
    // path.
    for to in &arrow.to {
        let _ = write!(out, "{}", arrowhead(class, x, y, layout.x(to.0), arrive));
    }
    let _ = writeln!(out, r#"<circle class="{class}o" cx="{x:.0}" cy="{y:.0}" r="2.6"/>"#);
}

/// A write that all ranks see: a line along the row, a mark at each rank that sees it, a dot at the
/// writer.
fn shared_write(out: &mut String, arrow: &Arrow, layout: &Layout) {
    let y = layout.round(arrow.round).0 + 4.0 + NEXT * f64::from(arrow.before);
    let all = arrow.to.iter().chain([&arrow.from]).map(|rank| rank.0);
    let (first, last) = (all.clone().min().expect("it has ends"), all.max().expect("it has ends"));
    let mark = |to: &Rank| format!("M{:.0} {:.0}v7", layout.x(to.0), y - 3.5);
    let marks: String = arrow.to.iter().map(mark).collect();
    let (first, last, x) = (layout.x(first), layout.x(last), layout.x(arrow.from.0));
    let _ = write!(out, r#"<path class="s" d="M{first:.0} {y:.0}H{last:.0}"/><path class="m" d="{marks}"/>"#);
    let _ = writeln!(out, r#"<circle class="so" cx="{x:.0}" cy="{y:.0}" r="3.4"/>"#);
}

/// Where a stroke ends: a little before the point of its tip.
fn tip(x0: f64, y0: f64, x1: f64, y1: f64) -> String {
    let length = (x1 - x0).hypot(y1 - y0);
    format!("{:.1} {:.1}", x1 - (x1 - x0) / length * 7.0, y1 - (y1 - y0) / length * 7.0)
}

fn arrowhead(class: char, x0: f64, y0: f64, x1: f64, y1: f64) -> String {
    let angle = (y1 - y0).atan2(x1 - x0).to_degrees();
    format!(
        r#"<path class="{class}o" transform="translate({x1:.0} {y1:.1})rotate({angle:.0})" {}/>"#,
        r#"d="M0 0L-8.5-3.6V3.6z""#
    )
}

fn head(out: &mut String, picture: &Picture, purposes: &[Purpose], layout: &Layout) {
    let Layout { width, height, .. } = layout;
    let _ = write!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" "#
    );
    let _ = writeln!(
        out,
        r#"height="{height:.0}" role="img" font-family="system-ui,'DejaVu Sans',sans-serif" font-size="12">"#
    );
    let _ = writeln!(out, "<title>{}</title>", picture.title());
    let _ = write!(out, "<style>path{{fill:none}}.t{{fill:#64748b}}.n{{fill:#fff;text-anchor:middle}}");
    let _ = writeln!(out, ".h{{fill:#1e293b;font-size:15px;font-weight:600}}");
    for purpose in purposes {
        let (class, colour) = (class(*purpose), colour(*purpose));
        let more = match purpose {
            Purpose::Flag => "stroke-width:1.5",
            Purpose::Data => "stroke-width:2.4",
            Purpose::Repeat => "stroke-width:2.4;stroke-dasharray:6 3",
            Purpose::Shared => "stroke-width:1.6;stroke-dasharray:2 3}.m{stroke:#c2410c;stroke-width:1.6",
            Purpose::Count => "stroke-width:1.5;stroke-dasharray:5 3",
            Purpose::Answer => "stroke-width:.9",
            Purpose::Acknowledgement => "stroke-width:1.1;stroke-dasharray:3 3",
        };
        let _ = writeln!(out, ".{class}{{stroke:{colour};{more}}}.{class}o{{fill:{colour}}}");
    }
    let (width, height) = (layout.width - 1.0, layout.height - 1.0);
    let _ = writeln!(out, "</style>");
    let _ = write!(out, r#"<rect x=".5" y=".5" width="{width:.0}" height="{height:.0}" rx="10" "#);
    let _ = writeln!(out, r##"fill="#fff" stroke="#d5dbe3"/>"##);
    let (name, parameters) = (picture.name(), picture.parameters());
    let _ = write!(out, r#"<text x="16" y="30"><tspan class="h">{name}</tspan>"#);
    let _ = writeln!(out, r#"<tspan class="t" dx="10">{parameters}</tspan></text>"#);
}

/// A common background for the ranks of each node, if the algorithm knows nodes.
fn nodes(out: &mut String, picture: &Picture, layout: &Layout) {
    let problem = &picture.schedule.problem;
    let parameters = picture.schedule.algorithm.parameters;
    let size = parameters.iter().position(|p| p.name == "node").map(|i| problem.values[i]);
    let (None, Some(size)) = (&problem.nodes, size) else { return };
    for node in 0..problem.ranks.div_ceil(size) {
        let (first, last) = (node * size, (node * size + size - 1).min(problem.ranks - 1));
        let (first, last) = (layout.x(first), layout.x(last));
        let (left, top) = (first - 22.0, TOP - 30.0);
        let (width, height) = (last - first + 44.0, layout.bottom - TOP + 30.0);
        let _ = write!(
            out,
            r#"<rect x="{left:.0}" y="{top:.0}" width="{width:.0}" height="{height:.0}" rx="8" "#
        );
        let _ = write!(out, r##"fill="#2563a8" fill-opacity=".07"/>"##);
        let (x, y) = ((first + last) / 2.0, TOP - 33.0);
        let _ =
            writeln!(out, r#"<text x="{x:.0}" y="{y:.0}" class="t" text-anchor="middle">node {node}</text>"#);
    }
}

fn legend(out: &mut String, purposes: &[Purpose], y: f64) {
    let mut x = 16.0;
    for purpose in purposes {
        let class = class(*purpose);
        // A shared write is a line along the row and has no tip.
        let tip = if *purpose == Purpose::Shared {
            format!(r#"<circle class="so" cx="{x:.0}" cy="{:.0}" r="3.4"/>"#, y - 4.0)
        } else {
            arrowhead(class, x, y - 4.0, x + 32.0, y - 4.0)
        };
        let _ = writeln!(
            out,
            r#"<path class="{class}" d="M{x:.0} {:.0}h26"/>{}<text x="{:.0}" y="{y:.0}" class="t">{}</text>"#,
            y - 4.0,
            tip,
            x + 40.0,
            purpose.name()
        );
        x += 60.0 + 6.6 * purpose.name().len() as f64;
    }
}

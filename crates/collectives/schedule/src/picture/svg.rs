//! A picture as SVG: ranks across, time down.

use super::{Arrow, Picture, Purpose};
use std::fmt::Write;

/// Between two ranks, in pixels.
const STEP: f64 = 64.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 36.0;
const TOP: f64 = 84.0;
/// From one message of a rank to its next in the same round.
const NEXT: f64 = 7.0;

fn colour(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Flag => "#2563a8",
        Purpose::Data | Purpose::Shared => "#c2410c",
        Purpose::Again => "#e08a4f",
        Purpose::Count | Purpose::Answer => "#1b7f5c",
        Purpose::Acknowledgement => "#8a94a3",
    }
}

fn class(purpose: Purpose) -> char {
    match purpose {
        Purpose::Flag => 'f',
        Purpose::Data => 'd',
        Purpose::Again => 'r',
        Purpose::Shared => 's',
        Purpose::Count => 'c',
        Purpose::Answer => 'w',
        Purpose::Acknowledgement => 'a',
    }
}

/// One self-contained file.
pub fn svg(picture: &Picture) -> String {
    let ranks = picture.schedule.problem.ranks;
    let x = |rank: u32| LEFT + f64::from(rank) * STEP;
    // A round is higher if somebody sends much in it, and if messages go far.
    let mut tops = vec![TOP + 14.0];
    for round in 1..=picture.rounds {
        let arrows = picture.arrows.iter().filter(|a| a.round == round);
        let (sends, far) = arrows.fold((0, 0), |(sends, far), a| {
            let reach = a.to.iter().map(|to| to.0.abs_diff(a.from.0)).max().unwrap_or(0);
            (sends.max(a.before), far.max(reach))
        });
        tops.push(tops[tops.len() - 1] + 40.0 + NEXT * f64::from(sends) + 4.0 * f64::from(far.min(10)));
    }
    let bottom = tops[tops.len() - 1] + 10.0;
    let purposes = picture.purposes();
    let legend_width: f64 = purposes.iter().map(|p| 60.0 + 6.6 * p.name().len() as f64).sum();
    let width = (LEFT + f64::from(ranks - 1) * STEP + RIGHT)
        .max(LEFT + legend_width)
        .max(36.0 + 9.4 * picture.name().len() as f64 + 6.9 * picture.parameters().len() as f64);
    let height = bottom + 42.0;
    let mut out = String::new();
    head(&mut out, picture, &purposes, width, height);
    nodes(&mut out, picture, x, bottom);
    for round in 1..=picture.rounds as usize {
        let (top, end) = (tops[round - 1], tops[round]);
        if round % 2 == 1 {
            let _ = write!(
                out,
                r##"<rect x="8" y="{top:.0}" width="{:.0}" height="{:.0}" fill="#1e293b" fill-opacity=".045"/>"##,
                width - 16.0,
                end - top
            );
        }
        let _ = writeln!(
            out,
            r#"<text x="16" y="{:.0}" class="t">round {round}</text>"#,
            (top + end) / 2.0 + 4.0
        );
    }
    for rank in 0..ranks {
        let _ = writeln!(
            out,
            r##"<path d="M{0:.0} {1:.0}V{bottom:.0}" stroke="#cbd2dc"/><circle cx="{0:.0}" cy="{2:.0}" r="12" fill="#334155"/><text x="{0:.0}" y="{3:.0}" class="n">{rank}</text>"##,
            x(rank),
            TOP,
            TOP - 12.0,
            TOP - 8.0
        );
    }
    for purpose in &purposes {
        let class = class(*purpose);
        for arrow in picture.arrows.iter().filter(|a| a.purpose == *purpose) {
            let (top, end) = (tops[arrow.round as usize - 1], tops[arrow.round as usize]);
            let sends =
                picture.arrows.iter().filter(|a| (a.round, a.from) == (arrow.round, arrow.from)).count()
                    as f64;
            let y = top + 4.0 + NEXT * f64::from(arrow.before);
            let arrive = end - 4.0 - NEXT * (sends - 1.0 - f64::from(arrow.before));
            if *purpose == Purpose::Shared {
                shared(&mut out, arrow, x, y);
                continue;
            }
            let mut path = String::new();
            for to in &arrow.to {
                let _ = write!(
                    path,
                    "M{:.0} {y:.0}L{}",
                    x(arrow.from.0),
                    tip(x(arrow.from.0), y, x(to.0), arrive)
                );
            }
            // What goes around the end of the row is not to hide the rest.
            let reach = arrow.to.iter().map(|to| to.0.abs_diff(arrow.from.0)).max().unwrap_or(0);
            let faint =
                if arrow.to.len() == 1 && 2 * reach > ranks { r#" stroke-opacity=".45""# } else { "" };
            let _ = write!(out, r#"<path class="{class}"{faint} d="{path}"/>"#);
            // Several tips of one path need their own, as a marker stands at the last end only.
            for to in &arrow.to {
                let _ = write!(out, "{}", arrowhead(class, x(arrow.from.0), y, x(to.0), arrive));
            }
            let _ = writeln!(
                out,
                r#"<circle class="{class}o" cx="{:.0}" cy="{y:.0}" r="2.6"/>"#,
                x(arrow.from.0)
            );
        }
    }
    legend(&mut out, &purposes, bottom + 26.0);
    out.push_str("</svg>\n");
    out
}

/// A write that all see: a line along the row, with a mark at each rank that sees it and a dot at who writes.
fn shared(out: &mut String, arrow: &Arrow, x: impl Fn(u32) -> f64, y: f64) {
    let all = arrow.to.iter().chain([&arrow.from]).map(|rank| rank.0);
    let (first, last) = (all.clone().min().expect("it has ends"), all.max().expect("it has ends"));
    let marks: String = arrow.to.iter().map(|to| format!("M{:.0} {:.0}v7", x(to.0), y - 3.5)).collect();
    let _ = writeln!(
        out,
        r#"<path class="s" d="M{:.0} {y:.0}H{:.0}"/><path class="m" d="{marks}"/><circle class="so" cx="{:.0}" cy="{y:.0}" r="3.4"/>"#,
        x(first),
        x(last),
        x(arrow.from.0)
    );
}

/// Where a stroke ends: a little before its tip.
fn tip(x0: f64, y0: f64, x1: f64, y1: f64) -> String {
    let length = (x1 - x0).hypot(y1 - y0);
    format!("{:.1} {:.1}", x1 - (x1 - x0) / length * 7.0, y1 - (y1 - y0) / length * 7.0)
}

fn arrowhead(class: char, x0: f64, y0: f64, x1: f64, y1: f64) -> String {
    let angle = (y1 - y0).atan2(x1 - x0).to_degrees();
    format!(
        r#"<path class="{class}o" transform="translate({x1:.0} {y1:.1})rotate({angle:.0})" d="M0 0L-8.5-3.6V3.6z"/>"#
    )
}

fn head(out: &mut String, picture: &Picture, purposes: &[Purpose], width: f64, height: f64) {
    let _ = writeln!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" width="{width:.0}" height="{height:.0}" role="img" font-family="system-ui,'DejaVu Sans',sans-serif" font-size="12">
<title>{}</title>
<style>path{{fill:none}}.t{{fill:#64748b}}.n{{fill:#fff;text-anchor:middle}}.h{{fill:#1e293b;font-size:15px;font-weight:600}}"##,
        picture.title()
    );
    for purpose in purposes {
        let (class, colour) = (class(*purpose), colour(*purpose));
        let more = match purpose {
            Purpose::Flag => "stroke-width:1.5",
            Purpose::Data => "stroke-width:2.4",
            Purpose::Again => "stroke-width:2.4;stroke-dasharray:6 3",
            Purpose::Shared => "stroke-width:1.6;stroke-dasharray:2 3}.m{stroke:#c2410c;stroke-width:1.6",
            Purpose::Count => "stroke-width:1.5;stroke-dasharray:5 3",
            Purpose::Answer => "stroke-width:.9",
            Purpose::Acknowledgement => "stroke-width:1.1;stroke-dasharray:3 3",
        };
        let _ = writeln!(out, ".{class}{{stroke:{colour};{more}}}.{class}o{{fill:{colour}}}");
    }
    let _ = writeln!(
        out,
        r##"</style>
<rect x=".5" y=".5" width="{:.0}" height="{:.0}" rx="10" fill="#fff" stroke="#d5dbe3"/>
<text x="16" y="30"><tspan class="h">{}</tspan><tspan class="t" dx="10">{}</tspan></text>"##,
        width - 1.0,
        height - 1.0,
        picture.name(),
        picture.parameters()
    );
}

/// Ranks that share a node, where the algorithm cares, stand in front of the same ground.
fn nodes(out: &mut String, picture: &Picture, x: impl Fn(u32) -> f64, bottom: f64) {
    let problem = &picture.schedule.problem;
    let size = picture
        .schedule
        .algorithm
        .parameters
        .iter()
        .position(|p| p.name == "node")
        .map(|i| problem.values[i]);
    let (None, Some(size)) = (&problem.nodes, size) else { return };
    for node in 0..problem.ranks.div_ceil(size) {
        let (first, last) = (node * size, (node * size + size - 1).min(problem.ranks - 1));
        let _ = writeln!(
            out,
            r##"<rect x="{:.0}" y="{:.0}" width="{:.0}" height="{:.0}" rx="8" fill="#2563a8" fill-opacity=".07"/><text x="{:.0}" y="{:.0}" class="t" text-anchor="middle">node {node}</text>"##,
            x(first) - 22.0,
            TOP - 30.0,
            x(last) - x(first) + 44.0,
            bottom - TOP + 30.0,
            (x(first) + x(last)) / 2.0,
            TOP - 33.0
        );
    }
}

fn legend(out: &mut String, purposes: &[Purpose], y: f64) {
    let mut x = 16.0;
    for purpose in purposes {
        let class = class(*purpose);
        // Drawn as a line along the row, it has no tip.
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

//! A recording as a picture: a row for each rank, time to the right, a line for each message.

use crate::observer::{Activity, Recording};
use crate::time::VirtualTime;
use std::fmt::Write;

const LEFT: f64 = 64.0;
const WIDTH: f64 = 900.0;
const TOP: f64 = 46.0;
const KINDS: [(Activity, &str, &str); 5] = [
    (Activity::Compute, "computes", "#9ec9e8"),
    (Activity::Send, "sends", "#d55e00"),
    (Activity::Receive, "receives", "#009e73"),
    (Activity::Combine, "combines", "#cc79a7"),
    (Activity::Wait, "waits", "#dddddd"),
];

/// SVG that needs nothing else. Readable up to some 64 ranks and a few thousand messages.
pub fn space_time_diagram(recording: &Recording, ranks: u32, title: &str) -> String {
    let last = recording
        .spans
        .iter()
        .map(|s| s.3)
        .chain(recording.messages.iter().map(|m| m.3))
        .max()
        .unwrap_or(VirtualTime::from_ps(1));
    let pitch = (720.0 / f64::from(ranks)).clamp(9.0, 34.0);
    let bar = pitch * 0.5;
    let bottom = TOP + pitch * f64::from(ranks);
    let x = |time: VirtualTime| LEFT + WIDTH * time.ns() / last.ns();
    let y = |rank: u32| TOP + pitch * (f64::from(rank) + 0.5);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <title>{2}</title>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        LEFT + WIDTH + 24.0,
        (bottom + 34.0).round(),
        escaped(title),
    );
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"15\" font-weight=\"bold\">{}</text>", escaped(title));
    for (i, (_, name, colour)) in KINDS.iter().enumerate() {
        let at = LEFT + 88.0 * i as f64;
        let _ = writeln!(
            svg,
            "<rect x=\"{at}\" y=\"23\" width=\"12\" height=\"10\" fill=\"{colour}\"/><text x=\"{}\" y=\"32\">{name}</text>",
            at + 16.0
        );
    }
    for tick in ticks(last) {
        let at = x(tick);
        let _ = writeln!(
            svg,
            "<path d=\"M{at:.1} {TOP}V{bottom:.1}\" stroke=\"#eeeeee\"/><text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555555\">{}</text>",
            bottom + 16.0,
            label(tick)
        );
    }
    // As many names as there is room for.
    let every = (12.0 / pitch).ceil() as usize;
    for rank in (0..ranks).step_by(every) {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555555\">rank {rank}</text>",
            LEFT - 8.0,
            y(rank) + 4.0
        );
    }
    for (rank, activity, from, to) in &recording.spans {
        let colour = KINDS.iter().find(|k| k.0 == *activity).map_or("#000000", |k| k.2);
        let (height, wide) = if *activity == Activity::Wait {
            (bar * 0.35, x(*to) - x(*from))
        } else {
            (bar, (x(*to) - x(*from)).max(0.6))
        };
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{wide:.1}\" height=\"{height:.1}\" fill=\"{colour}\"/>",
            x(*from),
            y(*rank) - height / 2.0
        );
    }
    let _ = writeln!(svg, "<g stroke=\"#333333\" stroke-width=\"0.7\" stroke-opacity=\"0.75\">");
    for (from, to, sent, arrived) in &recording.messages {
        let _ =
            writeln!(svg, "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>", x(*sent), y(*from), x(*arrived), y(*to));
    }
    svg + "</g>\n</svg>\n"
}

/// A moment as it is printed, not as it is typed: 5 µs.
fn label(time: VirtualTime) -> String {
    let typed = time.to_string();
    let (number, unit) = typed.split_at(typed.find(|c: char| c.is_alphabetic()).unwrap_or(typed.len()));
    format!("{number} {}", unit.replace("us", "µs")).trim_end().into()
}

/// Round moments, five to ten of them.
fn ticks(last: VirtualTime) -> Vec<VirtualTime> {
    let rough = last.ps() as f64 / 10.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * power).find(|s| *s >= rough).unwrap_or(rough).max(1.0)
            as u64;
    (0..).map(|i| VirtualTime::from_ps(i * step)).take_while(|t| *t <= last).collect()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_recorded_is_drawn() {
        let us = |n: u64| VirtualTime::from_ps(n * 1_000_000);
        let recording = Recording {
            spans: vec![(0, Activity::Compute, us(0), us(7)), (1, Activity::Wait, us(1), us(9))],
            messages: vec![(0, 1, us(7), us(9))],
        };
        let svg = space_time_diagram(&recording, 2, "a < b");
        assert!(svg.contains("<title>a &lt; b</title>") && svg.contains("rank 1</text>"));
        assert!(svg.contains(">0</text>") && svg.contains(">5 µs</text>"));
        assert_eq!(svg.matches("<path d=").count(), 1 + ticks(us(9)).len());
        assert_eq!(svg.matches("<rect ").count(), 1 + KINDS.len() + 2);
        assert_eq!(ticks(us(9)).last(), Some(&us(9)));
        assert_eq!(ticks(us(95)).len(), 10);
    }
}

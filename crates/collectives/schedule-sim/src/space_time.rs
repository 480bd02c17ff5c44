//! A space-time diagram of a recording: a row for each rank, time to the right, a line for each message.

use crate::observer::{Activity, Recording};
use crate::time::VirtualTime;
use std::fmt::Write;

const LEFT: f64 = 64.0;
const WIDTH: f64 = 900.0;
const TOP: f64 = 46.0;
/// Each activity with its name and colour.
const ACTIVITIES: [(Activity, &str, &str); 5] = [
    (Activity::Compute, "computes", "#9ec9e8"),
    (Activity::Send, "sends", "#d55e00"),
    (Activity::Receive, "receives", "#009e73"),
    (Activity::Combine, "combines", "#cc79a7"),
    (Activity::Wait, "waits", "#dddddd"),
];

/// A self-contained SVG. It is readable for up to about 64 ranks and a few thousand messages.
pub fn space_time_diagram(recording: &Recording, ranks: u32, title: &str) -> String {
    let diagram = Diagram::of(recording, ranks);
    let mut svg = String::new();
    diagram.head(&mut svg, title);
    diagram.axes(&mut svg);
    for span in &recording.spans {
        diagram.span(&mut svg, span);
    }
    let _ = writeln!(svg, "<g stroke=\"#333333\" stroke-width=\"0.7\" stroke-opacity=\"0.75\">");
    for (from, to, sent, arrived) in &recording.messages {
        let (x0, y0, x1, y1) = (diagram.x(*sent), diagram.y(*from), diagram.x(*arrived), diagram.y(*to));
        let _ = writeln!(svg, "<path d=\"M{x0:.1} {y0:.1}L{x1:.1} {y1:.1}\"/>");
    }
    svg + "</g>\n</svg>\n"
}

/// Where ranks and moments are, in pixels.
struct Diagram {
    ranks: u32,
    /// The last moment.
    last: VirtualTime,
    /// The distance between two ranks.
    pitch: f64,
    bottom: f64,
}

impl Diagram {
    fn of(recording: &Recording, ranks: u32) -> Diagram {
        let ends = recording.spans.iter().map(|s| s.3).chain(recording.messages.iter().map(|m| m.3));
        let last = ends.max().unwrap_or(VirtualTime::from_ps(1));
        let pitch = (720.0 / f64::from(ranks)).clamp(9.0, 34.0);
        Diagram { ranks, last, pitch, bottom: TOP + pitch * f64::from(ranks) }
    }

    fn x(&self, time: VirtualTime) -> f64 {
        LEFT + WIDTH * time.ns() / self.last.ns()
    }

    fn y(&self, rank: u32) -> f64 {
        TOP + self.pitch * (f64::from(rank) + 0.5)
    }

    fn head(&self, svg: &mut String, title: &str) {
        let (width, height) = (LEFT + WIDTH + 24.0, (self.bottom + 34.0).round());
        let title = escaped(title);
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" "
        );
        let _ = writeln!(svg, "height=\"{height}\" font-family=\"sans-serif\" font-size=\"11\">");
        let _ = writeln!(svg, "<title>{title}</title>");
        let _ = writeln!(svg, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>");
        let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"15\" font-weight=\"bold\">{title}</text>");
        for (i, (_, name, colour)) in ACTIVITIES.iter().enumerate() {
            let x = LEFT + 88.0 * i as f64;
            let _ = write!(svg, "<rect x=\"{x}\" y=\"23\" width=\"12\" height=\"10\" fill=\"{colour}\"/>");
            let _ = writeln!(svg, "<text x=\"{}\" y=\"32\">{name}</text>", x + 16.0);
        }
    }

    fn axes(&self, svg: &mut String) {
        for tick in ticks(self.last) {
            let (x, bottom) = (self.x(tick), self.bottom);
            let _ = write!(svg, "<path d=\"M{x:.1} {TOP}V{bottom:.1}\" stroke=\"#eeeeee\"/>");
            let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\" ", bottom + 16.0);
            let _ = writeln!(svg, "fill=\"#555555\">{}</text>", label(tick));
        }
        // As many names as there is room for.
        let every = (12.0 / self.pitch).ceil() as usize;
        for rank in (0..self.ranks).step_by(every) {
            let (x, y) = (LEFT - 8.0, self.y(rank) + 4.0);
            let _ = write!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\" ");
            let _ = writeln!(svg, "fill=\"#555555\">rank {rank}</text>");
        }
    }

    fn span(&self, svg: &mut String, span: &(u32, Activity, VirtualTime, VirtualTime)) {
        let (rank, activity, from, to) = *span;
        let colour = ACTIVITIES.iter().find(|k| k.0 == activity).map_or("#000000", |k| k.2);
        let (bar, wide) = (self.pitch * 0.5, self.x(to) - self.x(from));
        let (height, wide) =
            if activity == Activity::Wait { (bar * 0.35, wide) } else { (bar, wide.max(0.6)) };
        let (x, y) = (self.x(from), self.y(rank) - height / 2.0);
        let _ = write!(svg, "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" ");
        let _ = writeln!(svg, "height=\"{height:.1}\" fill=\"{colour}\"/>");
    }
}

/// A moment as it is printed: 5 µs instead of 5us.
fn label(time: VirtualTime) -> String {
    let typed = time.to_string();
    let (number, unit) = typed.split_at(typed.find(|c: char| c.is_alphabetic()).unwrap_or(typed.len()));
    format!("{number} {}", unit.replace("us", "µs")).trim_end().into()
}

/// Round moments, at most eleven.
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
    fn everything_that_was_recorded_is_drawn() {
        let us = |n: u64| VirtualTime::from_ps(n * 1_000_000);
        let recording = Recording {
            spans: vec![(0, Activity::Compute, us(0), us(7)), (1, Activity::Wait, us(1), us(9))],
            messages: vec![(0, 1, us(7), us(9))],
        };
        let svg = space_time_diagram(&recording, 2, "a < b");
        assert!(svg.contains("<title>a &lt; b</title>") && svg.contains("rank 1</text>"));
        assert!(svg.contains(">0</text>") && svg.contains(">5 µs</text>"));
        assert_eq!(svg.matches("<path d=").count(), 1 + ticks(us(9)).len());
        assert_eq!(svg.matches("<rect ").count(), 1 + ACTIVITIES.len() + 2);
        assert_eq!(ticks(us(9)).last(), Some(&us(9)));
        assert_eq!(ticks(us(95)).len(), 10);
    }
}

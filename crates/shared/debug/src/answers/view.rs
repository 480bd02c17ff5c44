//! What is drawn for an interval: the calls of a lane if they can be told apart, else how much of each
//! pixel's time was in which function; messages and collectives likewise.

use super::packed::base64;
use super::question::{Question, Wrong};
use crate::analysis::Analysis;
use crate::collectives::Instance;
use crate::messages::Message;
use crate::search::gallop;
use serde_json::{Value, json};
use std::ops::Range;

/// A call is drawn by itself if calls are this many pixels wide on average.
const PIXELS_A_CALL: usize = 4;
/// More lines than this are one tangle.
const MOST_LINES: usize = 400;
/// More bands than this cover everything.
const MOST_BANDS: usize = 120;
/// The widest screen.
const MOST_PIXELS: i64 = 8192;
/// More lanes than this do not fit a screen.
const MOST_LANES: u32 = 1024;

struct View<'a> {
    analysis: &'a Analysis,
    from: i64,
    to: i64,
    width: usize,
    lanes: Range<u32>,
}

/// The answer.
pub(super) fn view(analysis: &Analysis, question: &Question) -> Result<Value, Wrong> {
    let (from, to) = question.interval()?;
    let width = question.number("width")?.clamp(1, MOST_PIXELS) as usize;
    let all = analysis.run.lanes.len() as u32;
    let first = question.index("first").unwrap_or(0).min(all);
    let last = question.index("last").unwrap_or(all).min(all).clamp(first, first.saturating_add(MOST_LANES));
    let view = View { analysis, from, to, width, lanes: first..last };
    let lanes = view.all_lanes();
    Ok(json!({
        "from": from, "to": to, "width": width, "first": first, "lanes": lanes,
        "messages": view.messages(), "collectives": view.collectives(),
    }))
}

impl View<'_> {
    /// The calls of a lane that lie in the interval, or reach into it.
    fn calls(&self, lane: u32) -> Range<u32> {
        let calls = &self.analysis.run.lanes[lane as usize];
        let first = calls.end.partition_point(|&end| end <= self.from);
        let last = calls.before(self.to);
        first as u32..last.max(first) as u32
    }

    /// Where each pixel begins, and the end of the last.
    fn edge(&self, pixel: usize) -> i64 {
        let length = i128::from(self.to - self.from);
        self.from + (length * pixel as i128 / self.width as i128) as i64
    }

    /// All shown lanes; several at a time.
    fn all_lanes(&self) -> Vec<Value> {
        let lanes: Vec<u32> = self.lanes.clone().collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
        let part = lanes.len().div_ceil(threads).max(1);
        std::thread::scope(|scope| {
            let work = |lanes: &[u32]| -> Vec<Value> { lanes.iter().map(|&lane| self.lane(lane)).collect() };
            let parts: Vec<_> = lanes.chunks(part).map(|lanes| scope.spawn(move || work(lanes))).collect();
            parts.into_iter().flat_map(|part| part.join().expect("a lane does not panic")).collect()
        })
    }

    fn lane(&self, number: u32) -> Value {
        let calls = self.calls(number);
        if calls.len() * PIXELS_A_CALL > self.width {
            return json!({"lane": number, "shares": base64(&self.shares(number))});
        }
        let (run, waits) = (&self.analysis.run, &self.analysis.waits);
        let call = |call: u32| {
            let place = crate::run::Place { lane: number, call };
            let until = waits.until(run, place);
            json!([call, run.begin(place), run.end(place), run.shape(place).function, until])
        };
        json!({"lane": number, "calls": calls.map(call).collect::<Vec<_>>()})
    }

    /// Three bytes a pixel: the function that took most of it, the share of the pixel that was inside MPI,
    /// and the share that was waited.
    fn shares(&self, number: u32) -> Vec<u8> {
        let Analysis { run, waits, shares, .. } = self.analysis;
        let shares = &shares[number as usize];
        let functions = shares.functions.len();
        let mut bytes = Vec::with_capacity(3 * self.width);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let first = run.lanes[number as usize].before(self.from);
        let mut known = shares.until(run, waits, number, (self.from, first), &mut before);
        for pixel in 0..self.width {
            let (from, to) = (self.edge(pixel), self.edge(pixel + 1));
            known = shares.until(run, waits, number, (to, known), &mut after);
            let share = |ns: i64| (255 * i128::from(ns) / i128::from((to - from).max(1))).clamp(0, 255) as u8;
            let spent = |function: usize| after[function] - before[function];
            let most = (0..functions).max_by_key(|&function| (spent(function), std::cmp::Reverse(function)));
            let inside: i64 = (0..functions).map(spent).sum();
            bytes.push(most.map_or(0, |most| shares.functions[most].min(255) as u8));
            // What is there at all is shown.
            bytes.push(if inside > 0 { share(inside).max(1) } else { 0 });
            bytes.push(share(spent(functions)));
            std::mem::swap(&mut before, &mut after);
        }
        bytes
    }

    /// Lines, if they can be told apart; else how many messages were taken in each pixel.
    fn messages(&self) -> Value {
        let messages = &self.analysis.run.messages;
        let taken = |lane: u32| messages.taken_range(lane, self.calls(lane)).len();
        let count: usize = self.lanes.clone().map(taken).sum();
        if count <= MOST_LINES {
            let lines = self.lines();
            if lines.len() <= MOST_LINES {
                return json!({"count": lines.len(), "lines": lines});
            }
        }
        json!({"count": count, "density": base64(&self.density())})
    }

    /// Those with an end in the interval and both ends in shown lanes.
    fn lines(&self) -> Vec<Value> {
        let run = &self.analysis.run;
        let mut lines = Vec::new();
        let mut push = |message: &Message| {
            let both = [message.sent, message.taken];
            if both.iter().all(|end| self.lanes.contains(&end.lane)) && lines.len() <= MOST_LINES {
                // A message leaves when its send begins, and is there when the call that takes it ends.
                let (sent, taken) = (run.begin(message.sent), run.end(message.taken));
                let [from, to] = both;
                lines.push(json!([from.lane, from.call, sent, to.lane, to.call, taken, message.length()]));
            }
        };
        for lane in self.lanes.clone() {
            let calls = self.calls(lane);
            run.messages.taken(lane, calls.clone()).iter().for_each(&mut push);
            for message in run.messages.sent(lane, calls) {
                let other = self.calls(message.taken.lane);
                if !other.contains(&message.taken.call) {
                    push(message);
                }
            }
        }
        lines
    }

    /// A byte a pixel: 255 where most messages were taken.
    fn density(&self) -> Vec<u8> {
        let run = &self.analysis.run;
        let mut counts = vec![0_u64; self.width];
        for lane in self.lanes.clone() {
            let calls = &run.lanes[lane as usize];
            let mut call = calls.before(self.from);
            let mut message = run.messages.taken_from(lane, call as u32, 0);
            for (pixel, count) in counts.iter_mut().enumerate() {
                let edge = self.edge(pixel + 1);
                call = gallop(&calls.begin, call, |&begin| begin < edge);
                let next = run.messages.taken_from(lane, call as u32, message);
                *count += (next - message) as u64;
                message = next;
            }
        }
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        counts.into_iter().map(|count| (count * 255).div_ceil(most) as u8).collect()
    }

    fn collectives(&self) -> Value {
        let run = &self.analysis.run;
        let mut ranges: Vec<(u32, Range<u32>)> = Vec::new();
        let mut count = 0;
        for (comm, members) in run.collectives.by_comm.iter().enumerate() {
            // Members of one rank are no band.
            let Some(member) = members.first().filter(|_| members.len() > 1) else { continue };
            let begin = |place: &crate::run::Place| run.begin(*place);
            let first = member.calls.partition_point(|place| run.end(*place) <= self.from);
            let last = member.calls.partition_point(|place| begin(place) < self.to).max(first);
            count += last - first;
            ranges.push((comm as u32, first as u32..last as u32));
        }
        if count > MOST_BANDS {
            return json!({"count": count});
        }
        let instances =
            ranges.into_iter().flat_map(|(comm, range)| range.map(move |nth| Instance { comm, nth }));
        let bands: Vec<Value> = instances.map(|instance| self.band(instance)).collect();
        json!({"count": count, "bands": bands})
    }

    fn band(&self, instance: Instance) -> Value {
        let run = &self.analysis.run;
        let calls = run.collectives.calls(instance).filter(|(_, place)| self.lanes.contains(&place.lane));
        let parts: Vec<Value> = calls
            .map(|(_, place)| json!([place.lane, place.call, run.begin(place), run.end(place)]))
            .collect();
        json!({"comm": instance.comm, "nth": instance.nth + 1, "parts": parts})
    }
}

//! Tables: waits, the critical path, supersteps, the process graph; and what comes next.

use super::call_details::{reference, segment};
use super::question::{Question, Wrong};
use crate::analysis::Analysis;
use crate::difference::{Difference, words};
use crate::graph::edges;
use crate::path::table;
use crate::run::{Place, Run};
use crate::sentences;
use crate::supersteps::Superstep;
use crate::text::path_row;
use serde_json::{Value, json};

const MOST_WAITS: usize = 200;
const MOST_ROWS: usize = 200;
const MOST_SEGMENTS: usize = 4000;
const MOST_EDGES: usize = 4096;
const MOST_STEPS: usize = 400;

/// The longest waits of an interval.
pub(super) fn waits(analysis: &Analysis, question: &Question) -> Result<Value, Wrong> {
    let run = &analysis.run;
    let (from, to) = question.interval()?;
    let row = |(waited, place): (i64, Place)| {
        let cause = analysis.waits.get(place).map(|wait| reference(run, wait.cause));
        json!({"waiting": reference(run, place), "waited": waited, "cause": cause})
    };
    Ok(analysis.waits.longest(run, from, to, MOST_WAITS).into_iter().map(row).collect())
}

/// The critical path in an interval: its table, and its pieces as far as they can be drawn.
pub(super) fn path(analysis: &Analysis, question: &Question) -> Result<Value, Wrong> {
    let run = &analysis.run;
    let (from, to) = question.interval()?;
    let rows = table(run, &analysis.path, from, to);
    let whole: i64 = rows.iter().map(|row| row.ns).sum();
    let shown = rows.iter().take(MOST_ROWS).map(|row| {
        let text = path_row(run, row);
        let call = row.call.map(|call| reference(run, call));
        json!({
            "rank": row.rank, "outside": row.is_outside, "text": text, "call": call, "ns": row.ns,
            "pieces": row.pieces,
        })
    });
    let shown: Vec<Value> = shown.collect();
    let first = analysis.path.partition_point(|segment| segment.to <= from);
    let last = analysis.path.partition_point(|segment| segment.from < to).max(first);
    let pieces = &analysis.path[first..last];
    let segments = (pieces.len() <= MOST_SEGMENTS).then(|| pieces.iter().map(segment).collect::<Vec<_>>());
    Ok(json!({"rows": shown, "row_count": rows.len(), "whole": whole, "segments": segments}))
}

/// Supersteps of an interval: the longest ones, and a strip for each pixel if there are many.
pub(super) fn supersteps(analysis: &Analysis, question: &Question) -> Result<Value, Wrong> {
    let run = &analysis.run;
    let (from, to) = question.interval()?;
    let steps = &analysis.supersteps;
    let first = steps.partition_point(|step| step.to <= from);
    let last = steps.partition_point(|step| step.from < to).max(first);
    let mut shown: Vec<(usize, &Superstep)> = steps[first..last].iter().enumerate().collect();
    shown.sort_by_key(|(number, step)| (std::cmp::Reverse(step.length()), *number));
    shown.truncate(MOST_STEPS);
    shown.sort_by_key(|it| it.0);
    let row = |(number, step): (usize, &Superstep)| {
        json!({
            "number": first + number + 1, "from": step.from, "to": step.to, "imbalance": step.imbalance(),
            "busiest": step.busiest, "longest_work": step.longest_work, "mean_work": step.mean_work,
            "waited": step.waited, "last": reference(run, step.last),
        })
    };
    let rows: Vec<Value> = shown.into_iter().map(row).collect();
    Ok(json!({"count": last - first, "rows": rows}))
}

/// Which ranks send to which in an interval: the pairs that waited longest and sent most.
pub(super) fn graph(analysis: &Analysis, question: &Question) -> Result<Value, Wrong> {
    let (from, to) = question.interval()?;
    let mut all: Vec<_> = edges(&analysis.run, &analysis.waits, from, to).into_iter().collect();
    let count = all.len();
    if count > MOST_EDGES {
        all.sort_by_key(|(pair, edge)| (std::cmp::Reverse((edge.waited, edge.bytes)), *pair));
        all.truncate(MOST_EDGES);
        all.sort_by_key(|it| it.0);
    }
    let row = |((from, to), edge): ((u32, u32), crate::graph::Edge)| {
        json!([from, to, edge.messages, edge.bytes, edge.waited])
    };
    let rows: Vec<Value> = all.into_iter().map(row).collect();
    Ok(json!({"count": count, "edges": rows}))
}

/// What comes after, or before, a moment: a call of a function, a superstep; or the next longest wait.
///
/// `what`: `call` with `name` (part of a function's name), and `lane` if it must be of that one; `superstep`;
/// `wait` with `rank`, the place in the list of the longest waits.
pub(super) fn next(analysis: &Analysis, question: &Question) -> Result<Value, Wrong> {
    let run = &analysis.run;
    let is_back = question.text("back") == "1";
    match question.text("what") {
        "call" => {
            let name = question.text("name").to_ascii_lowercase();
            let lanes = match question.index("lane") {
                Ok(lane) if (lane as usize) < run.lanes.len() => lane..lane + 1,
                _ => 0..run.lanes.len() as u32,
            };
            let found = find(analysis, &name, lanes, question.number("at")?, is_back);
            Ok(json!(found.map(|place| reference(run, place))))
        }
        "superstep" => {
            let (at, steps) = (question.number("at")?, &analysis.supersteps);
            let found = if is_back {
                steps.partition_point(|step| step.from < at).checked_sub(1)
            } else {
                Some(steps.partition_point(|step| step.from <= at))
            };
            let found = found.filter(|&number| number < steps.len());
            Ok(json!(found.map(|number| {
                let step = &steps[number];
                let last = reference(run, step.last);
                json!({"number": number + 1, "from": step.from, "to": step.to, "last": last})
            })))
        }
        "wait" => {
            let rank = question.index("rank")? as usize;
            let longest =
                analysis.waits.longest(run, i64::MIN, i64::MAX, rank.saturating_add(1).min(100_000));
            Ok(json!(longest.get(rank).map(|it| reference(run, it.1))))
        }
        _ => Err(Wrong::NoSuchQuestion),
    }
}

/// The first call after a moment, or the last one before it, whose function has this in its name.
fn find(
    analysis: &Analysis,
    name: &str,
    lanes: std::ops::Range<u32>,
    at: i64,
    is_back: bool,
) -> Option<Place> {
    let run = &analysis.run;
    let wanted: Vec<bool> = run.functions.iter().map(|it| it.to_ascii_lowercase().contains(name)).collect();
    let is_wanted = |place: &Place| wanted[run.shape(*place).function as usize];
    let mut best: Option<Place> = None;
    for lane in lanes {
        let calls = &run.lanes[lane as usize];
        let place = |call: usize| Place { lane, call: call as u32 };
        let found = if is_back {
            (0..calls.before(at)).rev().map(place).find(is_wanted)
        } else {
            let first = calls.begin.partition_point(|&begin| begin <= at);
            (first..calls.calls()).map(place).find(is_wanted)
        };
        let Some(found) = found else { continue };
        let is_better = |best: Place| (run.begin(found) < run.begin(best)) != is_back;
        if best.is_none_or(is_better) {
            best = Some(found);
        }
    }
    best
}

/// A row of the table of differences.
pub(super) fn difference(run: &Run, other: &Run, it: &Difference) -> Value {
    let text = |run: &Run, place: Option<Place>| place.map(|place| sentences::call(run, place));
    let what = match (it.one, it.other) {
        (Some(a), Some(b)) => words(run, a, other, b),
        (Some(_), None) => "the other run has no more calls".into(),
        _ => "this run has no more calls".into(),
    };
    json!({
        "rank": it.rank, "thread": it.thread, "same": it.same, "what": what,
        "one": it.one.map(|place| reference(run, place)), "one_text": text(run, it.one),
        "other_text": text(other, it.other),
    })
}

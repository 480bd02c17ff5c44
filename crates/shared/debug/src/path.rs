//! What a moment of a lane was waiting for: a walk back in time, from a rank to the one that it waited for.
//!
//! The walk covers each moment once. Where it stands in a call that waited, the time after the wait is the
//! call's own, and the walk goes on at the rank that ended the wait. Where it stands outside MPI, the rank
//! computed. So the segments together are as long as the walk, and none of them is waiting.

use crate::run::{Place, Run};
use crate::waits::{Wait, Waits};
use std::collections::HashMap;

/// What a rank did on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Doing {
    /// It was in this call, and did not wait.
    Call(u32),
    /// It was outside MPI, before the call with this number; which may be one more than there are.
    Outside(u32),
}

/// A piece of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The lane.
    pub lane: u32,
    /// From when, ns.
    pub from: i64,
    /// Until when, ns.
    pub to: i64,
    /// What it did.
    pub doing: Doing,
}

/// A step of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A piece of the path; those after it are earlier.
    Segment(Segment),
    /// The lane that waited, and its wait: the walk goes on where the wait was ended.
    Jump(u32, Wait),
}

/// Walks back from a moment of a lane until another one.
pub fn walk(run: &Run, waits: &Waits, lane: u32, at: i64, until: i64, mut visit: impl FnMut(Step)) {
    let (mut lane, mut at) = (lane, at);
    // Lanes that were left at this moment: clocks of hosts that differ may close a circle.
    let mut left: Vec<u32> = Vec::new();
    loop {
        let calls = &run.lanes[lane as usize];
        let end_of_walk = until.max(calls.starts);
        if at <= end_of_walk {
            return;
        }
        let mut segment = |from: i64, to: i64, doing: Doing| {
            let from = from.max(end_of_walk);
            if to > from {
                visit(Step::Segment(Segment { lane, from, to, doing }));
            }
        };
        let next = calls.before(at);
        let Some(call) = next.checked_sub(1) else {
            return segment(calls.starts, at, Doing::Outside(0));
        };
        let (begin, end) = (calls.begin[call], calls.end[call]);
        if end < at {
            segment(end, at, Doing::Outside(next as u32));
            (at, left) = (end, Vec::new());
            if at <= end_of_walk || at <= begin {
                continue;
            }
        }
        let place = Place { lane, call: call as u32 };
        let wait = waits.get(place).filter(|_| !left.contains(&lane));
        let Some(wait) = wait else {
            segment(begin, at, Doing::Call(place.call));
            (at, left) = (begin, Vec::new());
            continue;
        };
        let ended = waits.until(run, place).min(at);
        segment(ended, at, Doing::Call(place.call));
        if ended < at {
            left.clear();
        }
        if ended > end_of_walk {
            visit(Step::Jump(lane, *wait));
        }
        left.push(lane);
        (lane, at) = (wait.cause.lane, ended);
    }
}

/// The path that the run's length depends on: from its end back to its start, in the order of time.
pub fn critical_path(run: &Run, waits: &Waits) -> Vec<Segment> {
    let last = (0..run.lanes.len() as u32).max_by_key(|&lane| run.lanes[lane as usize].ends());
    let mut path = Vec::new();
    let Some(lane) = last else { return path };
    let at = run.lanes[lane as usize].ends();
    walk(run, waits, lane, at, i64::MIN, |step| {
        if let Step::Segment(segment) = step {
            path.push(segment);
        }
    });
    path.reverse();
    path
}

/// What rows are told apart by: the rank, whether it was outside MPI, function and site of the call.
type RowKey = (u32, bool, Option<(u32, u32)>);

/// A row of the critical path's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathRow {
    /// The rank.
    pub rank: u32,
    /// Whether it was outside MPI, before the call.
    pub is_outside: bool,
    /// A call like all of this row: the same function at the same place. `None`: the end of the rank.
    pub call: Option<Place>,
    /// How long, ns.
    pub ns: i64,
    /// In how many pieces.
    pub pieces: u64,
}

/// What the path consists of in an interval, the longest first.
pub fn table(run: &Run, path: &[Segment], from: i64, to: i64) -> Vec<PathRow> {
    let mut rows: HashMap<RowKey, PathRow> = HashMap::new();
    let first = path.partition_point(|segment| segment.to <= from);
    for segment in path[first..].iter().take_while(|segment| segment.from < to) {
        let (is_outside, call) = match segment.doing {
            Doing::Call(call) => (false, call),
            Doing::Outside(call) => (true, call),
        };
        let call = run.place(segment.lane, call);
        let what = call.map(|call| (run.shape(call).function, run.shape(call).site));
        let rank = run.rank(segment.lane);
        let row = rows.entry((rank, is_outside, what)).or_insert(PathRow {
            rank,
            is_outside,
            call,
            ns: 0,
            pieces: 0,
        });
        row.ns += segment.to.min(to) - segment.from.max(from);
        row.pieces += 1;
    }
    let mut rows: Vec<PathRow> = rows.into_values().collect();
    rows.sort_unstable_by_key(|row| (std::cmp::Reverse(row.ns), row.rank, row.is_outside, row.call));
    rows
}

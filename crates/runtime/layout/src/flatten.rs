//! From the runs of a map to its normal form.
//!
//! The runs are merged where one follows the other, in memory and in the order of packing. What comes out
//! depends on the order of the bytes alone, so what is made of it is the same for equal maps.

use crate::node::{Node, Part, Piece};

/// Maps with more merged runs than this keep the loops of which they were made.
pub(crate) const MOST_RUNS: usize = 1 << 16;

/// A progression of runs shorter than this is written as a list of runs: a loop would cost more than it
/// saves.
const SHORTEST_LOOP: usize = 8;

/// A run of consecutive bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) at: isize,
    pub(crate) bytes: usize,
}

/// Merges runs as they come.
#[derive(Default)]
pub(crate) struct Runs(pub(crate) Vec<Run>);

impl Runs {
    /// Adds a run. Returns false if there are too many.
    pub(crate) fn add(&mut self, at: isize, bytes: usize) -> bool {
        match self.0.last_mut() {
            Some(last) if last.at + last.bytes as isize == at => last.bytes += bytes,
            _ => self.0.push(Run { at, bytes }),
        }
        self.0.len() <= MOST_RUNS
    }
}

/// The normal form of merged runs, of which there is at least one, relative to the first one.
pub(crate) fn normal_form(runs: &[Run]) -> Node {
    let Some(period) = smallest_period(runs) else { return irregular(runs) };
    let body = normal_form(&runs[..period]);
    let count = runs.len() / period;
    let bytes = count * body.bytes();
    Node::Loop { count, stride: runs[period].at - runs[0].at, bytes, body: Box::new(body) }
}

/// The smallest number of runs of which all are a repetition, each time shifted by the same distance.
///
/// It is a period of the sequence of pairs (length, distance to the next run), except that the last run has
/// no next one. All periods of a sequence come from the failure function of Knuth, Morris and Pratt (1977).
/// Time and memory are linear.
fn smallest_period(runs: &[Run]) -> Option<usize> {
    let n = runs.len();
    let pair = |i: usize| (runs[i].bytes, runs[i + 1].at - runs[i].at);
    let pairs = n - 1;
    if pairs == 0 {
        return None;
    }
    // border[i]: length of the longest proper prefix of pairs 0..=i that is also a suffix of them.
    let mut border = vec![0_usize; pairs];
    for i in 1..pairs {
        let mut length = border[i - 1];
        while length > 0 && pair(i) != pair(length) {
            length = border[length - 1];
        }
        border[i] = length + usize::from(pair(i) == pair(length));
    }
    let mut length = border[pairs - 1];
    loop {
        let period = pairs - length;
        if period < n && n % period == 0 && runs[n - 1].bytes == runs[n - 1 - period].bytes {
            return Some(period);
        }
        if length == 0 {
            return None;
        }
        length = border[length - 1];
    }
}

/// How many runs from the first one on have the same length and the same distance.
fn progression(runs: &[Run]) -> usize {
    let [first, second, ..] = runs else { return runs.len() };
    let stride = second.at - first.at;
    let follows = |pair: &&[Run]| pair[1].bytes == first.bytes && pair[1].at - pair[0].at == stride;
    1 + runs.windows(2).take_while(follows).count()
}

/// Runs that are no repetition: progressions and lists, in order.
fn irregular(runs: &[Run]) -> Node {
    let mut parts = Vec::new();
    let (mut listed, mut next) = (0, 0);
    while next < runs.len() {
        let length = progression(&runs[next..]);
        if length >= SHORTEST_LOOP {
            parts.extend((listed < next).then(|| (runs[listed].at, list(&runs[listed..next]))));
            parts.push((runs[next].at, normal_form(&runs[next..next + length])));
            listed = next + length;
            next = listed;
        } else {
            // The last run may be the first one of the next progression.
            next += if length > 1 { length - 1 } else { 1 };
        }
    }
    parts.extend((listed < runs.len()).then(|| (runs[listed].at, list(&runs[listed..]))));
    sequence(parts)
}

/// Nodes at their displacements, one after the other, relative to the first one. There is at least one.
pub(crate) fn sequence(mut parts: Vec<(isize, Node)>) -> Node {
    if parts.len() == 1 {
        return parts.remove(0).1;
    }
    let first = parts[0].0;
    let mut bytes = 0;
    let place = |(at, node): (isize, Node)| {
        let start = bytes;
        bytes += node.bytes();
        Part { at: at - first, start, node }
    };
    let parts = parts.into_iter().map(place).collect();
    Node::Sequence { bytes, parts }
}

/// Runs without any order.
fn list(runs: &[Run]) -> Node {
    let first = runs[0];
    if runs.len() == 1 {
        return Node::Run(first.bytes);
    }
    if runs.iter().all(|run| run.bytes == first.bytes) {
        let offsets = runs.iter().map(|run| run.at - first.at).collect();
        return Node::List { run: first.bytes, offsets };
    }
    let mut bytes = 0;
    let place = |run: &Run| {
        let start = bytes;
        bytes += run.bytes;
        Piece { at: run.at - first.at, start }
    };
    let pieces = runs.iter().map(place).collect();
    Node::Pieces { bytes, pieces }
}

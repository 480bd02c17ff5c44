//! A history of calls and answers, and the search for an order of the calls that explains all answers.

use evenkeel_primitives::Comparison;
use std::collections::HashSet;
use std::time::Duration;

/// A call. Words are numbered; each node has its own copy of each.
#[derive(Clone, Debug)]
pub enum Call {
    Xfer { set: Vec<usize>, word: usize, value: u64 },
    Compare { set: Vec<usize>, word: usize, comparison: Comparison, value: u64, write: Option<(usize, u64)> },
    Read { node: usize, word: usize },
}

/// The answer to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Done,
    Held(bool),
    Value(u64),
    /// It was carried out at some time after the call, or never will be.
    Unknown,
    /// It was never carried out.
    Undone,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub called: Duration,
    /// None: never returned.
    pub returned: Option<Duration>,
    pub call: Call,
    pub answer: Answer,
}

/// All words of all nodes.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Memories {
    words: Vec<Vec<u64>>,
}

impl Memories {
    /// What the words are after a call that had a certain answer; None if it cannot have had that answer.
    fn after(&self, call: &Call, answer: Answer) -> Option<Memories> {
        let mut next = self.clone();
        let actual = match call {
            Call::Xfer { set, word, value } => {
                set.iter().for_each(|&node| next.words[node][*word] = *value);
                Answer::Done
            }
            Call::Compare { set, word, comparison, value, write } => {
                let holds = set.iter().all(|&node| comparison.holds(self.words[node][*word], *value));
                if let (true, Some((word, value))) = (holds, write) {
                    set.iter().for_each(|&node| next.words[node][*word] = *value);
                }
                Answer::Held(holds)
            }
            Call::Read { node, word } => Answer::Value(self.words[*node][*word]),
        };
        (answer == Answer::Unknown || answer == actual).then_some(next)
    }
}

/// An order of all calls that explains every answer and in which no call comes before one that had
/// returned when it was made (Herlihy and Wing 1990); None if there is no such order. The search is that
/// of Wing and Gong (1993), which remembers states that led nowhere (Lowe 2017).
pub fn explanation(history: &[Entry], nodes: usize, words: usize) -> Option<Vec<usize>> {
    // A call that changed nothing and had no answer explains nothing. Calls that may never have been
    // carried out are tried last.
    let without_effect = |call: &Call| matches!(call, Call::Read { .. } | Call::Compare { write: None, .. });
    let matters = |entry: &&Entry| {
        entry.answer != Answer::Undone && !(entry.answer == Answer::Unknown && without_effect(&entry.call))
    };
    let mut entries: Vec<&Entry> = history.iter().filter(matters).collect();
    entries.sort_by_key(|entry| (entry.answer == Answer::Unknown, entry.returned));
    let mut search = Search { entries, seen: HashSet::new() };
    let mut order = Vec::new();
    let done = vec![false; search.entries.len()];
    search.extend(Memories { words: vec![vec![0; words]; nodes] }, done, &mut order).then_some(order)
}

struct Search<'a> {
    entries: Vec<&'a Entry>,
    seen: HashSet<(Vec<bool>, Memories)>,
}

impl Search<'_> {
    /// Extends the order to all calls that must be in it, if that is possible.
    fn extend(&mut self, state: Memories, done: Vec<bool>, order: &mut Vec<usize>) -> bool {
        let open = |index: &usize| !done[*index];
        let must = |index: &usize| self.entries[*index].answer != Answer::Unknown;
        let left: Vec<usize> = (0..self.entries.len()).filter(open).collect();
        // The earliest return among the calls that are left: no call that was made later can come next.
        let Some(earliest) = left
            .iter()
            .copied()
            .filter(must)
            .map(|index| self.entries[index].returned.expect("an answer has a time"))
            .min()
        else {
            return true;
        };
        if !self.seen.insert((done.clone(), state.clone())) {
            return false;
        }
        for index in left {
            let entry = self.entries[index];
            if entry.called > earliest {
                continue;
            }
            if let Some(next) = state.after(&entry.call, entry.answer) {
                let mut done = done.clone();
                done[index] = true;
                order.push(index);
                if self.extend(next, done, order) {
                    return true;
                }
                order.pop();
            }
        }
        false
    }
}

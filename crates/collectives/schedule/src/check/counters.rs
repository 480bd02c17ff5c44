//! Counters, with what is needed to see that additions of different epochs are not confused.

use super::clock::{VectorClock, learn};
use std::collections::VecDeque;

/// What was added in one use of a counter.
#[derive(Clone, Debug)]
struct CounterUse {
    number: u64,
    added: u32,
    /// What the ranks that added knew, jointly.
    knows: VectorClock,
    depth: u32,
    /// How many additions the waits of this use were for. None until one of them is over.
    of: Option<u32>,
}

/// A counter and its latest uses.
#[derive(Clone, Debug, Default)]
pub struct CounterHistory {
    /// The value that the owner sees, over all uses.
    pub value: u64,
    uses: VecDeque<CounterUse>,
}

/// Why an addition or a wait breaks the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterError {
    /// An addition for the next use may precede additions of this one.
    Early,
    /// The counter is added to more often than this.
    TooOften(u32),
}

impl CounterHistory {
    /// A rank that knows `knows` sends an addition for use `number`.
    pub fn announce(&mut self, number: u64, knows: &VectorClock, depth: u32) -> Result<(), CounterError> {
        if self.uses.back().is_some_and(|u| u.number > number) {
            return Err(CounterError::Early);
        }
        for earlier in self.uses.iter().filter(|u| u.number < number) {
            // Each addition is an event of its rank that the joint knowledge of the use contains.
            if earlier.knows.iter().zip(knows).any(|(needed, known)| needed > known) {
                return Err(CounterError::Early);
            }
        }
        match self.uses.back_mut().filter(|u| u.number == number) {
            Some(last) => {
                if let Some(of) = last.of.filter(|of| last.added >= *of) {
                    return Err(CounterError::TooOften(of));
                }
                last.added += 1;
                last.depth = last.depth.max(depth);
                learn(&mut last.knows, knows);
            }
            None => {
                self.uses.push_back(CounterUse { number, added: 1, knows: knows.clone(), depth, of: None });
                if self.uses.len() > 2 {
                    self.uses.pop_front();
                }
            }
        }
        Ok(())
    }

    /// A wait for `of` additions in use `number` is over. Returns what those additions knew.
    pub fn take(&mut self, number: u64, of: u32) -> Result<Option<(&VectorClock, u32)>, CounterError> {
        let Some(used) = self.uses.iter_mut().find(|u| u.number == number) else { return Ok(None) };
        used.of = Some(of);
        if used.added > of { Err(CounterError::TooOften(of)) } else { Ok(Some((&used.knows, used.depth))) }
    }

    /// What the additions of use `number` so far knew, jointly.
    pub fn so_far(&self, number: u64) -> Option<(&VectorClock, u32)> {
        self.uses.iter().find(|u| u.number == number).map(|u| (&u.knows, u.depth))
    }
}

//! Flags and counters, with what is needed to see that none is taken for another.

use super::memory::{Clock, Time};
use crate::step::{Place, Rank};
use std::collections::VecDeque;

/// One raise of a flag, from when it is sent off.
#[derive(Clone, Debug)]
pub struct Raise {
    pub value: u64,
    pub by: Rank,
    /// What the raiser knew.
    pub knows: Clock,
    /// Messages one after the other that led to it.
    pub depth: u32,
    /// What came with it.
    pub data: Option<(Place, u32)>,
    /// When the owner waited for it.
    pub taken: Option<Time>,
}

#[derive(Clone, Debug, Default)]
pub struct FlagHistory {
    /// As the owner sees it.
    pub value: u64,
    /// Raises that no wait is past yet, and the last of those before; rising.
    raises: VecDeque<Raise>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagError {
    Twice,
    Overtaking,
    Overrun,
}

impl FlagHistory {
    /// Somebody sends a raise off. `owner` is the flag's.
    pub fn announce(&mut self, owner: Rank, raise: Raise) -> Result<(), FlagError> {
        if let Some(last) = self.raises.back() {
            if raise.value == last.value {
                return Err(FlagError::Twice);
            }
            if raise.value < last.value || raise.knows[last.by.0 as usize] < last.knows[last.by.0 as usize] {
                return Err(FlagError::Overtaking);
            }
            let known = raise.knows[owner.0 as usize];
            if last.data.is_some() && last.taken.is_none_or(|taken| taken > known) {
                return Err(FlagError::Overrun);
            }
        }
        self.raises.push_back(raise);
        Ok(())
    }

    /// The owner's wait for `value` is over: what it may rely on is the raise that the wait was for, even
    /// if a later one has arrived too. Nothing for value 0, which is there from the beginning.
    pub fn take(&mut self, value: u64, now: Time) -> Option<&Raise> {
        while self.raises.len() > 1 && self.raises[0].value < value {
            self.raises.pop_front();
        }
        let raise = self.raises.front_mut().filter(|r| r.value >= value && value > 0)?;
        raise.taken.get_or_insert(now);
        Some(raise)
    }
}

/// What was added in one use of a counter.
#[derive(Clone, Debug)]
struct Use {
    number: u64,
    added: u32,
    knows: Clock,
    depth: u32,
    /// How many the waits of this use were for, once one was over.
    of: Option<u32>,
}

#[derive(Clone, Debug, Default)]
pub struct CounterHistory {
    /// As the owner sees it, over all uses.
    pub value: u64,
    uses: VecDeque<Use>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterError {
    Early,
    /// More often than this.
    TooOften(u32),
}

impl CounterHistory {
    /// Somebody who knows `knows` sends an addition for the `number`-th use off.
    pub fn announce(&mut self, number: u64, knows: &Clock, depth: u32) -> Result<(), CounterError> {
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
                super::memory::learn(&mut last.knows, knows);
            }
            None => {
                self.uses.push_back(Use { number, added: 1, knows: knows.clone(), depth, of: None });
                if self.uses.len() > 2 {
                    self.uses.pop_front();
                }
            }
        }
        Ok(())
    }

    /// A wait for `of` additions in the `number`-th use is over.
    pub fn take(&mut self, number: u64, of: u32) -> Result<Option<(&Clock, u32)>, CounterError> {
        let Some(used) = self.uses.iter_mut().find(|u| u.number == number) else { return Ok(None) };
        used.of = Some(of);
        if used.added > of { Err(CounterError::TooOften(of)) } else { Ok(Some((&used.knows, used.depth))) }
    }

    /// What the additions of the `number`-th use so far knew, jointly.
    pub fn so_far(&self, number: u64) -> Option<(&Clock, u32)> {
        self.uses.iter().find(|u| u.number == number).map(|u| (&u.knows, u.depth))
    }
}

//! Flags, with what is needed to see that no raise is mistaken for another.

use super::clock::{EventTime, VectorClock};
use crate::step::{Place, Rank};
use std::collections::VecDeque;

/// One raise of a flag, from the moment it is sent.
#[derive(Clone, Debug)]
pub struct Raise {
    /// The value to which the flag is raised.
    pub value: u64,
    /// The rank that raises it.
    pub by: Rank,
    /// What that rank knew.
    pub knows: VectorClock,
    /// The length of the longest chain of messages that led to it.
    pub depth: u32,
    /// The elements that arrived with it, and how many.
    pub data: Option<(Place, u32)>,
    /// When the owner's wait for it was over.
    pub taken: Option<EventTime>,
}

/// A flag and its latest raises.
#[derive(Clone, Debug, Default)]
pub struct FlagHistory {
    /// The value that the owner sees.
    pub value: u64,
    /// The raises that no wait is past yet, and the last one before them; in rising order.
    raises: VecDeque<Raise>,
}

/// Why a raise breaks the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlagError {
    /// The flag is raised to the same value a second time.
    Twice,
    /// An earlier raise may still be on its way.
    Overtaking,
    /// The owner may not have taken the data of the previous raise.
    Overrun,
}

impl FlagHistory {
    /// A rank sends a raise of a flag that belongs to `owner`.
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

    /// The owner's wait for `value` is over. The owner may rely on the raise that the wait was for, even
    /// if a later one has arrived too. None for value 0, which every flag has from the beginning.
    pub fn take(&mut self, value: u64, now: EventTime) -> Option<&Raise> {
        while self.raises.len() > 1 && self.raises[0].value < value {
            self.raises.pop_front();
        }
        let raise = self.raises.front_mut().filter(|r| r.value >= value && value > 0)?;
        raise.taken.get_or_insert(now);
        Some(raise)
    }
}

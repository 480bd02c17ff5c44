//! The steps of one round, with methods that read like the algorithm that appends them.

use crate::step::{Counter, Flag, Place, Rank, RankSet, Step};

/// A list of steps that is filled again and again. It allocates nothing once it has grown large enough.
#[derive(Clone, Debug, Default)]
pub struct Round {
    /// The steps, in the order in which the rank takes them.
    pub steps: Vec<Step>,
}

/// Each method appends one step.
impl Round {
    /// An empty list.
    pub fn new() -> Round {
        Round::default()
    }
    /// Appends any step.
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }
    /// [`Step::Put`] for a flag that is raised once an epoch.
    pub fn put(&mut self, to: Rank, flag: Flag) {
        self.push(Step::Put { to, flag, turn: 1 });
    }
    /// [`Step::Put`].
    pub fn put_turn(&mut self, to: Rank, flag: Flag, turn: u16) {
        self.push(Step::Put { to, flag, turn });
    }
    /// [`Step::Multicast`]; nothing for an empty set.
    pub fn multicast(&mut self, to: RankSet, flag: Flag) {
        if to.count > 0 {
            self.push(Step::Multicast { to, flag, turn: 1 });
        }
    }
    /// [`Step::Wait`] for a flag that is raised once an epoch.
    pub fn wait(&mut self, flag: Flag) {
        self.push(Step::Wait { flag, turn: 1 });
    }
    /// [`Step::Wait`].
    pub fn wait_turn(&mut self, flag: Flag, turn: u16) {
        self.push(Step::Wait { flag, turn });
    }
    /// Waits for the value that the bank's previous use gave the flag: an acknowledgement.
    pub fn wait_previous(&mut self, flag: Flag) {
        self.push(Step::Wait { flag, turn: 0 });
    }
    /// [`Step::Send`] with a flag that is raised once an epoch.
    pub fn send(&mut self, to: Rank, flag: Flag, from: Place, at: Place, length: u32) {
        self.push(Step::Send { to, flag, turn: 1, is_repeat: false, from, at, length });
    }
    /// [`Step::Share`]; nothing for no elements.
    pub fn share(&mut self, from: Place, at: Place, length: u32) {
        if length > 0 {
            self.push(Step::Share { from, at, length });
        }
    }
    /// [`Step::Add`].
    pub fn add(&mut self, at: Rank, counter: Counter) {
        self.push(Step::Add { at, counter });
    }
    /// [`Step::Count`].
    pub fn count(&mut self, at: Rank, counter: Counter, of: u32, otherwise: u32) {
        self.push(Step::Count { at, counter, of, otherwise });
    }
    /// [`Step::AwaitCount`]; nothing if no rank adds to the counter.
    pub fn await_count(&mut self, counter: Counter, of: u32) {
        if of > 0 {
            self.push(Step::AwaitCount { counter, of, previous: false });
        }
    }
    /// Waits for the additions of the bank's previous use; nothing if no rank adds to the counter.
    pub fn await_previous_count(&mut self, counter: Counter, of: u32) {
        if of > 0 {
            self.push(Step::AwaitCount { counter, of, previous: true });
        }
    }
    /// [`Step::Combine`]; nothing for no elements.
    pub fn combine(&mut self, into: Place, first: Place, second: Place, length: u32) {
        if length > 0 {
            self.push(Step::Combine { into, first, second, length });
        }
    }
    /// [`Step::Copy`]; nothing for no elements, or onto itself.
    pub fn copy(&mut self, from: Place, into: Place, length: u32) {
        if length > 0 && from != into {
            self.push(Step::Copy { from, into, length });
        }
    }
}

//! Where an algorithm puts a round's steps, in words that read like the algorithm.

use crate::step::{Counter, Flag, Place, Rank, RankSet, Step};

/// A list of steps that is filled again and again; nothing is allocated once it has grown.
#[derive(Clone, Debug, Default)]
pub struct Round {
    pub steps: Vec<Step>,
}

impl Round {
    pub fn new() -> Round {
        Round::default()
    }
    pub fn push(&mut self, step: Step) {
        self.steps.push(step);
    }
    pub fn put(&mut self, to: Rank, flag: Flag) {
        self.push(Step::Put { to, flag, turn: 1 });
    }
    pub fn put_turn(&mut self, to: Rank, flag: Flag, turn: u16) {
        self.push(Step::Put { to, flag, turn });
    }
    /// Nothing for an empty set.
    pub fn multicast(&mut self, to: RankSet, flag: Flag) {
        if to.count > 0 {
            self.push(Step::Multicast { to, flag, turn: 1 });
        }
    }
    pub fn wait(&mut self, flag: Flag) {
        self.push(Step::Wait { flag, turn: 1 });
    }
    pub fn wait_turn(&mut self, flag: Flag, turn: u16) {
        self.push(Step::Wait { flag, turn });
    }
    /// Waits until the flag has reached what the bank's previous use raised it to: an acknowledgement.
    pub fn wait_previous(&mut self, flag: Flag) {
        self.push(Step::Wait { flag, turn: 0 });
    }
    pub fn send(&mut self, to: Rank, flag: Flag, from: Place, at: Place, length: u32) {
        self.push(Step::Send { to, flag, turn: 1, is_repeat: false, from, at, length });
    }
    pub fn share(&mut self, from: Place, at: Place, length: u32) {
        if length > 0 {
            self.push(Step::Share { from, at, length });
        }
    }
    pub fn add(&mut self, at: Rank, counter: Counter) {
        self.push(Step::Add { at, counter });
    }
    pub fn count(&mut self, at: Rank, counter: Counter, of: u32, otherwise: u32) {
        self.push(Step::Count { at, counter, of, otherwise });
    }
    /// Nothing if nobody counts.
    pub fn await_count(&mut self, counter: Counter, of: u32) {
        if of > 0 {
            self.push(Step::AwaitCount { counter, of, previous: false });
        }
    }
    /// Waits for what the bank's previous use has counted; nothing if nobody counts.
    pub fn await_previous_count(&mut self, counter: Counter, of: u32) {
        if of > 0 {
            self.push(Step::AwaitCount { counter, of, previous: true });
        }
    }
    /// Nothing for no elements.
    pub fn combine(&mut self, into: Place, first: Place, second: Place, length: u32) {
        if length > 0 {
            self.push(Step::Combine { into, first, second, length });
        }
    }
    /// Nothing for no elements.
    pub fn copy(&mut self, from: Place, into: Place, length: u32) {
        if length > 0 && from != into {
            self.push(Step::Copy { from, into, length });
        }
    }
}

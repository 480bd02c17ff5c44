//! Where an algorithm puts a round's steps, in words that read like the algorithm.

use crate::step::{Counter, Place, Rank, RankSet, Slot, Step};

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
    pub fn put(&mut self, to: Rank, slot: Slot) {
        self.push(Step::Put { to, slot, turn: 1 });
    }
    pub fn put_turn(&mut self, to: Rank, slot: Slot, turn: u16) {
        self.push(Step::Put { to, slot, turn });
    }
    /// Nothing for an empty set.
    pub fn multicast(&mut self, to: RankSet, slot: Slot) {
        if to.count > 0 {
            self.push(Step::Multicast { to, slot, turn: 1 });
        }
    }
    pub fn wait(&mut self, slot: Slot) {
        self.push(Step::Wait { slot, turn: 1 });
    }
    pub fn wait_turn(&mut self, slot: Slot, turn: u16) {
        self.push(Step::Wait { slot, turn });
    }
    /// Waits until the flag has reached what the bank's previous use raised it to: an acknowledgement.
    pub fn wait_previous(&mut self, slot: Slot) {
        self.push(Step::Wait { slot, turn: 0 });
    }
    pub fn send(&mut self, to: Rank, slot: Slot, from: Place, at: Place, length: u32) {
        self.push(Step::Send { to, slot, turn: 1, again: false, from, at, length });
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

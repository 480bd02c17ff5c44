//! The flags and counters of all ranks.

use evenkeel_schedule::{Counter, Flag, Rank, Schedule};

/// The flags and counters of all ranks.
pub struct SharedMemory<'a> {
    pub schedule: &'a Schedule,
    flags: Vec<u64>,
    counters: Vec<u64>,
    /// Messages so far: raises of flags and additions to counters. A raise for a set of ranks is one
    /// message.
    pub messages: u64,
}

impl SharedMemory<'_> {
    /// All flags and counters are 0.
    pub fn new(schedule: &Schedule) -> SharedMemory<'_> {
        let words = |each: u32| {
            vec![0; schedule.problem.ranks as usize * usize::from(schedule.resources.banks) * each as usize]
        };
        SharedMemory {
            schedule,
            flags: words(schedule.resources.flags),
            counters: words(schedule.resources.counters),
            messages: 0,
        }
    }

    fn index(&self, rank: Rank, bank: usize, each: u32, index: u32) -> usize {
        let banks = usize::from(self.schedule.resources.banks);
        (rank.0 as usize * banks + bank) * each as usize + index as usize
    }

    /// The value of a flag.
    pub fn flag(&self, rank: Rank, flag: Flag, bank: usize) -> u64 {
        self.flags[self.index(rank, bank, self.schedule.resources.flags, flag.0)]
    }

    /// The value of a counter.
    pub fn counter(&self, rank: Rank, counter: Counter, bank: usize) -> u64 {
        self.counters[self.index(rank, bank, self.schedule.resources.counters, counter.0)]
    }

    /// Raises a flag to a value, unless it is higher.
    pub fn raise(&mut self, to: Rank, flag: Flag, bank: usize, value: u64) {
        let index = self.index(to, bank, self.schedule.resources.flags, flag.0);
        self.flags[index] = self.flags[index].max(value);
    }

    /// Adds one to a counter and returns its new value.
    pub fn add(&mut self, at: Rank, counter: Counter, bank: usize) -> u64 {
        let index = self.index(at, bank, self.schedule.resources.counters, counter.0);
        self.messages += 1;
        self.counters[index] += 1;
        self.counters[index]
    }
}

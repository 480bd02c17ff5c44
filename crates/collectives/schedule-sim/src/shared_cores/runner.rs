//! A rank on its way through its calls, and the words that ranks share.

use crate::random::{Purpose, Span, sequence};
use crate::time::VirtualTime;
use evenkeel_random::Random;
use evenkeel_schedule::{Rank, Schedule, Step, flag_value};

/// Flags and counters of all ranks.
pub struct Memory<'a> {
    schedule: &'a Schedule,
    flags: Vec<u64>,
    counters: Vec<u64>,
    /// Flags raised and counters added to; what is raised for a set of ranks is one.
    pub messages: u64,
}

impl Memory<'_> {
    pub fn new(schedule: &Schedule) -> Memory<'_> {
        let words = |each: u32| {
            vec![0; schedule.problem.ranks as usize * usize::from(schedule.resources.banks) * each as usize]
        };
        Memory {
            schedule,
            flags: words(schedule.resources.flags),
            counters: words(schedule.resources.counters),
            messages: 0,
        }
    }

    fn flag(&self, rank: Rank, flag: u32, bank: usize) -> usize {
        let resources = &self.schedule.resources;
        ((rank.0 as usize * usize::from(resources.banks)) + bank) * resources.flags as usize + flag as usize
    }

    fn counter(&self, rank: Rank, counter: u32, bank: usize) -> usize {
        let resources = &self.schedule.resources;
        ((rank.0 as usize * usize::from(resources.banks)) + bank) * resources.counters as usize
            + counter as usize
    }

    fn raise(&mut self, to: Rank, flag: u32, bank: usize, value: u64) {
        let flag = self.flag(to, flag, bank);
        self.flags[flag] = self.flags[flag].max(value);
    }

    fn add(&mut self, at: Rank, counter: u32, bank: usize) -> u64 {
        let counter = self.counter(at, counter, bank);
        self.messages += 1;
        self.counters[counter] += 1;
        self.counters[counter]
    }
}

/// What a rank does besides raising flags and waiting for them.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Before each call.
    pub compute: Span,
    /// Moving or combining an element, in picoseconds.
    pub per_element_ps: f64,
}

/// Where a rank has got to.
pub enum Stop {
    /// It waits; whether it got anywhere before that.
    Waits {
        moved: bool,
    },
    /// It needs its core for so long before it can go on.
    Works(VirtualTime),
    /// It has entered a call.
    Enters(u64),
    /// It has left a call.
    Leaves(u64),
    Over,
}

/// How far a rank has come.
pub struct Runner {
    me: Rank,
    program: Vec<Step>,
    /// Where each round begins in it.
    begins: Vec<usize>,
    at: usize,
    /// The call, counted from 1, and whether the rank is in it or still before it.
    epoch: u64,
    inside: bool,
    /// Whether the work of this step has been done.
    worked: bool,
    work: Work,
    random: Random,
}

impl Runner {
    pub fn new(schedule: &Schedule, me: Rank, work: Work, seed: u64) -> Runner {
        let program = schedule.program(me);
        let begins =
            (0..=schedule.rounds()).map(|round| program.partition_point(|(of, _)| *of < round)).collect();
        let program = program.into_iter().map(|(_, step)| step).collect();
        Runner {
            me,
            program,
            begins,
            at: 0,
            epoch: 1,
            inside: false,
            worked: false,
            work,
            random: sequence(seed, me.0, Purpose::Work),
        }
    }

    /// Whether it is in a call.
    pub fn is_inside(&self) -> bool {
        self.inside
    }

    fn work_before(&mut self, step: Option<Step>) -> VirtualTime {
        match step {
            None => self.work.compute.draw(&mut self.random),
            Some(
                Step::Send { length, .. }
                | Step::Share { length, .. }
                | Step::Combine { length, .. }
                | Step::Copy { length, .. },
            ) => VirtualTime::from_ps((f64::from(length) * self.work.per_element_ps).round() as u64),
            Some(_) => VirtualTime::ZERO,
        }
    }

    /// Whether there is work to be done first.
    fn must_work(&mut self, step: Option<Step>) -> Option<VirtualTime> {
        let length = if self.worked { VirtualTime::ZERO } else { self.work_before(step) };
        self.worked = length > VirtualTime::ZERO;
        Some(length).filter(|_| self.worked)
    }

    /// Goes on through so many calls as far as it can, or until there is something to be told.
    pub fn go(&mut self, calls: u64, memory: &mut Memory) -> Stop {
        if self.epoch > calls {
            return Stop::Over;
        }
        if !self.inside {
            if let Some(length) = self.must_work(None) {
                return Stop::Works(length);
            }
            self.inside = true;
            return Stop::Enters(self.epoch);
        }
        let mut moved = false;
        while let Some(step) = self.program.get(self.at).copied() {
            if let Some(length) = self.must_work(Some(step)) {
                return Stop::Works(length);
            }
            if !self.take(step, memory) {
                return Stop::Waits { moved };
            }
            moved = true;
        }
        (self.epoch, self.at, self.inside) = (self.epoch + 1, 0, false);
        Stop::Leaves(self.epoch - 1)
    }

    /// Takes a step; false if it has to be waited for.
    fn take(&mut self, step: Step, memory: &mut Memory) -> bool {
        let (turns, (bank, uses)) = (memory.schedule.resources.turns, memory.schedule.bank(self.epoch));
        let mut next = self.at + 1;
        match step {
            Step::Put { to, flag, turn } | Step::Send { to, flag, turn, .. } => {
                memory.messages += 1;
                memory.raise(to, flag.0, bank, flag_value(uses, turns, turn));
            }
            Step::Multicast { to, flag, turn } => {
                memory.messages += 1;
                to.iter().for_each(|to| memory.raise(to, flag.0, bank, flag_value(uses, turns, turn)));
            }
            Step::Wait { flag, turn } => {
                if memory.flags[memory.flag(self.me, flag.0, bank)] < flag_value(uses, turns, turn) {
                    return false;
                }
            }
            Step::Add { at, counter } => _ = memory.add(at, counter.0, bank),
            Step::Count { at, counter, of, otherwise } => {
                if memory.add(at, counter.0, bank) != uses * u64::from(of) {
                    next = self.begins[otherwise as usize];
                }
            }
            Step::AwaitCount { counter, of, previous } => {
                if memory.counters[memory.counter(self.me, counter.0, bank)]
                    < (uses - u64::from(previous)) * u64::from(of)
                {
                    return false;
                }
            }
            Step::Share { .. } | Step::Combine { .. } | Step::Copy { .. } => {}
        }
        self.at = next;
        true
    }
}

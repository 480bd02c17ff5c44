//! A rank on its way through its calls.

use super::memory::SharedMemory;
use crate::random::{RandomStream, stream};
use crate::span::Span;
use crate::time::VirtualTime;
use evenkeel_random::Random;
use evenkeel_schedule::{Rank, Schedule, Step, flag_value};

/// The work of a rank.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// What it computes before each call.
    pub compute: Span,
    /// What moving or combining an element takes, in picoseconds.
    pub per_element_ps: f64,
}

/// Why a rank does not continue by itself.
pub enum Pause {
    /// It waits for a flag or a counter.
    Waits {
        /// Whether it has taken a step before that.
        moved: bool,
    },
    /// It needs its core for so long before it can continue.
    Works(VirtualTime),
    /// It has entered this call.
    Entered(u64),
    /// It has left this call.
    Left(u64),
    /// It has left its last call.
    Done,
}

/// How far a rank has come.
pub struct RankProgress {
    me: Rank,
    program: Vec<Step>,
    /// Where each round begins in `program`.
    begins: Vec<usize>,
    at: usize,
    /// The call, counted from 1.
    epoch: u64,
    inside: bool,
    /// Whether the work before the next step has been done.
    worked: bool,
    work: Work,
    random: Random,
}

impl RankProgress {
    /// A rank before its first call.
    pub fn new(schedule: &Schedule, me: Rank, work: Work, seed: u64) -> RankProgress {
        let program = schedule.program(me);
        let begins =
            (0..=schedule.rounds()).map(|round| program.partition_point(|(of, _)| *of < round)).collect();
        let program = program.into_iter().map(|(_, step)| step).collect();
        RankProgress {
            me,
            program,
            begins,
            at: 0,
            epoch: 1,
            inside: false,
            worked: false,
            work,
            random: stream(seed, me.0, RandomStream::Work),
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

    /// The work to do before a step, or before the next call. None if it is done.
    fn must_work(&mut self, step: Option<Step>) -> Option<VirtualTime> {
        let length = if self.worked { VirtualTime::ZERO } else { self.work_before(step) };
        self.worked = length > VirtualTime::ZERO;
        Some(length).filter(|_| self.worked)
    }

    /// Continues through `calls` calls as far as possible, or until there is something to report.
    pub fn advance(&mut self, calls: u64, memory: &mut SharedMemory) -> Pause {
        if self.epoch > calls {
            return Pause::Done;
        }
        if !self.inside {
            if let Some(length) = self.must_work(None) {
                return Pause::Works(length);
            }
            self.inside = true;
            return Pause::Entered(self.epoch);
        }
        let mut moved = false;
        while let Some(step) = self.program.get(self.at).copied() {
            if let Some(length) = self.must_work(Some(step)) {
                return Pause::Works(length);
            }
            if !self.take_step(step, memory) {
                return Pause::Waits { moved };
            }
            moved = true;
        }
        (self.epoch, self.at, self.inside) = (self.epoch + 1, 0, false);
        Pause::Left(self.epoch - 1)
    }

    /// Takes a step. Returns false if the rank has to wait.
    fn take_step(&mut self, step: Step, memory: &mut SharedMemory) -> bool {
        let turns = memory.schedule.resources.turns;
        let (bank, uses) = memory.schedule.bank(self.epoch);
        let mut next = self.at + 1;
        match step {
            Step::Put { to, flag, turn } | Step::Send { to, flag, turn, .. } => {
                memory.messages += 1;
                memory.raise(to, flag, bank, flag_value(uses, turns, turn));
            }
            Step::Multicast { to, flag, turn } => {
                memory.messages += 1;
                to.iter().for_each(|to| memory.raise(to, flag, bank, flag_value(uses, turns, turn)));
            }
            Step::Wait { flag, turn } => {
                if memory.flag(self.me, flag, bank) < flag_value(uses, turns, turn) {
                    return false;
                }
            }
            Step::Add { at, counter } => _ = memory.add(at, counter, bank),
            Step::Count { at, counter, of, otherwise } => {
                if memory.add(at, counter, bank) != uses * u64::from(of) {
                    next = self.begins[otherwise as usize];
                }
            }
            Step::AwaitCount { counter, of, previous } => {
                let goal = (uses - u64::from(previous)) * u64::from(of);
                if memory.counter(self.me, counter, bank) < goal {
                    return false;
                }
            }
            Step::Share { .. } | Step::Combine { .. } | Step::Copy { .. } => {}
        }
        self.at = next;
        true
    }
}

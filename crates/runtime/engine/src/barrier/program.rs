//! A rank's part of a schedule, compiled to a list of operations on words of the flags' block.
//!
//! It is compiled once per communicator, by a pure function of the schedule. A barrier then need not
//! compute where each word lies, which of several raises in a row is the last, which ranks a raise may have
//! to wake, and which flags share one word. A flag that one rank raises for a whole set (a multicast) is
//! one word that all ranks of the set read.

use super::flag_layout::FlagLayout;
use evenkeel_schedule::{Rank, Round, Schedule, Step};
use evenkeel_segment::Flags;
use evenkeel_segment::eventcount::Futex;
use evenkeel_segment::sync::Words;

/// An operation of a rank. `at` is the offset of a word; `wakes` is an index into the lists of ranks to wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    /// Raise a flag. Another raise follows.
    Raise { at: u32 },
    /// Raise a flag, and wake the ranks that sleep until this flag, or one raised just before it, is raised.
    RaiseLast { at: u32, wakes: u32 },
    /// Raise and wake as `RaiseLast`, then wait until the flag at `until` has reached the epoch. This is a
    /// round of most barriers.
    Exchange { at: u32, wakes: u32, until: u32 },
    /// Add one to a counter, and wake ranks as `RaiseLast` does.
    Add { at: u32, wakes: u32 },
    /// Wait until a flag has reached the epoch, or a counter `of` times the epoch.
    Await { at: u32, of: u32 },
    /// Add one to a counter. The rank that makes it `of` times the epoch continues with the next operation,
    /// the others with operation `otherwise`.
    Count { at: u32, of: u32, otherwise: u32 },
}

/// One rank's part of a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierProgram {
    ops: Vec<Op>,
    /// Lists of ranks to wake.
    wakes: Vec<Vec<u32>>,
}

/// A program that is being compiled.
#[derive(Default)]
struct Writer {
    ops: Vec<Op>,
    wakes: Vec<Vec<u32>>,
    /// The ranks whose flags have been raised since the last wait.
    raised_for: Vec<u32>,
    /// Only operations after this one may be joined with others: a jump leads to this one.
    joinable: usize,
}

impl Writer {
    fn raise(&mut self, at: u32, ranks: impl Iterator<Item = Rank>) {
        self.ops.push(Op::Raise { at });
        self.raised_for.extend(ranks.map(|rank| rank.0));
    }

    /// Adds the list of the ranks to wake, and returns its index.
    fn wakes(&mut self) -> u32 {
        let mut list = std::mem::take(&mut self.raised_for);
        list.sort_unstable();
        list.dedup();
        self.wakes.push(list);
        self.wakes.len() as u32 - 1
    }

    /// Makes the last raise wake ranks. Must be called before a wait, at the end, and before a jump's
    /// target.
    fn close(&mut self) {
        if let Some(&Op::Raise { at }) = self.ops.last() {
            let wakes = self.wakes();
            *self.ops.last_mut().expect("just seen") = Op::RaiseLast { at, wakes };
        }
    }

    fn wait(&mut self, until: u32) {
        let may_join = self.ops.len() > self.joinable;
        match self.ops.last_mut() {
            Some(op @ &mut Op::RaiseLast { at, wakes }) if may_join => {
                *op = Op::Exchange { at, wakes, until }
            }
            _ => self.ops.push(Op::Await { at: until, of: 1 }),
        }
    }

    /// Compiles one step of rank `me`. Adds the round to which it may jump to `jumps`.
    fn write(&mut self, step: &Step, layout: &FlagLayout, me: Rank, jumps: &mut Vec<u32>) {
        if !matches!(step, Step::Put { .. } | Step::Multicast { .. } | Step::Add { .. }) {
            self.close();
        }
        match *step {
            Step::Put { to, flag, .. } => self.raise(layout.flag(to, flag), std::iter::once(to)),
            Step::Multicast { to, flag, .. } => {
                let mut words: Vec<u32> = to.iter().map(|rank| layout.flag(rank, flag)).collect();
                words.dedup();
                words.into_iter().for_each(|at| self.raise(at, std::iter::empty()));
                self.raised_for.extend(to.iter().filter(|rank| *rank != me).map(|rank| rank.0));
            }
            Step::Add { at, counter } => {
                self.raised_for.push(at.0);
                let wakes = self.wakes();
                self.ops.push(Op::Add { at: layout.counter(at, counter), wakes });
            }
            Step::Wait { flag, .. } => self.wait(layout.flag(me, flag)),
            Step::AwaitCount { counter, of, .. } => {
                self.ops.push(Op::Await { at: layout.counter(me, counter), of });
            }
            // `otherwise` holds the number of a round until all rounds are compiled.
            Step::Count { at, counter, of, otherwise } => {
                jumps.push(otherwise);
                self.ops.push(Op::Count { at: layout.counter(at, counter), of, otherwise });
            }
            Step::Send { .. } | Step::Share { .. } | Step::Combine { .. } | Step::Copy { .. } => {
                unreachable!("the layout refuses data")
            }
        }
    }
}

impl BarrierProgram {
    /// Compiles the part of one rank. `layout` must be that of the same schedule.
    pub fn of(schedule: &Schedule, layout: &FlagLayout, me: Rank) -> BarrierProgram {
        let (mut round, mut writer) = (Round::new(), Writer::default());
        let mut begins = Vec::new();
        let mut jumps: Vec<u32> = Vec::new();
        for number in 0..schedule.rounds() {
            if jumps.contains(&number) {
                writer.close();
                writer.joinable = writer.ops.len();
            }
            begins.push(writer.ops.len() as u32);
            schedule.round(me, number, &mut round);
            round.steps.iter().for_each(|step| writer.write(step, layout, me, &mut jumps));
        }
        writer.close();
        let end = writer.ops.len() as u32;
        for op in &mut writer.ops {
            if let Op::Count { otherwise, .. } = op {
                *otherwise = begins.get(*otherwise as usize).copied().unwrap_or(end);
            }
        }
        BarrierProgram { ops: writer.ops, wakes: writer.wakes }
    }

    /// Runs epoch number `epoch` (1, 2, …). All ranks must run the epochs in the same order. If a word has
    /// not reached a value yet, this calls `wait(at, value)`, which must return when it has. An error of
    /// `wait` ends the program.
    #[inline(always)]
    pub fn run<M: Words + Futex, E>(
        &self,
        flags: &Flags<M>,
        epoch: u64,
        mut wait: impl FnMut(usize, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        // This is the whole program for two ranks. Running it takes no longer than starting to iterate over
        // a list.
        if let [Op::Exchange { at, wakes, until }] = *self.ops.as_slice() {
            flags.raise_last(at as usize, epoch);
            self.wake(flags, wakes);
            return if flags.has_reached(until as usize, epoch) {
                Ok(())
            } else {
                wait(until as usize, epoch)
            };
        }
        self.run_all(flags, epoch, wait)
    }

    #[inline]
    fn run_all<M: Words + Futex, E>(
        &self,
        flags: &Flags<M>,
        epoch: u64,
        mut wait: impl FnMut(usize, u64) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut ops = self.ops.as_slice();
        while let [op, rest @ ..] = ops {
            ops = rest;
            match *op {
                Op::Raise { at } => flags.raise(at as usize, epoch),
                Op::RaiseLast { at, wakes } => {
                    flags.raise_last(at as usize, epoch);
                    self.wake(flags, wakes);
                }
                Op::Exchange { at, wakes, until } => {
                    flags.raise_last(at as usize, epoch);
                    self.wake(flags, wakes);
                    if !flags.has_reached(until as usize, epoch) {
                        wait(until as usize, epoch)?;
                    }
                }
                Op::Add { at, wakes } => {
                    flags.add(at as usize);
                    self.wake(flags, wakes);
                }
                Op::Await { at, of } => {
                    let (at, value) = (at as usize, epoch * u64::from(of));
                    if !flags.has_reached(at, value) {
                        wait(at, value)?;
                    }
                }
                Op::Count { at, of, otherwise } => {
                    if flags.add(at as usize) != epoch * u64::from(of) {
                        ops = &self.ops[otherwise as usize..];
                    }
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn wake<M: Words + Futex>(&self, flags: &Flags<M>, list: u32) {
        if flags.has_sleepers() {
            self.wakes[list as usize].iter().for_each(|rank| flags.wake(*rank as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barrier::flag_layout::UnsupportedScheduleError;
    use evenkeel_schedule::{Collective, Problem, algorithms};

    fn program(name: &str, ranks: u32, me: u32) -> (FlagLayout, BarrierProgram) {
        let schedule = Schedule::parse(name, Problem::new(ranks)).unwrap();
        let layout = FlagLayout::of(&schedule).unwrap();
        let program = BarrierProgram::of(&schedule, &layout, Rank(me));
        (layout, program)
    }

    #[test]
    fn raises_in_a_row_have_one_fence_and_one_check_for_sleepers() {
        let (layout, program) = program("n-way-dissemination:n=3", 4, 1);
        let flag = |rank, slot| layout.geometry.flag(rank, slot) as u32;
        let raises = [
            Op::Raise { at: flag(2, 0) },
            Op::Raise { at: flag(3, 1) },
            Op::Exchange { at: flag(0, 2), wakes: 0, until: flag(1, 0) },
        ];
        assert_eq!(program.ops[..3], raises);
        assert_eq!(program.wakes, [vec![0, 2, 3]]);
        assert_eq!(program.ops[3..], [1, 2].map(|slot| Op::Await { at: flag(1, slot), of: 1 }));
    }

    #[test]
    fn a_multicast_is_one_word_that_all_ranks_read() {
        for (rank, woken) in [(0, vec![1, 2, 3, 4]), (3, vec![0, 1, 2, 4])] {
            let (layout, program) = program("central-counter", 5, rank);
            let (counter, flag) = (layout.geometry.counter(0, 0) as u32, layout.geometry.flag(0, 0) as u32);
            let count = Op::Count { at: counter, of: 5, otherwise: 2 };
            // The two are not joined into an exchange, because ranks that are not the last jump to the
            // wait.
            assert_eq!(
                program.ops,
                [count, Op::RaiseLast { at: flag, wakes: 0 }, Op::Await { at: flag, of: 1 }]
            );
            assert_eq!(program.wakes, [woken]);
        }
    }

    #[test]
    fn every_barrier_has_a_program_and_no_other_schedule_has_one() {
        for algorithm in algorithms::ALL {
            for ranks in 1..=16 {
                let schedule = Schedule::new(algorithm, Problem::new(ranks), &[]).unwrap();
                match FlagLayout::of(&schedule) {
                    Ok(layout) => {
                        assert_eq!(algorithm.collective, Collective::Barrier, "{algorithm:?}");
                        (0..ranks).for_each(|rank| drop(BarrierProgram::of(&schedule, &layout, Rank(rank))));
                    }
                    Err(why) => assert!(algorithm.collective != Collective::Barrier, "{algorithm:?}: {why}"),
                }
            }
        }
        let wide = Schedule::parse("n-way-dissemination:n=999", Problem::new(1000)).unwrap();
        assert_eq!(FlagLayout::of(&wide).err(), Some(UnsupportedScheduleError::TooManyFlags(999)));
    }
}

//! Ranks that share cores: who waits gives its core away, and what counts is how often that happens.
//!
//! Where there are more ranks than cores, a message that is written is seen at once, compared with the time until its receiver is given a core
//! again. So messages cost nothing here; what costs is each time that a core goes from one rank to the next. Each core goes around its
//! ranks, in an order that nobody chose and that stays the same, as it does where all yield to each other; a rank that is given
//! the core goes on until it has to wait, and gives it away. One that still has to wait has cost as much as one that went on.

use crate::random::{Purpose, sequence};
use crate::time::Time;
use evenkeel_random::Random;
use evenkeel_schedule::{Rank, Schedule, Step, flag_value};

/// The cores, and what they cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedCores {
    pub cores: u32,
    /// What handing a core from one rank to the next takes.
    pub switch: Time,
    /// How long a rank that has a core for itself takes to see what others have written.
    pub look: Time,
}

/// How far a rank has come.
struct Runner {
    program: Vec<Step>,
    /// Where each round begins in it.
    begins: Vec<usize>,
    at: usize,
    epoch: u64,
}

struct Memory<'a> {
    schedule: &'a Schedule,
    flags: Vec<u64>,
    counters: Vec<u64>,
}

/// The ranks of a core, which have their turns in an order that stays the same.
struct Queue {
    ranks: Vec<u32>,
    next: usize,
}

impl Queue {
    fn new(mut ranks: Vec<u32>, mut random: Random) -> Queue {
        random.shuffle(&mut ranks);
        Queue { ranks, next: 0 }
    }

    fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    fn is_single(&self) -> bool {
        self.ranks.len() == 1
    }

    fn next(&mut self) -> Option<u32> {
        self.next = if self.next < self.ranks.len() { self.next } else { 0 };
        let rank = self.ranks.get(self.next).copied();
        self.next += 1;
        rank
    }

    /// Takes out the rank that has just had its turn.
    fn remove(&mut self, rank: u32) {
        self.next -= 1;
        debug_assert_eq!(self.ranks[self.next], rank);
        self.ranks.remove(self.next);
    }
}

impl Memory<'_> {
    fn flag(&self, rank: Rank, slot: u32, bank: usize) -> usize {
        let needs = &self.schedule.needs;
        ((rank.0 as usize * usize::from(needs.banks)) + bank) * needs.flags as usize + slot as usize
    }

    fn counter(&self, rank: Rank, counter: u32, bank: usize) -> usize {
        let needs = &self.schedule.needs;
        ((rank.0 as usize * usize::from(needs.banks)) + bank) * needs.counters as usize + counter as usize
    }

    fn raise(&mut self, to: Rank, slot: u32, bank: usize, value: u64) {
        let flag = self.flag(to, slot, bank);
        self.flags[flag] = self.flags[flag].max(value);
    }
}

impl Runner {
    /// Goes on as far as it can; whether that was any step at all.
    fn go(&mut self, me: Rank, epochs: u64, memory: &mut Memory) -> bool {
        let turns = memory.schedule.needs.turns;
        let mut moved = false;
        while self.epoch <= epochs {
            let (bank, uses) = memory.schedule.bank(self.epoch);
            let Some(step) = self.program.get(self.at) else {
                (self.epoch, self.at, moved) = (self.epoch + 1, 0, true);
                continue;
            };
            self.at += 1;
            let goes_on = match *step {
                Step::Put { to, slot, turn } | Step::Send { to, slot, turn, .. } => {
                    memory.raise(to, slot.0, bank, flag_value(uses, turns, turn));
                    true
                }
                Step::Multicast { to, slot, turn } => {
                    to.iter().for_each(|to| memory.raise(to, slot.0, bank, flag_value(uses, turns, turn)));
                    true
                }
                Step::Wait { slot, turn } => memory.flags[memory.flag(me, slot.0, bank)] >= flag_value(uses, turns, turn),
                Step::Add { at, counter } => {
                    let counter = memory.counter(at, counter.0, bank);
                    memory.counters[counter] += 1;
                    true
                }
                Step::Count { at, counter, of, otherwise } => {
                    let counter = memory.counter(at, counter.0, bank);
                    memory.counters[counter] += 1;
                    if memory.counters[counter] != uses * u64::from(of) {
                        self.at = self.begins[otherwise as usize];
                    }
                    true
                }
                Step::AwaitCount { counter, of, previous } => {
                    memory.counters[memory.counter(me, counter.0, bank)] >= (uses - u64::from(previous)) * u64::from(of)
                }
                Step::Share { .. } | Step::Combine { .. } | Step::Copy { .. } => true,
            };
            if !goes_on {
                self.at -= 1;
                return moved;
            }
            moved = true;
        }
        moved
    }
}

/// How long so many calls in a row take, until the last rank has left the last one. Rank r is on core r mod cores; the orders of the
/// ranks on their cores are drawn from `seed`, and a mean over several is what is to be expected. None if nobody can go on, which no right schedule
/// comes to. Time is linear in calls, ranks and the rounds of the schedule.
///
/// ```
/// use evenkeel_schedule::{Problem, Schedule};
/// use evenkeel_simulate::{SharedCores, Time, shared};
/// let schedule = Schedule::named("central-counter", Problem::new(16)).unwrap();
/// let cores = SharedCores { cores: 1, switch: Time::from_ns(1000.0), look: Time::from_ns(100.0) };
/// // Whoever completes the count goes on at once: 15 switches a barrier, and all leave the last one.
/// assert_eq!(shared(&schedule, &cores, 100, 1), Some(Time::from_ns(1000.0 * (100.0 * 15.0 + 15.0) + 100.0)));
/// ```
pub fn shared(schedule: &Schedule, shared: &SharedCores, calls: u32, seed: u64) -> Option<Time> {
    let (ranks, needs) = (schedule.problem.ranks, schedule.needs);
    let words = |each: u32| vec![0; ranks as usize * usize::from(needs.banks) * each as usize];
    let mut memory = Memory { schedule, flags: words(needs.flags), counters: words(needs.counters) };
    let runner = |rank: u32| {
        let program = schedule.program(Rank(rank));
        let begins = (0..=schedule.rounds()).map(|round| program.partition_point(|(of, _)| *of < round)).collect();
        Runner { program: program.into_iter().map(|(_, step)| step).collect(), begins, at: 0, epoch: 1 }
    };
    let mut runners: Vec<Runner> = (0..ranks).map(runner).collect();
    let cores = shared.cores.max(1);
    let mut queues: Vec<Queue> = (0..cores).map(|core| Queue::new((core..ranks).step_by(cores as usize).collect(), sequence(seed, core, Purpose::Order))).collect();
    let mut clocks = vec![Time::ZERO; queues.len()];
    let (mut left, mut idle, mut end) = (ranks, 0, Time::ZERO);
    while left > 0 {
        let core = (0..queues.len()).filter(|core| !queues[*core].is_empty()).min_by_key(|core| clocks[*core])?;
        let rank = queues[core].next()?;
        let runner = &mut runners[rank as usize];
        idle = if runner.go(Rank(rank), calls.into(), &mut memory) { 0 } else { idle + 1 };
        // Cores with few ranks go around more often: all must have had a turn, and more than one of some.
        if idle > 64 * ranks.max(16) * cores {
            return None;
        }
        clocks[core] = clocks[core] + if queues[core].is_single() { shared.look } else { shared.switch };
        if runner.epoch > u64::from(calls) {
            left -= 1;
            end = end.max(clocks[core]);
            queues[core].remove(rank);
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_schedule::{Algorithm, Needs, Operation, Order, Problem, Slot, algorithms};

    const CALLS: u32 = 50;

    fn switches(name: &str, ranks: u32, cores: u32) -> f64 {
        let schedule = Schedule::named(name, Problem::new(ranks)).unwrap();
        let cores = SharedCores { cores, switch: Time::from_ns(1000.0), look: Time::from_ns(10.0) };
        let one = |seed| shared(&schedule, &cores, CALLS, seed).unwrap().ns() / 1000.0 / f64::from(CALLS);
        (0..20).map(one).sum::<f64>() / 20.0
    }

    #[test]
    fn who_needs_no_answer_takes_one_sweep_and_rounds_take_one_each() {
        for ranks in [4, 8, 16] {
            let sweep = f64::from(ranks / 2);
            for one in ["central-counter", "climbing-tree:n=2"] {
                let took = switches(one, ranks, 2);
                assert!(took <= sweep && took > sweep - 2.0, "{one}, {ranks} ranks: {took}");
            }
            let all = format!("n-way-dissemination:n={}", ranks - 1);
            assert!(switches(&all, ranks, 2) <= sweep + 1.0);
        }
        assert!(switches("dissemination", 16, 2) > 1.5 * switches("central-counter", 16, 2));
        // What is known at one place first, and then told, takes two sweeps, or a little more than one if there is one level.
        assert!(switches("combining-tree", 16, 2) > 1.9 * switches("combining-tree:n=16", 16, 2));
        assert!(switches("mcs:release=binomial", 16, 2) > switches("mcs", 16, 2));
    }

    #[test]
    fn every_schedule_comes_to_its_end() {
        for algorithm in algorithms::ALL {
            for (ranks, cores) in [(1, 1), (2, 1), (5, 2), (9, 4), (8, 8)] {
                let schedule = Schedule::new(algorithm, Problem::new(ranks).with_elements(8), &[]).unwrap();
                let cores = SharedCores { cores, switch: Time::from_ns(1000.0), look: Time::from_ns(10.0) };
                assert!(shared(&schedule, &cores, 4, 1).is_some(), "{algorithm:?}, {ranks} ranks");
            }
        }
    }

    #[test]
    fn where_nobody_can_go_on_there_is_no_time() {
        let cores = SharedCores { cores: 2, switch: Time::from_ns(1000.0), look: Time::from_ns(10.0) };
        let lonely = Schedule::new(&LONELY, Problem::new(3), &[]).unwrap();
        assert_eq!(shared(&lonely, &cores, 1, 1), None);
    }

    /// Everybody waits for a flag that nobody raises.
    static LONELY: Algorithm = Algorithm {
        name: "lonely",
        operation: Operation::Barrier,
        order: Order::Nothing,
        about: "",
        source: "",
        cost: "",
        parameters: &[],
        needs: |_| Needs::flags(1, 1),
        round: |_, _, _, out| out.wait(Slot(0)),
    };
}

//! Runs a schedule, one step or delivery at a time, and sees to the rules of [`check`](super).

use super::error::CheckError;
use super::flags::{CounterHistory, FlagHistory};
use super::memory::{Clock, Memory, MemoryError};
use super::terms::{Term, Terms};
use crate::algorithm::{Collective, CombiningOrder};
use crate::schedule::Schedule;
use crate::step::{Counter, Flag, Place, Rank, Step};
use std::rc::Rc;

/// All steps of a rank, and where each round begins.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) begins: Vec<usize>,
}

/// A message on its way to a flag, with what it brings.
#[derive(Clone, Debug)]
pub struct Message {
    pub(super) to: Rank,
    pub(super) flag: Flag,
    pub(super) bank: usize,
    pub(super) value: u64,
    pub(super) data: Option<(Place, Vec<Term>)>,
}

/// A write to all ranks that has not been taken by everybody yet.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    pub(super) by: Rank,
    pub(super) time: u32,
    pub(super) bank: usize,
    pub(super) place: Place,
    pub(super) length: u32,
    /// Who still has to come to know of it.
    pub(super) missing: Vec<bool>,
}

#[derive(Clone, Debug)]
pub(super) struct State {
    /// The epoch it is in, or was in last.
    pub(super) epoch: u64,
    pub(super) inside: bool,
    pub(super) at: usize,
    pub(super) clock: Clock,
    pub(super) depth: u32,
    pub(super) memory: Memory,
}

/// What a message does where it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Flag(Flag),
    Data,
    Again,
    Shared,
    Count(Counter),
    /// What the counter was, for who waits to know.
    Answer,
}

/// A message of the last epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub from: Rank,
    pub to: Rank,
    /// Which step of its sender it is.
    pub step: usize,
    /// Messages one after the other that had to arrive before.
    pub depth: u32,
    pub elements: u32,
    pub kind: Kind,
}

/// What the costs are made of, for one rank and its last epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub sent: u64,
    /// Answers that it got from others' counters.
    pub answers: u64,
    pub elements: u64,
    pub received: u64,
    pub depth: u32,
    pub responders: u32,
}

#[derive(Clone)]
pub struct Execution<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) programs: Rc<Vec<Program>>,
    pub(super) epochs: u64,
    pub(super) ranks: Vec<State>,
    pub(super) flags: Vec<FlagHistory>,
    pub(super) counts: Vec<CounterHistory>,
    pub in_flight: Vec<Message>,
    pub(super) shared: Vec<Shared>,
    pub(super) terms: Terms,
    /// Of each rank, when it entered each epoch.
    pub(super) entered: Vec<Vec<u32>>,
    /// The first output of the epoch that was handed out, where all must be equal.
    outputs: Vec<Option<Vec<Term>>>,
    pub tally: Vec<Tally>,
    /// Messages of the last epoch.
    pub sent: Vec<Sent>,
}

impl<'a> Execution<'a> {
    pub fn new(schedule: &'a Schedule, epochs: u64) -> Execution<'a> {
        Execution::with_programs(
            schedule,
            epochs,
            (0..schedule.problem.ranks).map(|rank| schedule.program(Rank(rank))).collect(),
        )
    }

    /// Runs other steps than the schedule's own, with all else as the schedule states it: to see what
    /// becomes of mistakes.
    pub fn with_programs(
        schedule: &'a Schedule,
        epochs: u64,
        programs: Vec<Vec<(u32, Step)>>,
    ) -> Execution<'a> {
        let (n, resources, collective) =
            (schedule.problem.ranks, schedule.resources, schedule.algorithm.collective);
        let program = |steps: Vec<(u32, Step)>| Program {
            begins: (0..=resources.rounds)
                .map(|round| steps.partition_point(|(of, _)| *of < round))
                .collect(),
            steps: steps.into_iter().map(|(_, step)| step).collect(),
        };
        let state = |rank| State {
            epoch: 0,
            inside: false,
            at: 0,
            clock: vec![0; n as usize],
            depth: 0,
            memory: Memory::new(
                collective.input_elements(&schedule.problem, Rank(rank)) as usize,
                collective.output_elements(&schedule.problem, Rank(rank)) as usize,
                resources.scratch as usize,
                resources.banks.into(),
            ),
        };
        let per_rank = |number: u32| (number * n) as usize * usize::from(resources.banks);
        Execution {
            schedule,
            programs: Rc::new(programs.into_iter().map(program).collect()),
            epochs,
            ranks: (0..n).map(state).collect(),
            flags: vec![FlagHistory::default(); per_rank(resources.flags)],
            counts: vec![CounterHistory::default(); per_rank(resources.counters)],
            in_flight: Vec::new(),
            shared: Vec::new(),
            terms: Terms::default(),
            entered: vec![Vec::new(); n as usize],
            outputs: vec![None; epochs as usize + 1],
            tally: vec![Tally::default(); n as usize],
            sent: Vec::new(),
        }
    }

    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    pub fn is_done(&self, rank: Rank) -> bool {
        let state = &self.ranks[rank.0 as usize];
        !state.inside && state.epoch == self.epochs
    }

    pub(super) fn flag_index(&self, owner: Rank, bank: usize, flag: Flag) -> usize {
        let resources = &self.schedule.resources;
        (owner.0 as usize * usize::from(resources.banks) + bank) * resources.flags as usize + flag.0 as usize
    }

    pub(super) fn count_index(&self, owner: Rank, bank: usize, counter: Counter) -> usize {
        let resources = &self.schedule.resources;
        (owner.0 as usize * usize::from(resources.banks) + bank) * resources.counters as usize
            + counter.0 as usize
    }

    /// The rank's next step; nothing if it is outside, or past its last one.
    fn next(&self, rank: Rank) -> Option<Step> {
        let state = &self.ranks[rank.0 as usize];
        if state.inside { self.programs[rank.0 as usize].steps.get(state.at).copied() } else { None }
    }

    /// Lets a rank do the next thing: enter, take a step, or leave. False if it has to wait or is done.
    pub fn advance(&mut self, rank: Rank) -> Result<bool, CheckError> {
        if self.is_done(rank) {
            return Ok(false);
        }
        if !self.ranks[rank.0 as usize].inside {
            self.enter(rank)?;
            return Ok(true);
        }
        match self.next(rank) {
            None => self.leave(rank).map(|()| true),
            Some(step) => {
                self.check_bounds(rank, step)?;
                self.act(rank, step)
            }
        }
    }

    fn enter(&mut self, rank: Rank) -> Result<(), CheckError> {
        let now = self.tick(rank);
        let state = &mut self.ranks[rank.0 as usize];
        state.epoch += 1;
        state.inside = true;
        state.at = 0;
        state.depth = 0;
        self.tally[rank.0 as usize] = Tally::default();
        self.entered[rank.0 as usize].push(now);
        let epoch = state.epoch;
        let terms = &mut self.terms;
        let values: Vec<Term> =
            (0..state.memory.input.len() as u32).map(|i| terms.item(rank.0, i, epoch)).collect();
        state.memory.enter(now, |i| values[i as usize]).map_err(|fault| reading(rank, epoch, fault))
    }

    /// Hands the output to the program, which looks at it.
    fn leave(&mut self, rank: Rank) -> Result<(), CheckError> {
        let now = self.tick(rank);
        let me = rank.0 as usize;
        let (epoch, collective) = (self.ranks[me].epoch, self.schedule.algorithm.collective);
        let entered = |other: usize, clock: &Clock| {
            self.entered[other].get(epoch as usize - 1).is_some_and(|time| clock[other] >= *time)
        };
        let heard: Vec<bool> =
            (0..self.ranks.len()).map(|other| entered(other, &self.ranks[me].clock)).collect();
        if collective == Collective::Barrier {
            if let Some(missing) = heard.iter().position(|h| !h) {
                return Err(CheckError::LeftEarly { rank, epoch, missing: Rank(missing as u32) });
            }
        }
        let state = &mut self.ranks[me];
        self.tally[me].responders = heard.iter().filter(|h| **h).count() as u32 - 1;
        self.tally[me].depth = state.depth;
        state.inside = false;
        let length = state.memory.output.len() as u32;
        let bank = self.schedule.bank(epoch).0;
        let output = state
            .memory
            .read(now, bank, Place::output(0), length)
            .map_err(|fault| reading(rank, epoch, fault))?;
        output.iter().enumerate().try_for_each(|(i, term)| self.verify(rank, epoch, i as u32, *term))?;
        if collective == Collective::Allreduce {
            let first = self.outputs[epoch as usize].get_or_insert_with(|| output.clone());
            if let Some(i) = first.iter().zip(&output).position(|(a, b)| a != b) {
                let (one, other) = (self.terms.show(first[i]), self.terms.show(output[i]));
                return Err(CheckError::UnequalGrouping { rank, element: i as u32, epoch, one, other });
            }
        }
        Ok(())
    }

    /// Compares an element of an output with what the operation is defined to give.
    fn verify(&self, rank: Rank, epoch: u64, i: u32, term: Term) -> Result<(), CheckError> {
        let problem = &self.schedule.problem;
        let all: Vec<u32> = (0..problem.ranks).collect();
        let part = |i: u32| (i / problem.elements, i % problem.elements);
        let (ranks, element) = match self.schedule.algorithm.collective {
            Collective::Barrier => return Ok(()),
            Collective::Bcast => (vec![problem.root.0], i),
            Collective::Reduce | Collective::Allreduce => (all, i),
            Collective::Allgather | Collective::Gather => (vec![part(i).0], part(i).1),
            Collective::Scatter => (vec![problem.root.0], rank.0 * problem.elements + i),
            Collective::ReduceScatter => (all, rank.0 * problem.elements + i),
            Collective::Alltoall => (vec![part(i).0], rank.0 * problem.elements + part(i).1),
            Collective::Scan => (all[..=rank.0 as usize].to_vec(), i),
            Collective::Exscan => (all[..rank.0 as usize].to_vec(), i),
        };
        let found = self.terms.ranks(term);
        let in_order = match self.schedule.algorithm.order {
            CombiningOrder::Any => {
                let mut sorted = found.to_vec();
                sorted.sort_unstable();
                sorted == ranks
            }
            CombiningOrder::Fold => found == ranks && self.terms.is_fold(term),
            CombiningOrder::Ranks | CombiningOrder::Nothing => found == ranks,
        };
        if in_order && self.terms.element(term) == Some((element, epoch)) {
            return Ok(());
        }
        let wanted = format!(
            "element {element} of epoch {epoch} of ranks {ranks:?}, combined in the order of {:?}",
            self.schedule.algorithm.order
        );
        Err(CheckError::WrongData { rank, element: i, epoch, found: self.terms.show(term), wanted })
    }

    pub(super) fn tick(&mut self, rank: Rank) -> u32 {
        let clock = &mut self.ranks[rank.0 as usize].clock;
        clock[rank.0 as usize] += 1;
        clock[rank.0 as usize]
    }

    /// One message arrives: what it brings, then its flag, which never falls.
    pub fn deliver(&mut self, which: usize) {
        let message = self.in_flight.swap_remove(which);
        if let Some((place, values)) = &message.data {
            self.ranks[message.to.0 as usize].memory.deliver(message.bank, *place, values);
        }
        let index = self.flag_index(message.to, message.bank, message.flag);
        let flag = &mut self.flags[index];
        flag.value = flag.value.max(message.value);
    }

    /// The defect that it is if nobody can do anything and nothing is on its way; nothing if all are done.
    pub fn deadlock(&self) -> Option<CheckError> {
        let stuck: Vec<Rank> = (0..self.ranks()).map(Rank).filter(|r| !self.is_done(*r)).collect();
        let first = *stuck.first()?;
        let step = self.next(first)?;
        Some(CheckError::Deadlock {
            waiting: stuck.len(),
            rank: first,
            epoch: self.ranks[first.0 as usize].epoch,
            step,
        })
    }

    /// All that decides what can happen from here on, for telling states apart.
    pub fn state(&self) -> Vec<u64> {
        let term = |t: Option<Term>| {
            t.map_or(0, |t| {
                1 + self.terms.ranks(t).iter().fold(7u64, |h, r| h.wrapping_mul(1_000_003) ^ u64::from(*r))
            })
        };
        let mut all = Vec::new();
        for rank in &self.ranks {
            all.extend([rank.epoch, u64::from(rank.inside), rank.at as u64]);
            all.extend(rank.memory.values().map(term));
        }
        all.extend(self.flags.iter().map(|f| f.value));
        all.extend(self.counts.iter().map(|c| c.value));
        let mut flying: Vec<u64> = self
            .in_flight
            .iter()
            .map(|m| (m.value << 40) | (u64::from(m.to.0) << 24) | (u64::from(m.flag.0) << 4) | m.bank as u64)
            .collect();
        flying.sort_unstable();
        all.extend(flying);
        all
    }
}

pub(super) fn reading(rank: Rank, epoch: u64, fault: MemoryError) -> CheckError {
    match fault {
        MemoryError::Unwritten(place) => CheckError::Unwritten { rank, place, epoch },
        MemoryError::Race(place) => CheckError::ReadRace { rank, place, epoch },
        MemoryError::Beyond => unreachable!("a whole buffer is within itself"),
    }
}

//! The state of an execution: what each rank has done and knows, what is in flight, what was counted.
//!
//! The modules `advance` and `take_step` change it.

use super::clock::VectorClock;
use super::counters::CounterHistory;
use super::error::CheckError;
use super::flags::FlagHistory;
use super::memory::{Memory, MemoryError};
use super::terms::{Term, Terms};
use crate::schedule::Schedule;
use crate::step::{Counter, Flag, Place, Rank, Step};
use std::rc::Rc;

/// All steps of a rank, and where each round begins.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) begins: Vec<usize>,
}

/// A message on its way to a flag, with the elements it carries.
#[derive(Clone, Debug)]
pub struct Message {
    pub(super) to: Rank,
    pub(super) flag: Flag,
    pub(super) bank: usize,
    pub(super) value: u64,
    pub(super) data: Option<(Place, Vec<Term>)>,
}

/// A write to all ranks that some ranks do not know of yet.
#[derive(Clone, Debug)]
pub(super) struct SharedWrite {
    pub(super) by: Rank,
    pub(super) time: u32,
    pub(super) bank: usize,
    pub(super) place: Place,
    pub(super) length: u32,
    /// The ranks that do not know of it yet.
    pub(super) unaware: Vec<bool>,
}

/// How far a rank has come, and what it knows.
#[derive(Clone, Debug)]
pub(super) struct RankState {
    /// The epoch it is in, or was in last.
    pub(super) epoch: u64,
    pub(super) inside: bool,
    /// The index of its next step.
    pub(super) at: usize,
    pub(super) clock: VectorClock,
    /// The length of the longest chain of messages that it has waited for in this epoch.
    pub(super) depth: u32,
    pub(super) memory: Memory,
}

/// What a message does where it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// Raises a flag.
    Flag(Flag),
    /// Brings elements and raises a flag.
    Data,
    /// Brings the elements of the previous message once more.
    Repeat,
    /// Writes into memory that all ranks see.
    Shared,
    /// Adds to a counter.
    Count(Counter),
    /// Tells a rank that added to a counter the new value.
    Answer,
}

/// A message of the last epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// The index of the sender's step.
    pub step: usize,
    /// The length of the longest chain of messages that had to arrive before.
    pub depth: u32,
    /// The elements that it carries.
    pub elements: u32,
    /// What it does where it arrives.
    pub kind: MessageKind,
}

/// What one rank did in its last epoch, for [`Costs`](super::Costs).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages that it sent to other ranks.
    pub sent: u64,
    /// Answers that it got from counters of other ranks.
    pub answers: u64,
    /// Elements that it sent.
    pub elements: u64,
    /// Messages that it waited for.
    pub received: u64,
    /// The length of the longest chain of messages that it waited for.
    pub depth: u32,
    /// Other ranks whose entering lies in its past when it leaves.
    pub responders: u32,
}

/// An execution of a schedule for some epochs.
#[derive(Clone)]
pub struct Execution<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) programs: Rc<Vec<Program>>,
    pub(super) epochs: u64,
    pub(super) ranks: Vec<RankState>,
    pub(super) flags: Vec<FlagHistory>,
    pub(super) counters: Vec<CounterHistory>,
    /// Messages that have been sent and not delivered.
    pub in_flight: Vec<Message>,
    pub(super) shared: Vec<SharedWrite>,
    pub(super) terms: Terms,
    /// For each rank, when it entered each epoch.
    pub(super) entered: Vec<Vec<u32>>,
    /// For each epoch, the first output that a rank got, where all must be equal.
    pub(super) outputs: Vec<Option<Vec<Term>>>,
    /// For each rank, what it did in its last epoch.
    pub tally: Vec<Tally>,
    /// The messages of the last epoch.
    pub sent: Vec<SentMessage>,
}

impl<'a> Execution<'a> {
    /// An execution of a schedule, before the first rank has entered.
    pub fn new(schedule: &'a Schedule, epochs: u64) -> Execution<'a> {
        let programs = (0..schedule.problem.ranks).map(|rank| schedule.program(Rank(rank))).collect();
        Execution::with_programs(schedule, epochs, programs)
    }

    /// An execution of other steps than the schedule's own, with all else as the schedule states it: to
    /// see that mistakes are found.
    pub fn with_programs(
        schedule: &'a Schedule,
        epochs: u64,
        programs: Vec<Vec<(u32, Step)>>,
    ) -> Execution<'a> {
        let (n, resources) = (schedule.problem.ranks, schedule.resources);
        let program = |steps: Vec<(u32, Step)>| Program {
            begins: (0..=resources.rounds)
                .map(|round| steps.partition_point(|(of, _)| *of < round))
                .collect(),
            steps: steps.into_iter().map(|(_, step)| step).collect(),
        };
        let per_rank = |number: u32| (number * n) as usize * usize::from(resources.banks);
        Execution {
            schedule,
            programs: Rc::new(programs.into_iter().map(program).collect()),
            epochs,
            ranks: (0..n).map(|rank| RankState::new(schedule, Rank(rank))).collect(),
            flags: vec![FlagHistory::default(); per_rank(resources.flags)],
            counters: vec![CounterHistory::default(); per_rank(resources.counters)],
            in_flight: Vec::new(),
            shared: Vec::new(),
            terms: Terms::default(),
            entered: vec![Vec::new(); n as usize],
            outputs: vec![None; epochs as usize + 1],
            tally: vec![Tally::default(); n as usize],
            sent: Vec::new(),
        }
    }

    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks.len() as u32
    }

    /// Whether a rank has left its last epoch.
    pub fn is_done(&self, rank: Rank) -> bool {
        let state = &self.ranks[rank.0 as usize];
        !state.inside && state.epoch == self.epochs
    }

    pub(super) fn flag_index(&self, owner: Rank, bank: usize, flag: Flag) -> usize {
        let resources = &self.schedule.resources;
        (owner.0 as usize * usize::from(resources.banks) + bank) * resources.flags as usize + flag.0 as usize
    }

    pub(super) fn counter_index(&self, owner: Rank, bank: usize, counter: Counter) -> usize {
        let resources = &self.schedule.resources;
        (owner.0 as usize * usize::from(resources.banks) + bank) * resources.counters as usize
            + counter.0 as usize
    }

    /// The next step of a rank. None if it is outside of an epoch, or past its last step.
    pub(super) fn next(&self, rank: Rank) -> Option<Step> {
        let state = &self.ranks[rank.0 as usize];
        if state.inside { self.programs[rank.0 as usize].steps.get(state.at).copied() } else { None }
    }

    /// Counts an event of a rank and returns its time.
    pub(super) fn tick(&mut self, rank: Rank) -> u32 {
        let clock = &mut self.ranks[rank.0 as usize].clock;
        clock[rank.0 as usize] += 1;
        clock[rank.0 as usize]
    }

    /// Delivers a message in flight: first its elements, then its flag, which never falls.
    pub fn deliver(&mut self, which: usize) {
        let message = self.in_flight.swap_remove(which);
        if let Some((place, values)) = &message.data {
            self.ranks[message.to.0 as usize].memory.deliver(message.bank, *place, values);
        }
        let index = self.flag_index(message.to, message.bank, message.flag);
        let flag = &mut self.flags[index];
        flag.value = flag.value.max(message.value);
    }

    /// The error if no rank can continue and nothing is in flight. None if all ranks are done.
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

    /// Everything that decides what can happen from here on, for telling states apart.
    pub fn fingerprint(&self) -> Vec<u64> {
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
        all.extend(self.counters.iter().map(|c| c.value));
        let mut in_flight: Vec<u64> = self
            .in_flight
            .iter()
            .map(|m| (m.value << 40) | (u64::from(m.to.0) << 24) | (u64::from(m.flag.0) << 4) | m.bank as u64)
            .collect();
        in_flight.sort_unstable();
        all.extend(in_flight);
        all
    }
}

impl RankState {
    fn new(schedule: &Schedule, rank: Rank) -> RankState {
        let (problem, collective) = (&schedule.problem, schedule.algorithm.collective);
        RankState {
            epoch: 0,
            inside: false,
            at: 0,
            clock: vec![0; problem.ranks as usize],
            depth: 0,
            memory: Memory::new(
                collective.input_elements(problem, rank) as usize,
                collective.output_elements(problem, rank) as usize,
                schedule.resources.scratch as usize,
                schedule.resources.banks.into(),
            ),
        }
    }
}

/// The error of a rank that reads its own memory.
pub(super) fn read_error(rank: Rank, epoch: u64, error: MemoryError) -> CheckError {
    match error {
        MemoryError::Unwritten(place) => CheckError::Unwritten { rank, place, epoch },
        MemoryError::Race(place) => CheckError::ReadRace { rank, place, epoch },
        MemoryError::OutOfBounds => unreachable!("a whole buffer is within itself"),
    }
}

//! Runs a schedule, one step or delivery at a time, and sees to the rules of [`check`](super).

use super::defect::Defect;
use super::flags::{Count, CountFault, Flag, FlagFault, Raise};
use super::memory::{Clock, Fault, Memory, learn};
use super::terms::{Term, Terms};
use crate::algorithm::{Operation, Order};
use crate::schedule::{Schedule, flag_value};
use crate::step::{Counter, Place, Rank, Slot, Step};
use std::rc::Rc;

/// All steps of a rank, and where each round begins.
#[derive(Debug)]
struct Program {
    steps: Vec<Step>,
    begins: Vec<usize>,
}

/// A message on its way to a flag, with what it brings.
#[derive(Clone, Debug)]
pub struct Message {
    to: Rank,
    slot: Slot,
    bank: usize,
    value: u64,
    data: Option<(Place, Vec<Term>)>,
}

/// A write to all ranks that has not been taken by everybody yet.
#[derive(Clone, Debug)]
struct Shared {
    by: Rank,
    time: u32,
    bank: usize,
    place: Place,
    length: u32,
    /// Who still has to come to know of it.
    missing: Vec<bool>,
}

#[derive(Clone, Debug)]
struct State {
    /// The epoch it is in, or was in last.
    epoch: u64,
    inside: bool,
    at: usize,
    clock: Clock,
    depth: u32,
    memory: Memory,
}

/// What a message does where it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Flag(Slot),
    Data,
    Again,
    Shared,
    Count(Counter),
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

/// What the figures are made of, for one rank and its last epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub sent: u64,
    pub elements: u64,
    pub received: u64,
    pub depth: u32,
    pub responders: u32,
}

#[derive(Clone)]
pub struct Machine<'a> {
    schedule: &'a Schedule,
    programs: Rc<Vec<Program>>,
    epochs: u64,
    ranks: Vec<State>,
    flags: Vec<Flag>,
    counts: Vec<Count>,
    pub in_flight: Vec<Message>,
    shared: Vec<Shared>,
    terms: Terms,
    /// Of each rank, when it entered each epoch.
    entered: Vec<Vec<u32>>,
    /// The first output of the epoch that was handed out, where all must be equal.
    outputs: Vec<Option<Vec<Term>>>,
    pub tally: Vec<Tally>,
    /// Messages of the last epoch.
    pub sent: Vec<Sent>,
}

impl<'a> Machine<'a> {
    pub fn new(schedule: &'a Schedule, epochs: u64) -> Machine<'a> {
        Machine::with_programs(schedule, epochs, (0..schedule.problem.ranks).map(|rank| schedule.program(Rank(rank))).collect())
    }

    /// Runs other steps than the schedule's own, with all else as the schedule states it: to see what becomes of mistakes.
    pub fn with_programs(schedule: &'a Schedule, epochs: u64, programs: Vec<Vec<(u32, Step)>>) -> Machine<'a> {
        let (n, needs, operation) = (schedule.problem.ranks, schedule.needs, schedule.algorithm.operation);
        let program = |steps: Vec<(u32, Step)>| Program {
            begins: (0..=needs.rounds).map(|round| steps.partition_point(|(of, _)| *of < round)).collect(),
            steps: steps.into_iter().map(|(_, step)| step).collect(),
        };
        let state = |rank| State {
            epoch: 0,
            inside: false,
            at: 0,
            clock: vec![0; n as usize],
            depth: 0,
            memory: Memory::new(
                operation.input(&schedule.problem, Rank(rank)) as usize,
                operation.output(&schedule.problem, Rank(rank)) as usize,
                needs.scratch as usize,
                needs.banks.into(),
            ),
        };
        let per_rank = |number: u32| (number * n) as usize * usize::from(needs.banks);
        Machine {
            schedule,
            programs: Rc::new(programs.into_iter().map(program).collect()),
            epochs,
            ranks: (0..n).map(state).collect(),
            flags: vec![Flag::default(); per_rank(needs.flags)],
            counts: vec![Count::default(); per_rank(needs.counters)],
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

    fn flag_index(&self, owner: Rank, bank: usize, slot: Slot) -> usize {
        let needs = &self.schedule.needs;
        (owner.0 as usize * usize::from(needs.banks) + bank) * needs.flags as usize + slot.0 as usize
    }

    fn count_index(&self, owner: Rank, bank: usize, counter: Counter) -> usize {
        let needs = &self.schedule.needs;
        (owner.0 as usize * usize::from(needs.banks) + bank) * needs.counters as usize + counter.0 as usize
    }

    /// Whether the rank is past its last step of the epoch, or outside.
    fn next(&self, rank: Rank) -> Option<Step> {
        let state = &self.ranks[rank.0 as usize];
        if state.inside { self.programs[rank.0 as usize].steps.get(state.at).copied() } else { None }
    }

    /// Lets a rank do the next thing: enter, take a step, or leave. False if it has to wait or is done.
    pub fn advance(&mut self, rank: Rank) -> Result<bool, Defect> {
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

    fn enter(&mut self, rank: Rank) -> Result<(), Defect> {
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
        let values: Vec<Term> = (0..state.memory.input.len() as u32).map(|i| terms.item(rank.0, i, epoch)).collect();
        state.memory.enter(now, |i| values[i as usize]).map_err(|fault| reading(rank, epoch, fault))
    }

    /// Hands the output to the program, which looks at it.
    fn leave(&mut self, rank: Rank) -> Result<(), Defect> {
        let now = self.tick(rank);
        let me = rank.0 as usize;
        let (epoch, operation) = (self.ranks[me].epoch, self.schedule.algorithm.operation);
        let entered = |other: usize, clock: &Clock| self.entered[other].get(epoch as usize - 1).is_some_and(|time| clock[other] >= *time);
        let heard: Vec<bool> = (0..self.ranks.len()).map(|other| entered(other, &self.ranks[me].clock)).collect();
        if operation == Operation::Barrier {
            if let Some(missing) = heard.iter().position(|h| !h) {
                return Err(Defect::LeftEarly { rank, epoch, missing: Rank(missing as u32) });
            }
        }
        let state = &mut self.ranks[me];
        self.tally[me].responders = heard.iter().filter(|h| **h).count() as u32 - 1;
        self.tally[me].depth = state.depth;
        state.inside = false;
        let length = state.memory.output.len() as u32;
        let bank = self.schedule.bank(epoch).0;
        let output = state.memory.read(now, bank, Place::output(0), length).map_err(|fault| reading(rank, epoch, fault))?;
        output.iter().enumerate().try_for_each(|(i, term)| self.verify(rank, epoch, i as u32, *term))?;
        if operation == Operation::Allreduce {
            let first = self.outputs[epoch as usize].get_or_insert_with(|| output.clone());
            if let Some(i) = first.iter().zip(&output).position(|(a, b)| a != b) {
                let (one, other) = (self.terms.show(first[i]), self.terms.show(output[i]));
                return Err(Defect::UnequalGrouping { rank, element: i as u32, epoch, one, other });
            }
        }
        Ok(())
    }

    /// Compares an element of an output with what the operation is defined to give.
    fn verify(&self, rank: Rank, epoch: u64, i: u32, term: Term) -> Result<(), Defect> {
        let problem = &self.schedule.problem;
        let all: Vec<u32> = (0..problem.ranks).collect();
        let part = |i: u32| (i / problem.elements, i % problem.elements);
        let (ranks, element) = match self.schedule.algorithm.operation {
            Operation::Barrier => return Ok(()),
            Operation::Bcast => (vec![problem.root.0], i),
            Operation::Reduce | Operation::Allreduce => (all, i),
            Operation::Allgather => (vec![part(i).0], part(i).1),
            Operation::Alltoall => (vec![part(i).0], rank.0 * problem.elements + part(i).1),
            Operation::Scan => (all[..=rank.0 as usize].to_vec(), i),
        };
        let found = self.terms.ranks(term);
        let in_order = match self.schedule.algorithm.order {
            Order::Any => {
                let mut sorted = found.to_vec();
                sorted.sort_unstable();
                sorted == ranks
            }
            Order::Fold => found == ranks && self.terms.is_fold(term),
            Order::Ranks | Order::Nothing => found == ranks,
        };
        if in_order && self.terms.element(term) == Some((element, epoch)) {
            return Ok(());
        }
        let wanted = format!("element {element} of epoch {epoch} of ranks {ranks:?}, combined in the order of {:?}", self.schedule.algorithm.order);
        Err(Defect::WrongData { rank, element: i, epoch, found: self.terms.show(term), wanted })
    }

    fn tick(&mut self, rank: Rank) -> u32 {
        let clock = &mut self.ranks[rank.0 as usize].clock;
        clock[rank.0 as usize] += 1;
        clock[rank.0 as usize]
    }

    /// Whom and which flags, counters and rounds a step names.
    fn check_bounds(&self, rank: Rank, step: Step) -> Result<(), Defect> {
        let needs = &self.schedule.needs;
        let (to, slot, counter, turn) = match step {
            Step::Put { to, slot, turn } | Step::Send { to, slot, turn, .. } => (to, Some(slot), None, turn),
            Step::Multicast { to, slot, turn } => (Rank(to.first.0 + (to.count - 1) * to.stride), Some(slot), None, turn),
            Step::Wait { slot, turn } => (rank, Some(slot), None, turn),
            Step::Add { at, counter } | Step::Count { at, counter, .. } => (at, None, Some(counter), 1),
            Step::AwaitCount { counter, .. } => (rank, None, Some(counter), 1),
            Step::Share { .. } | Step::Combine { .. } | Step::Copy { .. } => (rank, None, None, 1),
        };
        if to.0 >= self.schedule.problem.ranks {
            return Err(Defect::NoSuchRank { rank, to, step });
        }
        let raises_turn_0 = turn == 0 && !matches!(step, Step::Wait { .. });
        if slot.is_some_and(|s| s.0 >= needs.flags) || counter.is_some_and(|c| c.0 >= needs.counters) || turn > needs.turns || raises_turn_0 {
            return Err(Defect::BeyondNeeds { rank, step });
        }
        if let Step::Count { otherwise, .. } = step {
            let program = &self.programs[rank.0 as usize];
            if program.begins.get(otherwise as usize).is_none_or(|begin| *begin <= self.ranks[rank.0 as usize].at) {
                return Err(Defect::Backwards { rank, step });
            }
        }
        Ok(())
    }

    /// Takes a step; false, and nothing has happened, if it has to wait.
    fn act(&mut self, rank: Rank, step: Step) -> Result<bool, Defect> {
        let me = rank.0 as usize;
        let epoch = self.ranks[me].epoch;
        let (bank, uses) = self.schedule.bank(epoch);
        match step {
            Step::Wait { slot, turn } => {
                let value = flag_value(uses, self.schedule.needs.turns, turn);
                let index = self.flag_index(rank, bank, slot);
                if self.flags[index].value < value {
                    return Ok(false);
                }
                let now = self.tick(rank);
                if let Some(raise) = self.flags[index].take(value, now) {
                    let state = &mut self.ranks[me];
                    learn(&mut state.clock, &raise.knows);
                    if turn > 0 {
                        state.depth = state.depth.max(raise.depth);
                        self.tally[me].received += 1;
                    }
                    if let Some((place, length)) = raise.data {
                        state.memory.take(now, bank, place, length);
                    }
                    self.take_shared(rank, now);
                }
            }
            Step::AwaitCount { counter, of, previous } => {
                let number = if previous { uses - 1 } else { uses };
                let index = self.count_index(rank, bank, counter);
                if self.counts[index].value < number * u64::from(of) {
                    return Ok(false);
                }
                let now = self.tick(rank);
                let taken = self.counts[index].take(number, of).map_err(|fault| counting(rank, rank, counter, epoch, fault))?;
                if let Some((knows, depth)) = taken {
                    learn(&mut self.ranks[me].clock, knows);
                    if !previous {
                        self.ranks[me].depth = self.ranks[me].depth.max(depth);
                        self.tally[me].received += u64::from(of);
                    }
                    self.take_shared(rank, now);
                }
            }
            Step::Put { to, slot, turn } => {
                self.tick(rank);
                self.raise(rank, to, slot, turn, None)?;
            }
            Step::Multicast { to, slot, turn } => {
                self.tick(rank);
                to.iter().try_for_each(|to| self.raise(rank, to, slot, turn, None))?;
            }
            Step::Send { to, slot, turn, from, at, length, .. } => {
                let now = self.tick(rank);
                let values = self.read(rank, now, bank, from, length)?;
                self.raise(rank, to, slot, turn, Some((at, values)))?;
            }
            Step::Share { from, at, length } => self.share(rank, bank, from, at, length)?,
            Step::Add { at, counter } => {
                self.tick(rank);
                self.add(rank, at, counter, uses)?;
                self.tally[me].sent += u64::from(at != rank);
            }
            Step::Count { at, counter, of, otherwise } => {
                self.tick(rank);
                let value = self.add(rank, at, counter, uses)?;
                self.tally[me].sent += u64::from(at != rank);
                // Whoever adds sees what the earlier ones did, as with any atomic addition that acquires and releases.
                let index = self.count_index(at, bank, counter);
                if let Some((knows, depth)) = self.counts[index].so_far(uses) {
                    let state = &mut self.ranks[me];
                    learn(&mut state.clock, knows);
                    // There and back.
                    state.depth = state.depth.max(depth + u32::from(at != rank));
                }
                if value != uses * u64::from(of) {
                    self.ranks[me].at = self.programs[me].begins[otherwise as usize];
                    return Ok(true);
                }
            }
            Step::Combine { into, first, second, length } => {
                let now = self.tick(rank);
                let (left, right) = (self.read(rank, now, bank, first, length)?, self.read(rank, now, bank, second, length)?);
                let values: Vec<Term> = left.iter().zip(&right).map(|(l, r)| self.terms.pair(*l, *r)).collect();
                self.write(rank, now, bank, into, &values)?;
            }
            Step::Copy { from, into, length } => {
                let now = self.tick(rank);
                let values = self.read(rank, now, bank, from, length)?;
                self.write(rank, now, bank, into, &values)?;
            }
        }
        self.ranks[me].at += 1;
        Ok(true)
    }

    fn read(&mut self, rank: Rank, now: u32, bank: usize, place: Place, length: u32) -> Result<Vec<Term>, Defect> {
        let state = &mut self.ranks[rank.0 as usize];
        let (epoch, at) = (state.epoch, state.at);
        let read = state.memory.read(now, bank, place, length);
        read.map_err(|fault| self.located(rank, at, fault).unwrap_or_else(|| reading(rank, epoch, fault)))
    }

    fn write(&mut self, rank: Rank, now: u32, bank: usize, place: Place, values: &[Term]) -> Result<(), Defect> {
        let state = &mut self.ranks[rank.0 as usize];
        let (epoch, at) = (state.epoch, state.at);
        if place.buffer() == crate::Buffer::Input {
            return Err(Defect::InputWritten { by: rank, owner: rank });
        }
        let written = state.memory.write(now, bank, place, values);
        written.map_err(|fault| self.located(rank, at, fault).unwrap_or_else(|| writing(rank, rank, epoch, fault)))
    }

    /// A fault that is one of the step alone.
    fn located(&self, rank: Rank, at: usize, fault: Fault) -> Option<Defect> {
        (fault == Fault::Beyond).then(|| Defect::BeyondNeeds { rank, step: self.programs[rank.0 as usize].steps[at] })
    }

    /// Announces a write into another's memory.
    fn announce(&mut self, by: Rank, owner: Rank, bank: usize, place: Place, length: u32) -> Result<(), Defect> {
        if place.buffer() == crate::Buffer::Input {
            return Err(Defect::InputWritten { by, owner });
        }
        let (known, at, epoch) = {
            let state = &self.ranks[by.0 as usize];
            (state.clock[owner.0 as usize], state.at, state.epoch)
        };
        if place.buffer() == crate::Buffer::Output {
            // It is there to be written only while its owner is in this epoch.
            let inside = self.entered[owner.0 as usize].get(epoch as usize - 1).is_some_and(|time| *time <= known);
            if !inside {
                return Err(Defect::WriteRace { owner, place, by, epoch });
            }
        }
        let announced = self.ranks[owner.0 as usize].memory.announce(known, bank, place, length);
        announced.map_err(|fault| self.located(by, at, fault).unwrap_or_else(|| writing(by, owner, epoch, fault)))
    }

    fn note(&mut self, from: Rank, to: Rank, elements: u32, kind: Kind) {
        let state = &self.ranks[from.0 as usize];
        if state.epoch == self.epochs {
            self.sent.push(Sent { from, to, step: state.at, depth: state.depth, elements, kind });
        }
    }

    fn raise(&mut self, by: Rank, to: Rank, slot: Slot, turn: u16, data: Option<(Place, Vec<Term>)>) -> Result<(), Defect> {
        let epoch = self.ranks[by.0 as usize].epoch;
        let (bank, uses) = self.schedule.bank(epoch);
        let value = flag_value(uses, self.schedule.needs.turns, turn);
        let kind = match (&data, self.programs[by.0 as usize].steps[self.ranks[by.0 as usize].at]) {
            (None, _) => Kind::Flag(slot),
            (Some(_), Step::Send { again: true, .. }) => Kind::Again,
            (Some(_), _) => Kind::Data,
        };
        self.note(by, to, data.as_ref().map_or(0, |(_, values)| values.len() as u32), kind);
        if let Some((place, values)) = &data {
            self.announce(by, to, bank, *place, values.len() as u32)?;
        }
        let tally = &mut self.tally[by.0 as usize];
        tally.sent += u64::from(to != by);
        tally.elements += data.as_ref().map_or(0, |(_, values)| values.len() as u64);
        let state = &self.ranks[by.0 as usize];
        let raise = Raise {
            value,
            by,
            knows: state.clock.clone(),
            depth: state.depth + u32::from(to != by),
            data: data.as_ref().map(|(place, values)| (*place, values.len() as u32)),
            taken: None,
        };
        let index = self.flag_index(to, bank, slot);
        self.flags[index].announce(to, raise).map_err(|fault| match fault {
            FlagFault::Twice => Defect::RaisedTwice { owner: to, slot, value, by, epoch },
            FlagFault::Overtaking => Defect::Overtaking { owner: to, slot, by, epoch },
            FlagFault::Overrun => Defect::Overrun { owner: to, slot, by, epoch },
        })?;
        self.in_flight.push(Message { to, slot, bank, value, data });
        Ok(())
    }

    /// Adds and returns the value after. The addition is done when it is sent: who does not wait for its answer cannot tell, and nobody
    /// else does anything at the counter's owner but add and wait.
    fn add(&mut self, by: Rank, at: Rank, counter: Counter, uses: u64) -> Result<u64, Defect> {
        self.note(by, at, 0, Kind::Count(counter));
        let (epoch, knows) = (self.ranks[by.0 as usize].epoch, self.ranks[by.0 as usize].clock.clone());
        let depth = self.ranks[by.0 as usize].depth + u32::from(at != by);
        let index = self.count_index(at, self.schedule.bank(epoch).0, counter);
        let count = &mut self.counts[index];
        count.announce(uses, &knows, depth).map_err(|fault| counting(by, at, counter, epoch, fault))?;
        count.value += 1;
        Ok(count.value)
    }

    /// Everybody gets the write at the latest when it learns of it; until then nobody may look.
    fn share(&mut self, rank: Rank, bank: usize, from: Place, at: Place, length: u32) -> Result<(), Defect> {
        let now = self.tick(rank);
        let values = self.read(rank, now, bank, from, length)?;
        self.tally[rank.0 as usize].sent += 1;
        self.tally[rank.0 as usize].elements += u64::from(length);
        for other in (0..self.ranks()).map(Rank) {
            if other == rank {
                self.write(rank, now, bank, at, &values)?;
            } else {
                self.note(rank, other, length, Kind::Shared);
                self.announce(rank, other, bank, at, length)?;
                self.ranks[other.0 as usize].memory.deliver(bank, at, &values);
            }
        }
        let missing = (0..self.ranks.len()).map(|other| other != rank.0 as usize).collect();
        self.shared.push(Shared { by: rank, time: now, bank, place: at, length, missing });
        Ok(())
    }

    /// Takes the shared writes that the rank has just learned of.
    fn take_shared(&mut self, rank: Rank, now: u32) {
        let me = rank.0 as usize;
        for write in &mut self.shared {
            if write.missing[me] && self.ranks[me].clock[write.by.0 as usize] >= write.time {
                write.missing[me] = false;
                self.ranks[me].memory.take(now, write.bank, write.place, write.length);
            }
        }
        self.shared.retain(|write| write.missing.contains(&true));
    }

    /// One message arrives: what it brings, then its flag, which never falls.
    pub fn deliver(&mut self, which: usize) {
        let message = self.in_flight.swap_remove(which);
        if let Some((place, values)) = &message.data {
            self.ranks[message.to.0 as usize].memory.deliver(message.bank, *place, values);
        }
        let index = self.flag_index(message.to, message.bank, message.slot);
        let flag = &mut self.flags[index];
        flag.value = flag.value.max(message.value);
    }

    /// The defect that it is if nobody can do anything and nothing is on its way; nothing if all are done.
    pub fn deadlock(&self) -> Option<Defect> {
        let stuck: Vec<Rank> = (0..self.ranks()).map(Rank).filter(|r| !self.is_done(*r)).collect();
        let first = *stuck.first()?;
        let step = self.next(first)?;
        Some(Defect::Deadlock { waiting: stuck.len(), rank: first, epoch: self.ranks[first.0 as usize].epoch, step })
    }

    /// All that decides what can happen from here on, for telling states apart.
    pub fn state(&self) -> Vec<u64> {
        let term = |t: Option<Term>| t.map_or(0, |t| 1 + self.terms.ranks(t).iter().fold(7u64, |h, r| h.wrapping_mul(1_000_003) ^ u64::from(*r)));
        let mut all = Vec::new();
        for rank in &self.ranks {
            all.extend([rank.epoch, u64::from(rank.inside), rank.at as u64]);
            all.extend(rank.memory.values().map(term));
        }
        all.extend(self.flags.iter().map(|f| f.value));
        all.extend(self.counts.iter().map(|c| c.value));
        let mut flying: Vec<u64> =
            self.in_flight.iter().map(|m| (m.value << 40) | (u64::from(m.to.0) << 24) | (u64::from(m.slot.0) << 4) | m.bank as u64).collect();
        flying.sort_unstable();
        all.extend(flying);
        all
    }
}

fn reading(rank: Rank, epoch: u64, fault: Fault) -> Defect {
    match fault {
        Fault::Unwritten(place) => Defect::Unwritten { rank, place, epoch },
        Fault::Race(place) => Defect::ReadRace { rank, place, epoch },
        Fault::Beyond => unreachable!("a whole buffer is within itself"),
    }
}

fn writing(by: Rank, owner: Rank, epoch: u64, fault: Fault) -> Defect {
    match fault {
        Fault::Race(place) | Fault::Unwritten(place) => Defect::WriteRace { owner, place, by, epoch },
        Fault::Beyond => unreachable!("told apart before"),
    }
}

fn counting(by: Rank, owner: Rank, counter: Counter, epoch: u64, fault: CountFault) -> Defect {
    match fault {
        CountFault::Early => Defect::CountedEarly { owner, counter, by, epoch },
        CountFault::TooOften(of) => Defect::CountedTooOften { owner, counter, of, epoch },
    }
}

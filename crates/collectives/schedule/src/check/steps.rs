//! What each step does in a [`Execution`], and the rules that it has to keep.

use super::error::CheckError;
use super::execution::{Execution, Kind, Message, Sent, Shared, State, reading};
use super::flags::{CounterError, FlagError, Raise};
use super::memory::{MemoryError, learn};
use super::terms::Term;
use crate::schedule::flag_value;
use crate::step::{Counter, Flag, Place, Rank, Step};

impl Execution<'_> {
    /// Whom and which flags, counters and rounds a step names.
    pub(super) fn check_bounds(&self, rank: Rank, step: Step) -> Result<(), CheckError> {
        let resources = &self.schedule.resources;
        let (to, flag, counter, turn) = match step {
            Step::Put { to, flag, turn } | Step::Send { to, flag, turn, .. } => (to, Some(flag), None, turn),
            Step::Multicast { to, flag, turn } => {
                (Rank(to.first.0 + (to.count - 1) * to.stride), Some(flag), None, turn)
            }
            Step::Wait { flag, turn } => (rank, Some(flag), None, turn),
            Step::Add { at, counter } | Step::Count { at, counter, .. } => (at, None, Some(counter), 1),
            Step::AwaitCount { counter, .. } => (rank, None, Some(counter), 1),
            Step::Share { .. } | Step::Combine { .. } | Step::Copy { .. } => (rank, None, None, 1),
        };
        if to.0 >= self.schedule.problem.ranks {
            return Err(CheckError::NoSuchRank { rank, to, step });
        }
        let raises_turn_0 = turn == 0 && !matches!(step, Step::Wait { .. });
        if flag.is_some_and(|s| s.0 >= resources.flags)
            || counter.is_some_and(|c| c.0 >= resources.counters)
            || turn > resources.turns
            || raises_turn_0
        {
            return Err(CheckError::BeyondResources { rank, step });
        }
        if let Step::Count { otherwise, .. } = step {
            let program = &self.programs[rank.0 as usize];
            if program
                .begins
                .get(otherwise as usize)
                .is_none_or(|begin| *begin <= self.ranks[rank.0 as usize].at)
            {
                return Err(CheckError::Backwards { rank, step });
            }
        }
        Ok(())
    }

    /// Takes a step; false, and nothing has happened, if it has to wait.
    pub(super) fn act(&mut self, rank: Rank, step: Step) -> Result<bool, CheckError> {
        let me = rank.0 as usize;
        let epoch = self.ranks[me].epoch;
        let (bank, uses) = self.schedule.bank(epoch);
        match step {
            Step::Wait { flag, turn } => {
                let value = flag_value(uses, self.schedule.resources.turns, turn);
                let index = self.flag_index(rank, bank, flag);
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
                let taken = self.counts[index]
                    .take(number, of)
                    .map_err(|fault| counting(rank, rank, counter, epoch, fault))?;
                if let Some((knows, depth)) = taken {
                    learn(&mut self.ranks[me].clock, knows);
                    if !previous {
                        self.ranks[me].depth = self.ranks[me].depth.max(depth);
                        self.tally[me].received += u64::from(of);
                    }
                    self.take_shared(rank, now);
                }
            }
            Step::Put { to, flag, turn } => {
                self.tick(rank);
                self.raise(rank, to, flag, turn, None)?;
            }
            Step::Multicast { to, flag, turn } => {
                self.tick(rank);
                to.iter().try_for_each(|to| self.raise(rank, to, flag, turn, None))?;
            }
            Step::Send { to, flag, turn, from, at, length, .. } => {
                let now = self.tick(rank);
                let values = self.read(rank, now, bank, from, length)?;
                self.raise(rank, to, flag, turn, Some((at, values)))?;
            }
            Step::Share { from, at, length } => self.share(rank, bank, from, at, length)?,
            Step::Add { at, counter } => {
                self.tick(rank);
                self.add(rank, at, counter, uses)?;
                self.tally[me].sent += u64::from(at != rank);
            }
            Step::Count { at, counter, of, otherwise } => {
                let now = self.tick(rank);
                let value = self.add(rank, at, counter, uses)?;
                self.tally[me].sent += u64::from(at != rank);
                // Whoever adds sees what the earlier ones did, as with any atomic addition that acquires and
                // releases.
                let index = self.count_index(at, bank, counter);
                if let Some((knows, depth)) = self.counts[index].so_far(uses) {
                    let state = &mut self.ranks[me];
                    learn(&mut state.clock, knows);
                    // There and back.
                    state.depth = state.depth.max(depth + u32::from(at != rank));
                    self.take_shared(rank, now);
                }
                if at != rank {
                    self.tally[me].answers += 1;
                    if epoch == self.epochs {
                        let State { at: step, depth, .. } = self.ranks[me];
                        self.sent.push(Sent {
                            from: at,
                            to: rank,
                            step,
                            depth: depth - 1,
                            elements: 0,
                            kind: Kind::Answer,
                        });
                    }
                }
                if value != uses * u64::from(of) {
                    self.ranks[me].at = self.programs[me].begins[otherwise as usize];
                    return Ok(true);
                }
            }
            Step::Combine { into, first, second, length } => {
                let now = self.tick(rank);
                let (left, right) =
                    (self.read(rank, now, bank, first, length)?, self.read(rank, now, bank, second, length)?);
                let values: Vec<Term> =
                    left.iter().zip(&right).map(|(l, r)| self.terms.pair(*l, *r)).collect();
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

    fn read(
        &mut self,
        rank: Rank,
        now: u32,
        bank: usize,
        place: Place,
        length: u32,
    ) -> Result<Vec<Term>, CheckError> {
        let state = &mut self.ranks[rank.0 as usize];
        let (epoch, at) = (state.epoch, state.at);
        let read = state.memory.read(now, bank, place, length);
        read.map_err(|fault| self.located(rank, at, fault).unwrap_or_else(|| reading(rank, epoch, fault)))
    }

    fn write(
        &mut self,
        rank: Rank,
        now: u32,
        bank: usize,
        place: Place,
        values: &[Term],
    ) -> Result<(), CheckError> {
        let state = &mut self.ranks[rank.0 as usize];
        let (epoch, at) = (state.epoch, state.at);
        if place.buffer() == crate::Buffer::Input {
            return Err(CheckError::InputWritten { by: rank, owner: rank });
        }
        let written = state.memory.write(now, bank, place, values);
        written.map_err(|fault| {
            self.located(rank, at, fault).unwrap_or_else(|| writing(rank, rank, epoch, fault))
        })
    }

    /// A fault that is one of the step alone.
    fn located(&self, rank: Rank, at: usize, fault: MemoryError) -> Option<CheckError> {
        (fault == MemoryError::Beyond)
            .then(|| CheckError::BeyondResources { rank, step: self.programs[rank.0 as usize].steps[at] })
    }

    /// Announces a write into another's memory.
    fn announce(
        &mut self,
        by: Rank,
        owner: Rank,
        bank: usize,
        place: Place,
        length: u32,
    ) -> Result<(), CheckError> {
        if place.buffer() == crate::Buffer::Input {
            return Err(CheckError::InputWritten { by, owner });
        }
        let (known, at, epoch) = {
            let state = &self.ranks[by.0 as usize];
            (state.clock[owner.0 as usize], state.at, state.epoch)
        };
        if place.buffer() == crate::Buffer::Output {
            // It is there to be written only while its owner is in this epoch.
            let inside =
                self.entered[owner.0 as usize].get(epoch as usize - 1).is_some_and(|time| *time <= known);
            if !inside {
                return Err(CheckError::WriteRace { owner, place, by, epoch });
            }
        }
        let announced = self.ranks[owner.0 as usize].memory.announce(known, bank, place, length);
        announced
            .map_err(|fault| self.located(by, at, fault).unwrap_or_else(|| writing(by, owner, epoch, fault)))
    }

    fn note(&mut self, from: Rank, to: Rank, elements: u32, kind: Kind) {
        let state = &self.ranks[from.0 as usize];
        if state.epoch == self.epochs {
            self.sent.push(Sent { from, to, step: state.at, depth: state.depth, elements, kind });
        }
    }

    fn raise(
        &mut self,
        by: Rank,
        to: Rank,
        flag: Flag,
        turn: u16,
        data: Option<(Place, Vec<Term>)>,
    ) -> Result<(), CheckError> {
        let epoch = self.ranks[by.0 as usize].epoch;
        let (bank, uses) = self.schedule.bank(epoch);
        let value = flag_value(uses, self.schedule.resources.turns, turn);
        let kind = match (&data, self.programs[by.0 as usize].steps[self.ranks[by.0 as usize].at]) {
            (None, _) => Kind::Flag(flag),
            (Some(_), Step::Send { is_repeat: true, .. }) => Kind::Again,
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
        let index = self.flag_index(to, bank, flag);
        self.flags[index].announce(to, raise).map_err(|fault| match fault {
            FlagError::Twice => CheckError::RaisedTwice { owner: to, flag, value, by, epoch },
            FlagError::Overtaking => CheckError::Overtaking { owner: to, flag, by, epoch },
            FlagError::Overrun => CheckError::Overrun { owner: to, flag, by, epoch },
        })?;
        self.in_flight.push(Message { to, flag, bank, value, data });
        Ok(())
    }

    /// Adds and returns the value after. The addition is done when it is sent: who does not wait for its
    /// answer cannot tell, and nobody else does anything at the counter's owner but add and wait.
    fn add(&mut self, by: Rank, at: Rank, counter: Counter, uses: u64) -> Result<u64, CheckError> {
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
    fn share(
        &mut self,
        rank: Rank,
        bank: usize,
        from: Place,
        at: Place,
        length: u32,
    ) -> Result<(), CheckError> {
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
}

fn writing(by: Rank, owner: Rank, epoch: u64, fault: MemoryError) -> CheckError {
    match fault {
        MemoryError::Race(place) | MemoryError::Unwritten(place) => {
            CheckError::WriteRace { owner, place, by, epoch }
        }
        MemoryError::Beyond => unreachable!("told apart before"),
    }
}

fn counting(by: Rank, owner: Rank, counter: Counter, epoch: u64, fault: CounterError) -> CheckError {
    match fault {
        CounterError::Early => CheckError::CountedEarly { owner, counter, by, epoch },
        CounterError::TooOften(of) => CheckError::CountedTooOften { owner, counter, of, epoch },
    }
}

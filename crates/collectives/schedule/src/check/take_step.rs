//! What each step does in an [`Execution`], and the rules that it has to keep.

use super::clock::learn;
use super::counters::CounterError;
use super::error::CheckError;
use super::execution::{Execution, Message, MessageKind, SentMessage, SharedWrite, read_error};
use super::flags::{FlagError, Raise};
use super::memory::MemoryError;
use super::terms::Term;
use crate::resources::flag_value;
use crate::step::{Buffer, Counter, Flag, Place, Rank, Step};

impl Execution<'_> {
    /// Checks that the ranks, flags, counters and rounds that a step names exist.
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
            let begins = &self.programs[rank.0 as usize].begins;
            let at = self.ranks[rank.0 as usize].at;
            if begins.get(otherwise as usize).is_none_or(|begin| *begin <= at) {
                return Err(CheckError::Backwards { rank, step });
            }
        }
        Ok(())
    }

    /// Takes a step. Returns false, and changes nothing, if the rank has to wait.
    pub(super) fn take_step(&mut self, rank: Rank, step: Step) -> Result<bool, CheckError> {
        let me = rank.0 as usize;
        let (bank, uses) = self.schedule.bank(self.ranks[me].epoch);
        let is_done = match step {
            Step::Wait { flag, turn } => self.wait(rank, bank, uses, flag, turn),
            Step::AwaitCount { counter, of, previous } => {
                let number = if previous { uses - 1 } else { uses };
                self.await_count(rank, bank, counter, of, number, previous)?
            }
            Step::Put { to, flag, turn } => {
                self.tick(rank);
                self.raise(rank, to, flag, turn, None)?;
                true
            }
            Step::Multicast { to, flag, turn } => {
                self.tick(rank);
                to.iter().try_for_each(|to| self.raise(rank, to, flag, turn, None))?;
                true
            }
            Step::Send { to, flag, turn, from, at, length, .. } => {
                let now = self.tick(rank);
                let values = self.read(rank, now, bank, from, length)?;
                self.raise(rank, to, flag, turn, Some((at, values)))?;
                true
            }
            Step::Share { from, at, length } => self.share(rank, bank, from, at, length).map(|()| true)?,
            Step::Add { at, counter } => {
                self.tick(rank);
                self.add(rank, at, counter, uses)?;
                self.tally[me].sent += u64::from(at != rank);
                true
            }
            Step::Count { at, counter, of, otherwise } => {
                if self.count(rank, at, bank, counter, uses)? != uses * u64::from(of) {
                    self.ranks[me].at = self.programs[me].begins[otherwise as usize];
                    return Ok(true);
                }
                true
            }
            Step::Combine { into, first, second, length } => {
                self.combine(rank, bank, into, (first, second), length).map(|()| true)?
            }
            Step::Copy { from, into, length } => {
                let now = self.tick(rank);
                let values = self.read(rank, now, bank, from, length)?;
                self.write(rank, now, bank, into, &values).map(|()| true)?
            }
        };
        self.ranks[me].at += usize::from(is_done);
        Ok(is_done)
    }

    /// Combines two vectors of the rank, element by element. `operands` are the left and the right one.
    fn combine(
        &mut self,
        rank: Rank,
        bank: usize,
        into: Place,
        operands: (Place, Place),
        length: u32,
    ) -> Result<(), CheckError> {
        let now = self.tick(rank);
        let left = self.read(rank, now, bank, operands.0, length)?;
        let right = self.read(rank, now, bank, operands.1, length)?;
        let pairs = left.iter().zip(&right);
        let values: Vec<Term> = pairs.map(|(l, r)| self.terms.pair(*l, *r)).collect();
        self.write(rank, now, bank, into, &values)
    }

    /// Returns whether the wait is over. If so, the rank learns what the raise brings.
    fn wait(&mut self, rank: Rank, bank: usize, uses: u64, flag: Flag, turn: u16) -> bool {
        let me = rank.0 as usize;
        let value = flag_value(uses, self.schedule.resources.turns, turn);
        let index = self.flag_index(rank, bank, flag);
        if self.flags[index].value < value {
            return false;
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
        true
    }

    /// Returns whether the wait for use `number` is over. If so, the rank learns what the ranks that
    /// added knew.
    fn await_count(
        &mut self,
        rank: Rank,
        bank: usize,
        counter: Counter,
        of: u32,
        number: u64,
        previous: bool,
    ) -> Result<bool, CheckError> {
        let me = rank.0 as usize;
        let index = self.counter_index(rank, bank, counter);
        if self.counters[index].value < number * u64::from(of) {
            return Ok(false);
        }
        let now = self.tick(rank);
        let epoch = self.ranks[me].epoch;
        let taken = self.counters[index]
            .take(number, of)
            .map_err(|error| counter_error(rank, rank, counter, epoch, error))?;
        if let Some((knows, depth)) = taken {
            learn(&mut self.ranks[me].clock, knows);
            if !previous {
                self.ranks[me].depth = self.ranks[me].depth.max(depth);
                self.tally[me].received += u64::from(of);
            }
            self.take_shared(rank, now);
        }
        Ok(true)
    }

    /// Adds to a counter, waits for the answer and returns it.
    fn count(
        &mut self,
        rank: Rank,
        at: Rank,
        bank: usize,
        counter: Counter,
        uses: u64,
    ) -> Result<u64, CheckError> {
        let me = rank.0 as usize;
        let now = self.tick(rank);
        let value = self.add(rank, at, counter, uses)?;
        self.tally[me].sent += u64::from(at != rank);
        // The rank sees what the earlier additions did, as with any atomic addition that acquires and
        // releases.
        let index = self.counter_index(at, bank, counter);
        if let Some((knows, depth)) = self.counters[index].so_far(uses) {
            let state = &mut self.ranks[me];
            learn(&mut state.clock, knows);
            // One message to the counter and one back.
            state.depth = state.depth.max(depth + u32::from(at != rank));
            self.take_shared(rank, now);
        }
        if at != rank {
            self.tally[me].answers += 1;
            let state = &self.ranks[me];
            if state.epoch == self.epochs {
                let (step, depth, kind) = (state.at, state.depth - 1, MessageKind::Answer);
                self.sent.push(SentMessage { from: at, to: rank, step, depth, elements: 0, kind });
            }
        }
        Ok(value)
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
        let epoch = state.epoch;
        let read = state.memory.read(now, bank, place, length);
        read.map_err(|error| {
            self.out_of_bounds(rank, error).unwrap_or_else(|| read_error(rank, epoch, error))
        })
    }

    fn write(
        &mut self,
        rank: Rank,
        now: u32,
        bank: usize,
        place: Place,
        values: &[Term],
    ) -> Result<(), CheckError> {
        if place.buffer() == Buffer::Input {
            return Err(CheckError::InputWritten { by: rank, owner: rank });
        }
        let state = &mut self.ranks[rank.0 as usize];
        let epoch = state.epoch;
        let written = state.memory.write(now, bank, place, values);
        written.map_err(|error| {
            self.out_of_bounds(rank, error).unwrap_or_else(|| write_error(rank, rank, epoch, error))
        })
    }

    /// The error of a step that goes past the end of a buffer.
    fn out_of_bounds(&self, rank: Rank, error: MemoryError) -> Option<CheckError> {
        let (me, at) = (rank.0 as usize, self.ranks[rank.0 as usize].at);
        (error == MemoryError::OutOfBounds)
            .then(|| CheckError::BeyondResources { rank, step: self.programs[me].steps[at] })
    }

    /// Announces a write into another rank's memory.
    fn announce(
        &mut self,
        by: Rank,
        owner: Rank,
        bank: usize,
        place: Place,
        length: u32,
    ) -> Result<(), CheckError> {
        if place.buffer() == Buffer::Input {
            return Err(CheckError::InputWritten { by, owner });
        }
        let state = &self.ranks[by.0 as usize];
        let (known, epoch) = (state.clock[owner.0 as usize], state.epoch);
        if place.buffer() == Buffer::Output {
            // It may be written only while its owner is in this epoch.
            let entered = self.entered[owner.0 as usize].get(epoch as usize - 1);
            if entered.is_none_or(|time| *time > known) {
                return Err(CheckError::WriteRace { owner, place, by, epoch });
            }
        }
        let announced = self.ranks[owner.0 as usize].memory.announce(known, bank, place, length);
        announced.map_err(|error| {
            self.out_of_bounds(by, error).unwrap_or_else(|| write_error(by, owner, epoch, error))
        })
    }

    /// Records a message of the last epoch.
    fn record(&mut self, from: Rank, to: Rank, elements: u32, kind: MessageKind) {
        let state = &self.ranks[from.0 as usize];
        if state.epoch == self.epochs {
            self.sent.push(SentMessage { from, to, step: state.at, depth: state.depth, elements, kind });
        }
    }

    /// Sends a raise of a flag, with elements if there are any.
    fn raise(
        &mut self,
        by: Rank,
        to: Rank,
        flag: Flag,
        turn: u16,
        data: Option<(Place, Vec<Term>)>,
    ) -> Result<(), CheckError> {
        let state = &self.ranks[by.0 as usize];
        let epoch = state.epoch;
        let (bank, uses) = self.schedule.bank(epoch);
        let value = flag_value(uses, self.schedule.resources.turns, turn);
        let kind = match (&data, self.programs[by.0 as usize].steps[state.at]) {
            (None, _) => MessageKind::Flag(flag),
            (Some(_), Step::Send { is_repeat: true, .. }) => MessageKind::Repeat,
            (Some(_), _) => MessageKind::Data,
        };
        let written = data.as_ref().map(|(place, values)| (*place, values.len() as u32));
        let elements = written.map_or(0, |(_, length)| length);
        self.record(by, to, elements, kind);
        if let Some((place, length)) = written {
            self.announce(by, to, bank, place, length)?;
        }
        let tally = &mut self.tally[by.0 as usize];
        tally.sent += u64::from(to != by);
        tally.elements += u64::from(elements);
        let state = &self.ranks[by.0 as usize];
        let (knows, depth) = (state.clock.clone(), state.depth + u32::from(to != by));
        let raise = Raise { value, by, knows, depth, data: written, taken: None };
        let index = self.flag_index(to, bank, flag);
        self.flags[index].announce(to, raise).map_err(|error| match error {
            FlagError::Twice => CheckError::RaisedTwice { owner: to, flag, value, by, epoch },
            FlagError::Overtaking => CheckError::Overtaking { owner: to, flag, by, epoch },
            FlagError::Overrun => CheckError::Overrun { owner: to, flag, by, epoch },
        })?;
        self.in_flight.push(Message { to, flag, bank, value, data });
        Ok(())
    }

    /// Adds to a counter and returns the new value. The addition takes effect when it is sent: a rank
    /// that does not wait for the answer cannot tell, and other ranks only add to the counter or wait for
    /// it.
    fn add(&mut self, by: Rank, at: Rank, counter: Counter, uses: u64) -> Result<u64, CheckError> {
        self.record(by, at, 0, MessageKind::Count(counter));
        let state = &self.ranks[by.0 as usize];
        let (epoch, knows) = (state.epoch, state.clock.clone());
        let depth = state.depth + u32::from(at != by);
        let index = self.counter_index(at, self.schedule.bank(epoch).0, counter);
        let history = &mut self.counters[index];
        history
            .announce(uses, &knows, depth)
            .map_err(|error| counter_error(by, at, counter, epoch, error))?;
        history.value += 1;
        Ok(history.value)
    }

    /// Writes to all ranks. Each gets the write at the latest when it learns of it, and may not read the
    /// place before.
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
                self.record(rank, other, length, MessageKind::Shared);
                self.announce(rank, other, bank, at, length)?;
                self.ranks[other.0 as usize].memory.deliver(bank, at, &values);
            }
        }
        let unaware = (0..self.ranks.len()).map(|other| other != rank.0 as usize).collect();
        self.shared.push(SharedWrite { by: rank, time: now, bank, place: at, length, unaware });
        Ok(())
    }

    /// Takes the shared writes that the rank has just learned of.
    fn take_shared(&mut self, rank: Rank, now: u32) {
        let me = rank.0 as usize;
        for write in &mut self.shared {
            if write.unaware[me] && self.ranks[me].clock[write.by.0 as usize] >= write.time {
                write.unaware[me] = false;
                self.ranks[me].memory.take(now, write.bank, write.place, write.length);
            }
        }
        self.shared.retain(|write| write.unaware.contains(&true));
    }
}

fn write_error(by: Rank, owner: Rank, epoch: u64, error: MemoryError) -> CheckError {
    match error {
        MemoryError::Race(place) | MemoryError::Unwritten(place) => {
            CheckError::WriteRace { owner, place, by, epoch }
        }
        MemoryError::OutOfBounds => unreachable!("`out_of_bounds` has handled it"),
    }
}

fn counter_error(by: Rank, owner: Rank, counter: Counter, epoch: u64, error: CounterError) -> CheckError {
    match error {
        CounterError::Early => CheckError::CountedEarly { owner, counter, by, epoch },
        CounterError::TooOften(of) => CheckError::CountedTooOften { owner, counter, of, epoch },
    }
}

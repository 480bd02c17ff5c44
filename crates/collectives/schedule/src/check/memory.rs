//! A rank's buffers, cell by cell, with what is needed to see races.

use super::terms::Term;
use crate::step::{Buffer, Place};

/// When something happened at a rank: that rank's own count of its events. 0 is before everything.
pub type Time = u32;

/// What a rank knows of the others: of each, the time up to which its events lie in this rank's past.
pub type Clock = Vec<Time>;

/// Takes over what another knows.
pub fn learn(clock: &mut Clock, other: &Clock) {
    for (mine, theirs) in clock.iter_mut().zip(other) {
        *mine = (*mine).max(*theirs);
    }
}

/// The owner has not waited for it yet: later than anything that another rank can know.
const ON_ITS_WAY: Time = Time::MAX;

#[derive(Clone, Debug)]
pub struct Cell {
    pub value: Option<Term>,
    /// When the owner came to know of the last write.
    taken: Time,
    /// When the owner last read it.
    read: Time,
}

const FRESH: Cell = Cell { value: None, taken: 0, read: 0 };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryError {
    Race(Place),
    Unwritten(Place),
    /// Past the end of the buffer.
    Beyond,
}

/// All buffers of a rank: input, output, and scratch of each bank.
#[derive(Clone, Debug)]
pub struct Memory {
    pub input: Vec<Cell>,
    pub output: Vec<Cell>,
    scratch: Vec<Vec<Cell>>,
}

impl Memory {
    pub fn new(input: usize, output: usize, scratch: usize, banks: usize) -> Memory {
        Memory {
            input: vec![FRESH; input],
            output: vec![FRESH; output],
            scratch: vec![vec![FRESH; scratch]; banks],
        }
    }

    fn cells(&mut self, bank: usize, place: Place, length: u32) -> Result<&mut [Cell], MemoryError> {
        let buffer = match place.buffer() {
            Buffer::Input => &mut self.input,
            Buffer::Output => &mut self.output,
            Buffer::Scratch => &mut self.scratch[bank],
        };
        let first = place.element() as usize;
        buffer.get_mut(first..first + length as usize).ok_or(MemoryError::Beyond)
    }

    /// The owner enters an epoch: the program has written its input, and what its output holds counts no
    /// more.
    pub fn enter(&mut self, now: Time, values: impl Fn(u32) -> Term) -> Result<(), MemoryError> {
        for (i, cell) in self.input.iter_mut().enumerate() {
            *cell = Cell { value: Some(values(i as u32)), taken: now, read: 0 };
        }
        for (i, cell) in self.output.iter_mut().enumerate() {
            if cell.taken == ON_ITS_WAY {
                return Err(MemoryError::Race(Place::output(i as u32)));
            }
            *cell = Cell { value: None, taken: now, read: 0 };
        }
        Ok(())
    }

    /// The owner reads: what was written last must have been waited for.
    pub fn read(
        &mut self,
        now: Time,
        bank: usize,
        place: Place,
        length: u32,
    ) -> Result<Vec<Term>, MemoryError> {
        let cells = self.cells(bank, place, length)?;
        let mut values = Vec::with_capacity(length as usize);
        for (i, cell) in cells.iter_mut().enumerate() {
            if cell.taken == ON_ITS_WAY {
                return Err(MemoryError::Race(place.plus(i as u32)));
            }
            values.push(cell.value.ok_or(MemoryError::Unwritten(place.plus(i as u32)))?);
            cell.read = now;
        }
        Ok(values)
    }

    /// The owner writes.
    pub fn write(
        &mut self,
        now: Time,
        bank: usize,
        place: Place,
        values: &[Term],
    ) -> Result<(), MemoryError> {
        for (i, (cell, value)) in
            self.cells(bank, place, values.len() as u32)?.iter_mut().zip(values).enumerate()
        {
            if cell.taken == ON_ITS_WAY {
                return Err(MemoryError::Race(place.plus(i as u32)));
            }
            *cell = Cell { value: Some(*value), taken: now, read: cell.read };
        }
        Ok(())
    }

    /// Another rank, which knows of the owner's events up to `known`, sends a write off: the owner must be
    /// done with what is there.
    pub fn announce(
        &mut self,
        known: Time,
        bank: usize,
        place: Place,
        length: u32,
    ) -> Result<(), MemoryError> {
        for (i, cell) in self.cells(bank, place, length)?.iter_mut().enumerate() {
            // A write that is on its way has a time that nobody can know of.
            if cell.taken > known || cell.read > known {
                return Err(MemoryError::Race(place.plus(i as u32)));
            }
            cell.taken = ON_ITS_WAY;
        }
        Ok(())
    }

    /// The write arrives.
    pub fn deliver(&mut self, bank: usize, place: Place, values: &[Term]) {
        let cells = self.cells(bank, place, values.len() as u32).expect("announced within the buffer");
        cells.iter_mut().zip(values).for_each(|(cell, value)| cell.value = Some(*value));
    }

    /// The owner has waited for the write.
    pub fn take(&mut self, now: Time, bank: usize, place: Place, length: u32) {
        let cells = self.cells(bank, place, length).expect("announced within the buffer");
        cells.iter_mut().for_each(|cell| cell.taken = now);
    }

    /// All values, for comparing states.
    pub fn values(&self) -> impl Iterator<Item = Option<Term>> {
        self.input.iter().chain(&self.output).chain(self.scratch.iter().flatten()).map(|cell| cell.value)
    }
}

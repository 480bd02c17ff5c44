//! A rank's buffers, element by element, with what is needed to see data races.

use super::clock::EventTime;
use super::terms::Term;
use crate::step::{Buffer, Place};

/// The time of a write that the owner has not waited for: later than anything another rank can know.
const ON_ITS_WAY: EventTime = EventTime::MAX;

/// One element of a buffer.
#[derive(Clone, Debug)]
pub struct Element {
    /// What it holds. None if nothing was written.
    pub value: Option<Term>,
    /// When the owner came to know of the last write.
    taken: EventTime,
    /// When the owner last read it.
    read: EventTime,
}

const UNWRITTEN: Element = Element { value: None, taken: 0, read: 0 };

/// Why an access breaks the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryError {
    /// Another access to the place may happen at the same time.
    Race(Place),
    /// Nothing has been written to the place.
    Unwritten(Place),
    /// The access goes past the end of the buffer.
    OutOfBounds,
}

/// All buffers of a rank: input, output, and scratch in each bank.
#[derive(Clone, Debug)]
pub struct Memory {
    pub input: Vec<Element>,
    pub output: Vec<Element>,
    scratch: Vec<Vec<Element>>,
}

impl Memory {
    /// Buffers of so many elements, nothing written.
    pub fn new(input: usize, output: usize, scratch: usize, banks: usize) -> Memory {
        Memory {
            input: vec![UNWRITTEN; input],
            output: vec![UNWRITTEN; output],
            scratch: vec![vec![UNWRITTEN; scratch]; banks],
        }
    }

    fn elements(&mut self, bank: usize, place: Place, length: u32) -> Result<&mut [Element], MemoryError> {
        let buffer = match place.buffer() {
            Buffer::Input => &mut self.input,
            Buffer::Output => &mut self.output,
            Buffer::Scratch => &mut self.scratch[bank],
        };
        let first = place.element() as usize;
        buffer.get_mut(first..first + length as usize).ok_or(MemoryError::OutOfBounds)
    }

    /// The owner enters an epoch: the program has written its input, and the old output no longer counts.
    pub fn enter(&mut self, now: EventTime, values: impl Fn(u32) -> Term) -> Result<(), MemoryError> {
        for (i, element) in self.input.iter_mut().enumerate() {
            *element = Element { value: Some(values(i as u32)), taken: now, read: 0 };
        }
        for (i, element) in self.output.iter_mut().enumerate() {
            if element.taken == ON_ITS_WAY {
                return Err(MemoryError::Race(Place::output(i as u32)));
            }
            *element = Element { value: None, taken: now, read: 0 };
        }
        Ok(())
    }

    /// The owner reads. It must have waited for the last write.
    pub fn read(
        &mut self,
        now: EventTime,
        bank: usize,
        place: Place,
        length: u32,
    ) -> Result<Vec<Term>, MemoryError> {
        let elements = self.elements(bank, place, length)?;
        let mut values = Vec::with_capacity(length as usize);
        for (i, element) in elements.iter_mut().enumerate() {
            if element.taken == ON_ITS_WAY {
                return Err(MemoryError::Race(place.plus(i as u32)));
            }
            values.push(element.value.ok_or(MemoryError::Unwritten(place.plus(i as u32)))?);
            element.read = now;
        }
        Ok(values)
    }

    /// The owner writes.
    pub fn write(
        &mut self,
        now: EventTime,
        bank: usize,
        place: Place,
        values: &[Term],
    ) -> Result<(), MemoryError> {
        let elements = self.elements(bank, place, values.len() as u32)?;
        for (i, (element, value)) in elements.iter_mut().zip(values).enumerate() {
            if element.taken == ON_ITS_WAY {
                return Err(MemoryError::Race(place.plus(i as u32)));
            }
            *element = Element { value: Some(*value), taken: now, read: element.read };
        }
        Ok(())
    }

    /// Another rank, which knows the owner's events up to `known`, sends a write. The owner must be done
    /// with the old contents.
    pub fn announce(
        &mut self,
        known: EventTime,
        bank: usize,
        place: Place,
        length: u32,
    ) -> Result<(), MemoryError> {
        for (i, element) in self.elements(bank, place, length)?.iter_mut().enumerate() {
            // A write on its way has a time that no rank can know.
            if element.taken > known || element.read > known {
                return Err(MemoryError::Race(place.plus(i as u32)));
            }
            element.taken = ON_ITS_WAY;
        }
        Ok(())
    }

    /// An announced write arrives.
    pub fn deliver(&mut self, bank: usize, place: Place, values: &[Term]) {
        let elements = self.elements(bank, place, values.len() as u32).expect("announced within the buffer");
        elements.iter_mut().zip(values).for_each(|(element, value)| element.value = Some(*value));
    }

    /// The owner has waited for an announced write.
    pub fn take(&mut self, now: EventTime, bank: usize, place: Place, length: u32) {
        let elements = self.elements(bank, place, length).expect("announced within the buffer");
        elements.iter_mut().for_each(|element| element.taken = now);
    }

    /// All values, for comparing states.
    pub fn values(&self) -> impl Iterator<Item = Option<Term>> {
        let all = self.input.iter().chain(&self.output).chain(self.scratch.iter().flatten());
        all.map(|element| element.value)
    }
}

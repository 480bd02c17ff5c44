//! Reading a rank's file.

use crate::choice::{self, Choice, Envelope, Values};
use crate::digest::Digest;
use crate::format::{self, Ending, HEADER_BYTES, LIVE_OFFSET, LibraryClock, LibrarySource, Live, Start};
use crate::rank_file::{RankFileError, end_of_records, long, short};
use crate::varint::{take, take_signed};
use std::collections::{HashMap, VecDeque};

/// What became of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// It got this message.
    Matched(Envelope),
    /// It was cancelled before a message came.
    Cancelled,
}

/// An outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// So many tests and probes failed since the outcome before.
    pub misses_before: u64,
    /// The function.
    pub choice: Choice,
    /// See [`Choice::values`].
    pub values: Vec<i64>,
}

/// The lower halves of the hashes after a number of calls that the interval divides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Check {
    /// What was sent.
    pub sent: u32,
    /// What was received.
    pub received: u32,
}

/// A call after which equality is not promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unpromised {
    /// The calls that were over.
    pub calls: u64,
    /// The function, or a short description.
    pub name: String,
}

/// What the C library gave.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Values of each clock, by its number.
    pub clocks: [VecDeque<i64>; LibraryClock::COUNT],
    /// Bytes of each other source, by its number, for each call.
    pub bytes: [Vec<Vec<u8>>; LibrarySource::COUNT],
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// What was known at the start.
    pub start: Start,
    /// The counters.
    pub live: Live,
    /// Receives by their number: those that got a message by a wildcard, and those that were cancelled.
    pub receives: HashMap<u64, Resolution>,
    /// Outcomes in their order.
    pub outcomes: VecDeque<Outcome>,
    /// Failed tests and probes after the last outcome.
    pub misses_at_the_end: u64,
    /// Values of `MPI_Wtime`, in bits.
    pub clocks: VecDeque<u64>,
    /// What the C library gave before `MPI_Init`.
    pub drawn_before: Drawn,
    /// What it gave from then on.
    pub drawn: Drawn,
    /// Checks in their order.
    pub checks: VecDeque<Check>,
    /// In their order.
    pub unpromised: Vec<Unpromised>,
}

impl Trace {
    /// Whether the C library gave anything before `MPI_Init`.
    pub fn has_draws_before_init(&self) -> bool {
        let Drawn { clocks, bytes } = &self.drawn_before;
        clocks.iter().any(|values| !values.is_empty()) || bytes.iter().any(|given| !given.is_empty())
    }

    /// Reads a file. It must have been read as a whole.
    pub fn parse(file: &[u8]) -> Result<Trace, RankFileError> {
        let start = start(file)?;
        let live = live(file)?;
        let end = end_of_records(file, live.used)?;
        if live.ending == Ending::Finalized && format::seal(file, &live) != live.seal {
            return Err(RankFileError::WrongSeal);
        }
        let mut trace = Trace { start, live, ..Trace::default() };
        let records = &file[HEADER_BYTES..end];
        Parser { records, rest: records, ..Parser::default() }.all(&mut trace)?;
        Ok(trace)
    }
}

fn start(file: &[u8]) -> Result<Start, RankFileError> {
    format::FORMAT.check(file)?;
    let name_bytes = usize::from(u16::from_le_bytes([file[48], file[49]]));
    let start = Start {
        ranks: short(file, 12),
        rank: short(file, 16),
        interval: short(file, 20),
        program_bytes: long(file, 24),
        program_changed_ns: long(file, 32),
        run: long(file, 40),
        program: String::from_utf8_lossy(&file[50..50 + name_bytes.min(format::LONGEST_NAME)]).into_owned(),
    };
    if start.rank >= start.ranks || start.interval == 0 {
        return Err(RankFileError::Damaged { offset: 12 });
    }
    Ok(start)
}

fn live(file: &[u8]) -> Result<Live, RankFileError> {
    let number = |place: usize| long(file, LIVE_OFFSET + 8 * place);
    let ending = Ending::of(number(5)).ok_or(RankFileError::Damaged { offset: (LIVE_OFFSET + 40) as u64 })?;
    Ok(Live {
        used: number(0),
        calls: number(1),
        misses: number(2),
        sent: Digest(number(3)),
        received: Digest(number(4)),
        ending,
        seal: number(6),
    })
}

/// Reads records.
#[derive(Default)]
struct Parser<'a> {
    records: &'a [u8],
    rest: &'a [u8],
    /// The receive after the one that was noted last.
    next: u64,
    /// Failed tests and probes since the last outcome, and all that outcomes have before them.
    misses: u64,
    all_misses: u64,
    last_tag: i32,
    last_clock: u64,
    last_library_clocks: [i64; LibraryClock::COUNT],
}

impl Parser<'_> {
    fn all(mut self, trace: &mut Trace) -> Result<(), RankFileError> {
        while let Some((&first, rest)) = self.rest.split_first() {
            let offset = (HEADER_BYTES + self.records.len() - self.rest.len()) as u64;
            self.rest = rest;
            self.record(first, trace).ok_or(RankFileError::Damaged { offset })?;
        }
        let written = self.all_misses.saturating_add(self.misses);
        if written > trace.live.misses {
            return Err(RankFileError::Damaged { offset: (LIVE_OFFSET + 16) as u64 });
        }
        trace.misses_at_the_end = trace.live.misses - self.all_misses;
        Ok(())
    }

    /// `None`: that cannot be.
    fn record(&mut self, first: u8, trace: &mut Trace) -> Option<()> {
        match first {
            format::SHORT_MATCH.. => {
                let source = i32::from(first - format::SHORT_MATCH);
                self.resolve(trace, 0, Resolution::Matched(Envelope { source, tag: self.last_tag }))
            }
            format::MATCHED => {
                let distance = take_signed(&mut self.rest)?;
                let message = self.envelope()?;
                self.last_tag = message.tag;
                self.resolve(trace, distance, Resolution::Matched(message))
            }
            format::CANCELLED => {
                let distance = take_signed(&mut self.rest)?;
                self.resolve(trace, distance, Resolution::Cancelled)
            }
            format::MISSES => {
                self.misses = self.misses.checked_add(take(&mut self.rest)?)?;
                Some(())
            }
            format::CLOCK => {
                self.last_clock = self.last_clock.wrapping_add(take_signed(&mut self.rest)? as u64);
                trace.clocks.push_back(self.last_clock);
                Some(())
            }
            format::CHECK => {
                let (bytes, rest) = self.rest.split_at_checked(8)?;
                self.rest = rest;
                trace.checks.push_back(Check { sent: short(bytes, 0), received: short(bytes, 4) });
                Some(())
            }
            format::LIBRARY_CLOCK => self.library_clock(trace),
            format::LIBRARY_BYTES => {
                let source = LibrarySource::new(take(&mut self.rest)?)?;
                let given = self.bytes()?.to_vec();
                trace.drawn.bytes[source.number()].push(given);
                Some(())
            }
            format::INIT => {
                trace.drawn_before = std::mem::take(&mut trace.drawn);
                Some(())
            }
            format::UNPROMISED => self.unpromised(trace),
            _ => self.outcome(first, trace),
        }
    }

    fn resolve(&mut self, trace: &mut Trace, distance: i64, resolution: Resolution) -> Option<()> {
        let receive = self.next.checked_add_signed(distance)?;
        self.next = receive.checked_add(1)?;
        trace.receives.insert(receive, resolution).is_none().then_some(())
    }

    fn envelope(&mut self) -> Option<Envelope> {
        let source = i32::try_from(take_signed(&mut self.rest)?).ok()?;
        let tag = i32::try_from(take_signed(&mut self.rest)?).ok()?;
        (source >= Envelope::NO_RANK).then_some(Envelope { source, tag })
    }

    fn unpromised(&mut self, trace: &mut Trace) -> Option<()> {
        let calls = take(&mut self.rest)?;
        let name = String::from_utf8_lossy(self.bytes()?).into_owned();
        trace.unpromised.push(Unpromised { calls, name });
        Some(())
    }

    /// A length, and so many bytes.
    fn bytes(&mut self) -> Option<&[u8]> {
        let length = usize::try_from(take(&mut self.rest)?).ok()?;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    fn library_clock(&mut self, trace: &mut Trace) -> Option<()> {
        let clock = LibraryClock::new(take(&mut self.rest)?)?;
        let last = &mut self.last_library_clocks[clock.number()];
        *last = last.wrapping_add(take_signed(&mut self.rest)?);
        trace.drawn.clocks[clock.number()].push_back(*last);
        Some(())
    }

    fn outcome(&mut self, first: u8, trace: &mut Trace) -> Option<()> {
        let choice = *choice::ALL.get(usize::from(first.checked_sub(format::FIRST_CHOICE)?))?;
        let values = match choice.values() {
            Values::Nothing => Vec::new(),
            Values::Index => vec![i64::try_from(take(&mut self.rest)?).ok()?],
            Values::Indices => self.indices()?,
            Values::Envelope => {
                let message = self.envelope()?;
                vec![i64::from(message.source), i64::from(message.tag)]
            }
        };
        trace.outcomes.push_back(Outcome { misses_before: self.misses, choice, values });
        self.all_misses = self.all_misses.checked_add(self.misses)?;
        self.misses = 0;
        Some(())
    }

    fn indices(&mut self) -> Option<Vec<i64>> {
        let number = take(&mut self.rest)?;
        let mut values = vec![i64::try_from(number).ok()?];
        for _ in 1..number {
            values.push(i64::try_from(take(&mut self.rest)?).ok()?);
        }
        Some(values)
    }
}

//! Reads a rank's file.

use super::format::{
    BEGIN, CHANGED, COMM, CONSTANT, END, FORMAT, FUNCTION, MODULE, MOST_RUNS, MOST_WORDS, NAMED_ELEMENT,
    SCRIPT_SITE, SEQUENCE, SITE, TYPE,
};
use super::recorder::TypeFacts;
use crate::rank_file::RankFileError;
use crate::times::file::{MOST_THREADS, Module, header, ranks, text};
use crate::times::format::{Ending, HEADER_BYTES, LIVE_OFFSET, Live, Start};
use crate::varint::{take, take_signed};

/// An argument or a result of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// As the standard has it.
    pub name: String,
    /// One of the codes of [`format`](super::format).
    pub kind: u8,
}

/// A function of MPI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// `MPI_Isend`.
    pub name: String,
    /// What its calls pass.
    pub arguments: Vec<Parameter>,
    /// What they get.
    pub results: Vec<Parameter>,
}

/// From where MPI is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Site {
    /// A file with code, or none, and where the call returns to in it.
    Code(Option<u32>, u64),
    /// A script: file, line, function.
    Script(String, u32, String),
}

/// What a datatype's signature consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elements {
    /// One of a predefined type: its name and its bytes.
    One(String, u64),
    /// Parts: how often each comes, and which elements these are.
    Sequence(Vec<(u64, u32)>),
}

/// Words of a call: a range of [`Checks::words`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// The first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A thread has entered a function.
    Begin {
        /// Its number.
        thread: u32,
        /// Which function.
        function: u32,
        /// From where.
        site: u32,
        /// With what.
        words: Words,
    },
    /// It has left it.
    End {
        /// Its number.
        thread: u32,
        /// MPI has returned an error.
        has_failed: bool,
        /// What it got.
        words: Words,
    },
    /// A communicator has come to be: which of [`Checks::comms`].
    Comm(u32),
    /// A datatype may be used: which of [`Checks::types`].
    Type(u32),
    /// The send buffer of a request was not what it had been; true: it could not be read.
    Changed(i64, bool),
}

/// A communicator as one of its members sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comm {
    /// Its handle.
    pub handle: i64,
    /// World ranks of the members of this rank's group; negative: of another world.
    pub members: Vec<i32>,
    /// Those of the remote group; empty for an intracommunicator.
    pub remote: Vec<i32>,
}

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// What was known at the start.
    pub start: Start,
    /// The counters.
    pub live: Live,
    /// Functions.
    pub functions: Vec<Function>,
    /// Files with code.
    pub modules: Vec<Module>,
    /// Places.
    pub sites: Vec<Site>,
    /// Elements of datatypes; a sequence consists of those before it.
    pub elements: Vec<Elements>,
    /// Communicators.
    pub comms: Vec<Comm>,
    /// Datatypes.
    pub types: Vec<TypeFacts>,
    /// Names of the library's handles.
    pub constants: Vec<(String, i64)>,
    /// In the order in which they happened.
    pub events: Vec<Event>,
    /// Arguments and results.
    pub words: Vec<i64>,
}

impl Checks {
    /// Reads a file. It must have been read as a whole.
    pub fn parse(file: &[u8]) -> Result<Checks, RankFileError> {
        let (start, live) = header(file, FORMAT)?;
        let mut checks = Checks { start, live, ..Checks::default() };
        let end = HEADER_BYTES + live.used as usize;
        let mut rest = &file[HEADER_BYTES..end];
        let mut calls = 0_u64;
        while !rest.is_empty() {
            let offset = (end - rest.len()) as u64;
            checks.take(&mut rest, &mut calls).ok_or(RankFileError::Damaged { offset })?;
        }
        // A process that was killed may have written the end of a call and not counted it.
        if calls.wrapping_sub(live.calls) > u64::from(live.ending == Ending::Open) {
            return Err(RankFileError::Damaged { offset: LIVE_OFFSET as u64 + 8 });
        }
        Ok(checks)
    }

    /// Words of a call.
    pub fn words(&self, words: Words) -> &[i64] {
        &self.words[words.first as usize..words.first as usize + words.count as usize]
    }

    fn take(&mut self, rest: &mut &[u8], calls: &mut u64) -> Option<()> {
        let (&record, after) = rest.split_first()?;
        *rest = after;
        match record {
            BEGIN => {
                let thread = thread_of(rest)?;
                let function = below(rest, self.functions.len())?;
                let site = below(rest, self.sites.len())?;
                let words = self.take_words(rest)?;
                self.events.push(Event::Begin { thread, function, site, words });
            }
            END => {
                let thread = thread_of(rest)?;
                let has_failed = take(rest).filter(|&flag| flag < 2)? == 1;
                let words = self.take_words(rest)?;
                self.events.push(Event::End { thread, has_failed, words });
                *calls += 1;
            }
            CHANGED => {
                let (request, how) = (take_signed(rest)?, take(rest)?);
                self.events.push(Event::Changed(request, how == 2));
            }
            _ => self.definition(record, rest)?,
        }
        Some(())
    }

    fn take_words(&mut self, rest: &mut &[u8]) -> Option<Words> {
        let count = take(rest).filter(|&count| count <= MOST_WORDS && count <= rest.len() as u64)?;
        let first = u32::try_from(self.words.len()).ok()?;
        for _ in 0..count {
            self.words.push(take_signed(rest)?);
        }
        Some(Words { first, count: count as u32 })
    }

    fn definition(&mut self, record: u8, rest: &mut &[u8]) -> Option<()> {
        match record {
            FUNCTION => {
                let (name, arguments, results) = (text(rest)?, text(rest)?, text(rest)?);
                let (arguments, results) = (parameters(&arguments)?, parameters(&results)?);
                self.functions.push(Function { name, arguments, results });
            }
            MODULE => {
                let (size, changed_ns) = (take(rest)?, take(rest)?);
                self.modules.push(Module { path: text(rest)?, size, changed_ns });
            }
            SITE => {
                let module = below(rest, self.modules.len() + 1)?.checked_sub(1);
                self.sites.push(Site::Code(module, take(rest)?));
            }
            SCRIPT_SITE => {
                let (file, line) = (text(rest)?, take(rest)?);
                self.sites.push(Site::Script(file, line.try_into().ok()?, text(rest)?));
            }
            COMM => {
                let most = self.start.ranks.max(1 << 20) as usize;
                let handle = take_signed(rest)?;
                self.comms.push(Comm { handle, members: ranks(rest, most)?, remote: ranks(rest, most)? });
                self.events.push(Event::Comm(self.comms.len() as u32 - 1));
            }
            NAMED_ELEMENT => {
                let name = text(rest)?;
                self.elements.push(Elements::One(name, take(rest)?));
            }
            SEQUENCE => {
                let count = take(rest).filter(|&count| count <= rest.len() as u64)?;
                let part = |rest: &mut &[u8]| Some((take(rest)?, below(rest, self.elements.len())?));
                let parts = (0..count).map(|_| part(rest)).collect::<Option<Vec<_>>>()?;
                self.elements.push(Elements::Sequence(parts));
            }
            TYPE => {
                let facts = self.datatype(rest)?;
                self.types.push(facts);
                self.events.push(Event::Type(self.types.len() as u32 - 1));
            }
            CONSTANT => {
                let name = text(rest)?;
                self.constants.push((name, take_signed(rest)?));
            }
            _ => return None,
        }
        Some(())
    }

    fn datatype(&self, rest: &mut &[u8]) -> Option<TypeFacts> {
        let handle = take_signed(rest)?;
        let elements = below(rest, self.elements.len() + 1)?.checked_sub(1);
        let (size, extent) = (take(rest)?, take_signed(rest)?);
        let runs = match take(rest)?.checked_sub(1) {
            None => None,
            Some(count) if count > MOST_RUNS as u64 => return None,
            Some(count) => {
                let mut end = 0_i64;
                let mut runs = Vec::new();
                for _ in 0..count {
                    let at = end.checked_add(take_signed(rest)?)?;
                    let length = take(rest).filter(|&length| length <= i64::MAX as u64)?;
                    end = at.checked_add(length as i64)?;
                    runs.push((at, length));
                }
                Some(runs)
            }
        };
        Some(TypeFacts { handle, elements, size, extent, runs })
    }
}

fn thread_of(rest: &mut &[u8]) -> Option<u32> {
    take(rest).filter(|&thread| thread < MOST_THREADS).map(|thread| thread as u32)
}

fn below(rest: &mut &[u8], limit: usize) -> Option<u32> {
    take(rest).filter(|&number| number < limit as u64).map(|number| number as u32)
}

fn parameters(text: &str) -> Option<Vec<Parameter>> {
    let one = |word: &str| {
        let (name, kind) = word.split_once(':')?;
        let &[kind] = kind.as_bytes() else { return None };
        Some(Parameter { name: name.to_string(), kind })
    };
    text.split(',').filter(|word| !word.is_empty()).map(one).collect()
}

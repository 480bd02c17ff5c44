//! Turns calls and what they refer to into records.

use super::format::{
    BEGIN, CHANGED, COMM, CONSTANT, END, FUNCTION, MODULE, MOST_RUNS, NAMED_ELEMENT, SCRIPT_SITE, SEQUENCE,
    SITE, TYPE,
};
use crate::times::recorder::{Store, push_ranks, push_text};
use crate::varint::{push, push_signed};

/// What is known of a datatype that may be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeFacts {
    /// Its handle.
    pub handle: i64,
    /// Its elements, by their number; `None`: not known.
    pub elements: Option<u32>,
    /// Bytes without holes.
    pub size: u64,
    /// From one to the next.
    pub extent: i64,
    /// Displacement and length of each run of bytes; `None`: not known, or too many.
    pub runs: Option<Vec<(i64, u64)>>,
}

/// Records the calls of a process. One thread at a time may use it.
#[derive(Debug)]
pub struct Recorder<S> {
    store: S,
    scratch: Vec<u8>,
    is_full: bool,
    functions: u32,
    sites: u32,
    elements: u32,
    modules: u32,
}

impl<S: Store> Recorder<S> {
    /// Nothing is recorded yet.
    pub fn new(store: S) -> Recorder<S> {
        Recorder {
            store,
            scratch: Vec::new(),
            is_full: false,
            functions: 0,
            sites: 0,
            elements: 0,
            modules: 0,
        }
    }

    /// Where the records are.
    pub fn store(&self) -> &S {
        &self.store
    }

    /// As [`Self::store`], to end it.
    pub fn into_store(self) -> S {
        self.store
    }

    /// Whether something could not be recorded. Nothing is recorded from then on.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// A function with the names and kinds of its arguments and results. Returns its number.
    pub fn function(&mut self, name: &str, arguments: &str, results: &str) -> u32 {
        self.record(FUNCTION, 0, |bytes| {
            for text in [name, arguments, results] {
                push_text(bytes, text);
            }
        });
        self.functions += 1;
        self.functions - 1
    }

    /// A file with code. Returns its number.
    pub fn module(&mut self, path: &str, size: u64, changed_ns: u64) -> u32 {
        self.record(MODULE, 0, |bytes| {
            push(bytes, size);
            push(bytes, changed_ns);
            push_text(bytes, path);
        });
        self.modules += 1;
        self.modules - 1
    }

    /// A place from which MPI is called. Returns its number.
    pub fn site(&mut self, module: Option<u32>, offset: u64) -> u32 {
        self.record(SITE, 0, |bytes| {
            push(bytes, module.map_or(0, |module| u64::from(module) + 1));
            push(bytes, offset);
        });
        self.sites += 1;
        self.sites - 1
    }

    /// The same, in a script.
    pub fn script_site(&mut self, file: &str, line: u32, function: &str) -> u32 {
        self.record(SCRIPT_SITE, 0, |bytes| {
            push_text(bytes, file);
            push(bytes, line.into());
            push_text(bytes, function);
        });
        self.sites += 1;
        self.sites - 1
    }

    /// A thread has entered a function.
    pub fn begin(&mut self, thread: u32, function: u32, site: u32, words: &[i64]) {
        self.record(BEGIN, 0, |bytes| {
            push(bytes, thread.into());
            push(bytes, function.into());
            push(bytes, site.into());
            push_words(bytes, words);
        });
    }

    /// It has left it.
    pub fn end(&mut self, thread: u32, has_failed: bool, words: &[i64]) {
        self.record(END, 1, |bytes| {
            push(bytes, thread.into());
            push(bytes, has_failed.into());
            push_words(bytes, words);
        });
    }

    /// A communicator has come to be: world ranks of its members, and of the remote ones.
    pub fn comm(&mut self, handle: i64, members: &[i32], remote: &[i32]) {
        self.record(COMM, 0, |bytes| {
            push_signed(bytes, handle);
            push_ranks(bytes, members);
            push_ranks(bytes, remote);
        });
    }

    /// A predefined type of elements. Returns its number.
    pub fn named_element(&mut self, name: &str, bytes_each: u64) -> u32 {
        self.record(NAMED_ELEMENT, 0, |bytes| {
            push_text(bytes, name);
            push(bytes, bytes_each);
        });
        self.elements += 1;
        self.elements - 1
    }

    /// So many of these elements, one after the other. Returns the number of the sequence.
    pub fn sequence(&mut self, parts: &[(u64, u32)]) -> u32 {
        self.record(SEQUENCE, 0, |bytes| {
            push(bytes, parts.len() as u64);
            for &(times, elements) in parts {
                push(bytes, times);
                push(bytes, elements.into());
            }
        });
        self.elements += 1;
        self.elements - 1
    }

    /// A datatype that may be used from now on.
    pub fn datatype(&mut self, facts: &TypeFacts) {
        self.record(TYPE, 0, |bytes| {
            push_signed(bytes, facts.handle);
            push(bytes, facts.elements.map_or(0, |number| u64::from(number) + 1));
            push(bytes, facts.size);
            push_signed(bytes, facts.extent);
            let runs = facts.runs.as_deref().filter(|runs| runs.len() <= MOST_RUNS);
            push(bytes, runs.map_or(0, |runs| runs.len() as u64 + 1));
            let mut end = 0;
            for &(at, length) in runs.unwrap_or_default() {
                push_signed(bytes, at - end);
                push(bytes, length);
                end = at + length as i64;
            }
        });
    }

    /// The send buffer of a request is not what it was; `is_gone`: it cannot be read any more.
    pub fn changed(&mut self, request: i64, is_gone: bool) {
        self.record(CHANGED, 0, |bytes| {
            push_signed(bytes, request);
            push(bytes, 1 + u64::from(is_gone));
        });
    }

    /// A handle of the library's.
    pub fn constant(&mut self, name: &str, word: i64) {
        self.record(CONSTANT, 0, |bytes| {
            push_text(bytes, name);
            push_signed(bytes, word);
        });
    }

    fn record(&mut self, record: u8, calls: u64, write: impl FnOnce(&mut Vec<u8>)) {
        if self.is_full {
            return;
        }
        self.scratch.clear();
        self.scratch.push(record);
        write(&mut self.scratch);
        match self.store.room(self.scratch.len()) {
            Some(room) => room[..self.scratch.len()].copy_from_slice(&self.scratch),
            None => return self.is_full = true,
        }
        self.store.commit(self.scratch.len(), calls);
    }
}

fn push_words(bytes: &mut Vec<u8>, words: &[i64]) {
    push(bytes, words.len() as u64);
    for &word in words {
        push_signed(bytes, word);
    }
}

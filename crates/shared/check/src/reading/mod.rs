//! Reads what a rank has done: from calls with words to sends, receives, collectives and requests. What can
//! be seen from one rank alone is found here.

mod begin;
mod end;

use crate::arguments::{Field, FunctionLayout, Words};
use crate::families::{self, Family};
use crate::finding::Finding;
use crate::history::{Call, CallIndex, Communicator, Data, History};
use crate::objects::Objects;
use crate::regions::{Region, Shape};
use crate::requests::Requests;
use crate::rules::handle::{self, Misuse};
use crate::rules::modified;
use crate::rules::overlap::{BufferId, Buffers};
use crate::signature::Signatures;
use evenkeel_trace::checks::file::{Checks, Event, Words as Range};
use evenkeel_trace::checks::format::IN_PLACE;
use evenkeel_trace::times::shape::ROOT;
use std::collections::HashMap;
use std::rc::Rc;

/// What is known of a datatype.
struct Datatype {
    size: u64,
    elements: Option<u32>,
    shape: Option<Rc<Shape>>,
}

/// A call that a thread is in.
#[derive(Clone, Copy)]
struct Open {
    call: CallIndex,
    words: Range,
}

/// What is left of a call's beginning for its end.
#[derive(Default)]
struct Pending {
    /// What the call has begun.
    send: Option<u32>,
    receive: Option<u32>,
    probe: Option<u32>,
    collective: Option<u32>,
    buffers: Vec<BufferId>,
}

struct Reader<'a> {
    checks: &'a Checks,
    layouts: Vec<FunctionLayout>,
    families: Vec<Family>,
    history: History,
    requests: Requests,
    objects: Objects,
    buffers: Buffers,
    types: HashMap<i64, Datatype>,
    comms: HashMap<i64, u32>,
    /// Messages that matched probes have taken: which receive.
    messages: HashMap<i64, u32>,
    /// By thread: the call that it is in, and those of callbacks within that.
    open: HashMap<u32, Vec<(Open, Pending)>>,
    /// Sends that were to be cancelled.
    null_request: Option<i64>,
}

/// Reads a rank's file.
pub fn read(checks: &Checks) -> History {
    let layouts: Vec<_> = checks.functions.iter().map(FunctionLayout::new).collect();
    let names = checks.functions.iter().zip(&layouts).map(|(f, l)| (f.name.clone(), l.base.clone()));
    let history = History {
        rank: checks.start.rank,
        functions: names.collect(),
        signatures: Signatures::new(&checks.elements),
        constants: checks.constants.iter().map(|(name, word)| (*word, name.clone())).collect(),
        ..History::default()
    };
    let mut reader = Reader {
        checks,
        families: layouts.iter().map(|layout| families::of(&layout.base)).collect(),
        layouts,
        history,
        requests: Requests::default(),
        objects: Objects::default(),
        buffers: Buffers::default(),
        types: HashMap::new(),
        comms: HashMap::new(),
        messages: HashMap::new(),
        open: HashMap::new(),
        null_request: None,
    };
    for (name, word) in &checks.constants {
        reader.objects.constant(name, *word);
        if name == "MPI_REQUEST_NULL" {
            reader.null_request = Some(*word);
        }
    }
    reader.run();
    if reader.history.finalized.is_some() {
        reader.look_at_leaks();
    }
    let facts = |t: &Datatype| (t.size, t.elements);
    let predefined = reader.types.iter().filter(|(handle, _)| reader.objects.is_predefined(b'd', **handle));
    reader.history.types = predefined.map(|(handle, t)| (*handle, facts(t))).collect();
    reader.history
}

impl Reader<'_> {
    fn run(&mut self) {
        let mut ended = 0;
        for event in &self.checks.events {
            match event {
                Event::Begin { thread, function, site, words } => {
                    let call = self.history.calls.len() as CallIndex;
                    let is_inner = self.open.get(thread).is_some_and(|calls| !calls.is_empty());
                    self.history.has_threads |= *thread > 0;
                    self.history.calls.push(Call {
                        number: None,
                        function: *function,
                        site: *site,
                        has_failed: false,
                        is_inner,
                    });
                    let pending = if self.history.ends_at.is_none() && !is_inner {
                        self.begin(call, *words)
                    } else {
                        Pending::default()
                    };
                    self.open.entry(*thread).or_default().push((Open { call, words: *words }, pending));
                }
                Event::End { thread, has_failed, words } => {
                    let Some((open, pending)) = self.open.get_mut(thread).and_then(Vec::pop) else {
                        continue;
                    };
                    let at = &mut self.history.calls[open.call as usize];
                    if at.is_inner {
                        self.freed_within(open);
                        continue;
                    }
                    let number = ended;
                    ended += 1;
                    at.number = Some(number);
                    at.has_failed = *has_failed;
                    if self.history.ends_at.is_none() {
                        self.end(open, pending, *has_failed, *words);
                    }
                }
                Event::Comm(number) => self.usable_comm(*number),
                Event::Type(number) => self.usable_type(*number),
                Event::Changed(request, is_gone) => self.changed(*request, *is_gone),
            }
        }
    }

    // ---- what handles stand for ----

    fn usable_comm(&mut self, number: u32) {
        let comm = self.checks.comms[number as usize].clone();
        self.comms.insert(comm.handle, self.history.comms.len() as u32);
        self.history.comms.push(Communicator { comm, collectives: 0 });
    }

    fn usable_type(&mut self, number: u32) {
        let facts = &self.checks.types[number as usize];
        let runs = facts.runs.clone();
        let shape = runs.map(|runs| Rc::new(Shape { runs, extent: facts.extent }));
        self.types.insert(facts.handle, Datatype { size: facts.size, elements: facts.elements, shape });
        self.objects.usable_type(facts.handle, self.history.calls.is_empty());
    }

    fn changed(&mut self, request: i64, is_gone: bool) {
        let Some(call) = self.open.values().flatten().map(|(open, _)| open.call).max() else { return };
        if let Some(request) = self.requests.get(request).filter(|request| !request.is_shared) {
            let made = request.made;
            self.history.local.push(modified::finding(&self.history, made, call, is_gone));
        }
    }

    fn data(&self, count: Option<i64>, datatype: Option<i64>) -> Data {
        let known = datatype.and_then(|handle| self.types.get(&handle));
        Data {
            count: count.unwrap_or(-1),
            elements: known.and_then(|t| t.elements),
            size: known.map_or(0, |t| t.size),
        }
    }

    fn region(&self, address: Option<i64>, count: Option<i64>, datatype: Option<i64>) -> Option<Region> {
        let address = address.filter(|&address| address != IN_PLACE)?;
        Region::new(address, count?, self.types.get(&datatype?)?.shape.as_ref()?)
    }

    fn comm(&self, words: Words) -> Option<u32> {
        self.comms.get(&words.get(Field::Comm)?).copied()
    }

    /// Whether this rank is the root of a call, and whether the communicator is an intercommunicator.
    fn is_root(&self, comm: u32, root: i64) -> (bool, bool) {
        let of = &self.history.comms[comm as usize].comm;
        if of.remote.is_empty() {
            let own = usize::try_from(root).ok().and_then(|root| of.members.get(root));
            (own == Some(&(self.history.rank as i32)), false)
        } else {
            (root == i64::from(ROOT), true)
        }
    }

    fn report(&mut self, finding: Finding) {
        self.history.local.push(finding);
    }

    fn misuse(&mut self, call: CallIndex, kind: u8, misuse: Misuse, earlier: Option<CallIndex>) {
        let finding = handle::finding(&self.history, call, kind, misuse, earlier);
        self.report(finding);
    }
}

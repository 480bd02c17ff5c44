//! Reads what a rank has done: from calls with words to sends, receives, collectives and requests. What can be
//! seen from one rank alone is found here.

use crate::arguments::{Field, FunctionLayout, STATUS_WORDS, Words};
use crate::families::{self, Family, Mode};
use crate::finding::Finding;
use crate::history::{
    Awaited, Call, CallIndex, Collective, Communicator, Data, History, Receive, Send, Step, Unfinished,
};
use crate::objects::{self, Objects};
use crate::regions::{Region, Shape};
use crate::requests::{Purpose, Request, Requests, Template};
use crate::rules::handle::{self, Misuse};
use crate::rules::overlap::{self, BufferId, Buffers};
use crate::rules::{leak, modified};
use crate::signature::Signatures;
use evenkeel_trace::checks::file::{Checks, Event, Words as Range};
use evenkeel_trace::checks::format::IN_PLACE;
use evenkeel_trace::times::shape::{ANY, PROC_NULL, ROOT};
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
    /// Sends and receives that the call has begun.
    send: Option<u32>,
    receive: Option<u32>,
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
    open: HashMap<u32, (Open, Pending)>,
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
    let facts = |t: &Datatype| (t.size, t.elements);
    reader.history.types = reader.types.iter().map(|(handle, t)| (*handle, facts(t))).collect();
    reader.history
}

impl<'a> Reader<'a> {
    fn run(&mut self) {
        let mut ended = 0;
        for event in &self.checks.events {
            match event {
                Event::Begin { thread, function, site, words } => {
                    let call = self.history.calls.len() as CallIndex;
                    self.history.has_threads |= *thread > 0;
                    self.history.calls.push(Call {
                        number: None,
                        function: *function,
                        site: *site,
                        has_failed: false,
                    });
                    let pending = if self.history.ends_at.is_none() {
                        self.begin(call, *words)
                    } else {
                        Pending::default()
                    };
                    self.open.insert(*thread, (Open { call, words: *words }, pending));
                }
                Event::End { thread, has_failed, words } => {
                    let number = ended;
                    ended += 1;
                    let Some((open, pending)) = self.open.remove(thread) else { continue };
                    let at = &mut self.history.calls[open.call as usize];
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
        let Some(call) = self.open.values().map(|(open, _)| open.call).max() else { return };
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

    // ---- the beginning of a call ----

    fn begin(&mut self, call: CallIndex, range: Range) -> Pending {
        let function = self.history.calls[call as usize].function as usize;
        let layouts = std::mem::take(&mut self.layouts);
        let words = Words::new(&layouts[function].arguments, self.checks.words(range));
        let pending = self.begin_of(call, self.families[function], &layouts[function].base, words, range);
        self.layouts = layouts;
        pending
    }

    fn begin_of(
        &mut self,
        call: CallIndex,
        family: Family,
        base: &str,
        words: Words,
        range: Range,
    ) -> Pending {
        self.look_at_handles(call, family, base, words);
        let mut pending = Pending::default();
        match family {
            Family::Send { mode, is_blocking, receives, posts } => {
                self.begin_send(call, words, mode, is_blocking, &mut pending);
                if receives || posts {
                    self.begin_receive(call, words, is_blocking, true, &mut pending);
                }
                self.step_of(call, is_blocking, &pending);
                self.look_for_aliases(call, words, base == "Sendrecv");
            }
            Family::Receive { is_blocking } => {
                self.begin_receive(call, words, is_blocking, false, &mut pending);
                self.step_of(call, is_blocking, &pending);
            }
            Family::Collective { is_blocking, is_persistent } => {
                self.begin_collective(call, words, range, is_blocking, &mut pending);
                if !is_persistent {
                    self.begin_buffers_of_collective(call, base, words, is_blocking, &mut pending);
                }
            }
            Family::Wait { is_any, is_test } => self.begin_wait(call, words, is_any, is_test),
            Family::Start => self.look_at_started(call, words),
            Family::Finalize => self.finalize(call),
            Family::Free | Family::Other => {
                if base == "Cancel" || base == "Request_free" {
                    self.look_at_request(call, base, words);
                }
            }
            _ => {}
        }
        pending
    }

    /// A blocking call may wait for what it has begun.
    fn step_of(&mut self, call: CallIndex, is_blocking: bool, pending: &Pending) {
        if !is_blocking {
            return;
        }
        let sends = &self.history.sends;
        let send = pending.send.filter(|&send| sends[send as usize].waits).map(Awaited::Send);
        let awaited: Vec<_> = send.into_iter().chain(pending.receive.map(Awaited::Receive)).collect();
        if !awaited.is_empty() {
            self.history.steps.push(Step { call, awaited, may_go_on: false });
        }
    }

    fn begin_send(
        &mut self,
        call: CallIndex,
        words: Words,
        mode: Mode,
        is_blocking: bool,
        pending: &mut Pending,
    ) {
        let is_pair = words.get(Field::SendBuf).is_some();
        let (buf, count, datatype, tag) = if is_pair {
            (Field::SendBuf, Field::SendCount, Field::SendType, Field::SendTag)
        } else if words.get(Field::SendTag).is_some() {
            (Field::Buf, Field::Count, Field::Datatype, Field::SendTag)
        } else {
            (Field::Buf, Field::Count, Field::Datatype, Field::Tag)
        };
        let (count, datatype) = (words.get(count), words.get(datatype));
        let Some(dest) = words.get(Field::Dest).filter(|&dest| dest >= 0) else { return };
        if let (Some(comm), Some(tag)) = (self.comm(words), words.get(tag)) {
            let world = self.history.comms[comm as usize].world_rank(dest);
            if let Some(dest) = world {
                pending.send = Some(self.history.sends.len() as u32);
                self.history.sends.push(Send {
                    call,
                    comm,
                    dest,
                    tag: tag as i32,
                    data: self.data(count, datatype),
                    is_cancelled: false,
                    waits: mode != Mode::Buffered,
                });
            }
        }
        let is_replaced = !is_pair && words.get(Field::SendTag).is_some();
        let region = self.region(words.get(buf), count, datatype);
        self.begin_buffer(call, region, is_replaced, is_blocking, pending);
    }

    /// A buffer is used, until the end of the call or of its request.
    fn begin_buffer(
        &mut self,
        call: CallIndex,
        region: Option<Region>,
        is_written: bool,
        is_blocking: bool,
        pending: &mut Pending,
    ) {
        let Some(region) = region else { return };
        if let Some(other) = self.buffers.conflict(&region, is_written).filter(|(other, _)| *other != call) {
            let finding = overlap::finding(&self.history, call, is_written, other);
            self.report(finding);
        }
        // Threads may be in blocking calls at once.
        let stays = !is_blocking || self.history.has_threads;
        if stays {
            pending.buffers.push(self.buffers.add(region, is_written, call));
        }
    }

    fn begin_receive(
        &mut self,
        call: CallIndex,
        words: Words,
        is_blocking: bool,
        is_second: bool,
        pending: &mut Pending,
    ) {
        let is_pair = words.get(Field::RecvBuf).is_some();
        let (buf, count, datatype) = if is_pair {
            (Field::RecvBuf, Field::RecvCount, Field::RecvType)
        } else {
            (Field::Buf, Field::Count, Field::Datatype)
        };
        let tag = words.get(if is_second { Field::RecvTag } else { Field::Tag });
        let (count, datatype) = (words.get(count), words.get(datatype));
        let Some(source) = words.get(Field::Source).filter(|&source| source != i64::from(PROC_NULL)) else {
            return;
        };
        if let Some(comm) = self.comm(words) {
            let data = Some(self.data(count, datatype));
            pending.receive = self.post(call, comm, source, tag.unwrap_or(0), data);
        }
        if is_pair || !is_second {
            let region = self.region(words.get(buf), count, datatype);
            self.begin_buffer(call, region, true, is_blocking, pending);
        }
    }

    fn post(&mut self, call: CallIndex, comm: u32, source: i64, tag: i64, data: Option<Data>) -> Option<u32> {
        let (any_source, any_tag) = (source == i64::from(ANY), tag == i64::from(ANY));
        let world = self.history.comms[comm as usize].world_rank(source);
        if !any_source && world.is_none() {
            return None;
        }
        self.history.receives.push(Receive {
            call,
            comm,
            source: world,
            tag: (!any_tag).then_some(tag as i32),
            any_source,
            any_tag,
            data,
            bytes: None,
            completed: None,
            is_ignored: false,
            is_freed: false,
        });
        Some(self.history.receives.len() as u32 - 1)
    }

    fn begin_collective(
        &mut self,
        call: CallIndex,
        words: Words,
        range: Range,
        is_blocking: bool,
        pending: &mut Pending,
    ) {
        let Some(comm) = self.comm(words) else { return };
        let number = self.history.collectives.len() as u32;
        let of = &mut self.history.comms[comm as usize];
        let nth = of.collectives;
        of.collectives += 1;
        self.history.collectives.push(Collective { call, comm, nth, words: (range.first, range.count) });
        pending.collective = Some(number);
        if is_blocking {
            let awaited = vec![Awaited::Collective(number)];
            self.history.steps.push(Step { call, awaited, may_go_on: false });
        }
    }

    /// The buffers of collectives with one count for all ranks.
    fn begin_buffers_of_collective(
        &mut self,
        call: CallIndex,
        base: &str,
        words: Words,
        is_blocking: bool,
        pending: &mut Pending,
    ) {
        let Some((comm, of)) = self.comm(words).zip(families::buffers(base)) else { return };
        let root = words.get(Field::Root);
        let (is_root, is_inter) = root.map_or((true, false), |root| self.is_root(comm, root));
        if is_inter || !self.history.comms[comm as usize].comm.remote.is_empty() {
            return;
        }
        let ranks = self.history.comms[comm as usize].comm.members.len() as i64;
        let part = |reader: &Reader, part: families::Part| {
            let is_there = !part.at_root_only || is_root;
            let count = words.get(part.count)?.checked_mul(if part.for_all { ranks } else { 1 });
            let region = reader.region(words.get(part.buffer), count, words.get(part.datatype));
            region.filter(|_| is_there)
        };
        let sent = of.sent.and_then(|sent| part(self, sent));
        let received = of.received.and_then(|received| part(self, received));
        if let (Some(sent), Some(received)) = (&sent, &received) {
            if sent.overlaps(received) {
                let finding = overlap::aliased(&self.history, call);
                self.report(finding);
            }
        }
        let is_written = !of.root_reads || !is_root;
        self.begin_buffer(call, sent, false, is_blocking, pending);
        self.begin_buffer(call, received, is_written, is_blocking, pending);
    }

    /// Of a send and receive in one call.
    fn look_for_aliases(&mut self, call: CallIndex, words: Words, is_pair: bool) {
        let is_real = |field| words.get(field).is_some_and(|peer| peer != i64::from(PROC_NULL));
        if !is_pair || !is_real(Field::Dest) || !is_real(Field::Source) {
            return;
        }
        let region =
            |buf, count, datatype| self.region(words.get(buf), words.get(count), words.get(datatype));
        let sent = region(Field::SendBuf, Field::SendCount, Field::SendType);
        let received = region(Field::RecvBuf, Field::RecvCount, Field::RecvType);
        if let (Some(sent), Some(received)) = (sent, received) {
            if sent.overlaps(&received) {
                let finding = overlap::aliased(&self.history, call);
                self.report(finding);
            }
        }
    }

    fn begin_wait(&mut self, call: CallIndex, words: Words, is_any: bool, is_test: bool) {
        let single = words.get(Field::Request);
        let handles: Vec<i64> =
            single.into_iter().chain(words.list(Field::Requests).iter().copied()).collect();
        let mut awaited = Vec::new();
        let mut shared: HashMap<i64, usize> = HashMap::new();
        for &handle in &handles {
            if let Some(earlier) = self.requests.old(handle).filter(|_| Some(handle) != self.null_request) {
                self.misuse(call, b'q', Misuse::OldRequest, Some(earlier));
                continue;
            }
            *shared.entry(handle).or_default() += 1;
            let Some(request) = self.requests.get(handle).filter(|request| request.is_active) else {
                continue;
            };
            if request.is_shared {
                continue; // which of them is meant cannot be told
            }
            match request.purpose {
                Purpose::Send(send) if self.history.sends[send as usize].waits => {
                    awaited.push(Awaited::Send(send));
                }
                Purpose::Receive(receive) => awaited.push(Awaited::Receive(receive)),
                Purpose::Collective(collective) => awaited.push(Awaited::Collective(collective)),
                Purpose::Send(_) | Purpose::Other => {}
            }
        }
        if !awaited.is_empty() {
            self.history.steps.push(Step {
                call,
                awaited,
                may_go_on: is_test || is_any && handles.len() > 1,
            });
        }
    }

    /// Before the call, which may not return.
    fn look_at_started(&mut self, call: CallIndex, words: Words) {
        let single = words.get(Field::Request);
        for handle in single.into_iter().chain(words.list(Field::Requests).iter().copied()) {
            let Some(request) = self.requests.get(handle).filter(|request| request.is_active) else {
                continue;
            };
            let made = request.made;
            if request.is_persistent {
                self.misuse(call, b'q', Misuse::StartedTwice, Some(made));
            }
        }
    }

    fn look_at_request(&mut self, call: CallIndex, base: &str, words: Words) {
        let Some(handle) = words.get(Field::Request) else { return };
        if let Some(earlier) = self.requests.old(handle).filter(|_| Some(handle) != self.null_request) {
            self.misuse(call, b'q', Misuse::OldRequest, Some(earlier));
        }
        let Some(request) = self.requests.get(handle) else { return };
        let made = request.made;
        request.is_to_be_cancelled |= base == "Cancel";
        if let (Purpose::Send(send), "Cancel") = (request.purpose, base) {
            self.history.sends[send as usize].is_cancelled = true; // until a status says that it was not
        } else if request.is_active
            && !request.is_persistent
            && matches!(request.purpose, Purpose::Collective(_))
        {
            self.misuse(call, b'q', Misuse::CollectiveRequest, Some(made));
        }
    }

    fn look_at_handles(&mut self, call: CallIndex, family: Family, base: &str, words: Words) {
        let frees = objects::frees(base);
        for (field, kind, values) in words.each() {
            let &[handle] = values else { continue };
            if !b"cdogwf".contains(&kind) {
                continue;
            }
            if frees == Some(kind) && self.objects.is_predefined(kind, handle) && b"cdo".contains(&kind) {
                self.misuse(call, kind, Misuse::Predefined, None);
                continue;
            }
            let is_looked_at = match kind {
                b'd' => family.is_communication() && self.is_significant(base, field, words),
                b'o' => family.is_communication(),
                _ => true,
            };
            if !is_looked_at && frees != Some(kind) {
                continue;
            }
            if let Some(earlier) = self.objects.freed(kind, handle) {
                self.misuse(call, kind, Misuse::Freed, Some(earlier));
            } else if kind == b'd' && frees.is_none() {
                if let Some(made) = self.objects.is_uncommitted(handle) {
                    self.misuse(call, kind, Misuse::Uncommitted, Some(made));
                }
            }
        }
    }

    /// Whether a call looks at its datatype.
    fn is_significant(&self, base: &str, field: Field, words: Words) -> bool {
        let is_real = |peer| words.get(peer).is_none_or(|peer| peer != i64::from(PROC_NULL));
        if !is_real(Field::Root) {
            return false;
        }
        let is_in_place = |buffer| words.get(buffer) == Some(IN_PLACE);
        let at_root_only = match field {
            Field::SendType => base.to_lowercase().contains("scatter"),
            Field::RecvType => {
                let base = base.to_lowercase();
                base.contains("gather") && !base.contains("allgather")
            }
            _ => false,
        } && words.get(Field::Root).is_some();
        if at_root_only {
            let root = words.get(Field::Root).unwrap_or(-1);
            if !self.comm(words).is_some_and(|comm| self.is_root(comm, root).0) {
                return false;
            }
        }
        match field {
            Field::SendType => is_real(Field::Dest) && !is_in_place(Field::SendBuf),
            Field::RecvType => is_real(Field::Source) && !is_in_place(Field::RecvBuf),
            Field::Datatype => is_real(Field::Dest) && is_real(Field::Source),
            _ => true,
        }
    }

    // ---- the end of a call ----

    fn end(&mut self, open: Open, pending: Pending, has_failed: bool, range: Range) {
        let function = self.history.calls[open.call as usize].function as usize;
        let layouts = std::mem::take(&mut self.layouts);
        let layout = &layouts[function];
        let words = Words::new(&layout.arguments, self.checks.words(open.words));
        let results = Words::new(&layout.results, self.checks.words(range));
        let family = self.families[function];
        if has_failed {
            self.end_failed(open.call, family, pending);
        } else {
            self.end_of(open.call, family, &layout.base, words, results, pending);
            self.objects.results(open.call, &layout.base, results);
        }
        self.layouts = layouts;
    }

    /// Whether a call that has failed has done something cannot be known. A receive may have taken a message
    /// that was too long.
    fn end_failed(&mut self, call: CallIndex, family: Family, pending: Pending) {
        for buffer in pending.buffers {
            self.buffers.remove(buffer);
        }
        match family {
            Family::Wait { .. } => self.history.ends_at = Some(call),
            Family::Receive { .. } | Family::Send { .. } => {
                if let Some(send) = pending.send {
                    self.history.sends[send as usize].is_cancelled = true;
                }
                if let Some(receive) = pending.receive {
                    self.history.receives[receive as usize].is_ignored = true;
                    self.history.receives[receive as usize].completed = Some(call);
                }
            }
            _ => {}
        }
    }

    fn end_of(
        &mut self,
        call: CallIndex,
        family: Family,
        base: &str,
        words: Words,
        results: Words,
        pending: Pending,
    ) {
        match family {
            Family::Send { is_blocking, .. } | Family::Receive { is_blocking } => {
                if is_blocking {
                    if let Some(receive) = pending.receive {
                        self.received(receive, call, results.list(Field::Status), false);
                    }
                    pending.buffers.iter().for_each(|&buffer| self.buffers.remove(buffer));
                } else if let Some(handle) = results.get(Field::Request) {
                    let purpose = match (pending.send, pending.receive) {
                        (_, Some(receive)) => Purpose::Receive(receive),
                        (Some(send), None) => Purpose::Send(send),
                        (None, None) => Purpose::Other,
                    };
                    self.make(handle, Request::active(call, purpose, pending.buffers));
                }
            }
            Family::Collective { is_blocking, is_persistent } => {
                let purpose = pending.collective.map_or(Purpose::Other, Purpose::Collective);
                match results.get(Field::Request) {
                    Some(handle) if !is_blocking => {
                        let mut request = Request::active(call, purpose, pending.buffers);
                        request.is_persistent = is_persistent;
                        request.is_active = !is_persistent;
                        if is_persistent {
                            request.purpose = Purpose::Other;
                        }
                        self.make(handle, request);
                    }
                    _ => pending.buffers.iter().for_each(|&buffer| self.buffers.remove(buffer)),
                }
                if base.starts_with("Comm_idup") {
                    self.duplicated(words, results);
                }
            }
            Family::InitSend(mode) => self.init(call, words, results, true, mode),
            Family::InitReceive => self.init(call, words, results, false, Mode::Standard),
            Family::Start => self.start(call, words),
            Family::Wait { .. } => self.waited(call, words, results),
            Family::Probe => self.probed(call, words, results),
            Family::MatchedReceive { is_blocking } => self.matched(call, words, results, is_blocking),
            Family::Free => {
                let Some(kind) = objects::frees(base) else { return };
                if let Some((.., [handle])) = words.each().find(|(_, found, _)| *found == kind) {
                    self.objects.free(call, kind, *handle);
                    if kind == b'c' {
                        self.comms.remove(handle);
                    }
                }
            }
            Family::Finalize => {}
            Family::Other => match (base, words.get(Field::Request)) {
                ("Request_free", Some(handle)) => self.request_freed(call, handle),
                _ => {
                    if let Some(handle) = results.get(Field::Request) {
                        let mut request = Request::active(call, Purpose::Other, Vec::new());
                        request.is_persistent = base.ends_with("_init"); // of partitioned communication
                        request.is_active = !request.is_persistent;
                        self.make(handle, request);
                    }
                }
            },
        }
    }

    /// A communicator that is usable later has the groups of the one that it is made of.
    fn duplicated(&mut self, words: Words, results: Words) {
        if let (Some(comm), Some(handle)) = (self.comm(words), results.get(Field::NewComm)) {
            let mut copy = self.history.comms[comm as usize].comm.clone();
            copy.handle = handle;
            self.comms.insert(handle, self.history.comms.len() as u32);
            self.history.comms.push(Communicator { comm: copy, collectives: 0 });
        }
    }

    fn make(&mut self, handle: i64, request: Request) {
        if Some(handle) == self.null_request {
            request.buffers.iter().for_each(|&buffer| self.buffers.remove(buffer));
            return;
        }
        for buffer in self.requests.make(handle, request) {
            self.buffers.remove(buffer);
        }
    }

    fn init(&mut self, call: CallIndex, words: Words, results: Words, sends: bool, mode: Mode) {
        let Some(handle) = results.get(Field::Request) else { return };
        let peer = words.get(if sends { Field::Dest } else { Field::Source }).unwrap_or(-1);
        let (count, datatype) = (words.get(Field::Count), words.get(Field::Datatype));
        let is_real = peer != i64::from(PROC_NULL);
        let template = Template {
            sends,
            comm: self.comm(words),
            peer,
            tag: words.get(Field::Tag).unwrap_or(0),
            data: self.data(count, datatype),
            region: self.region(words.get(Field::Buf), count, datatype).filter(|_| is_real),
            waits: mode != Mode::Buffered,
        };
        let mut request = Request::active(call, Purpose::Other, Vec::new());
        (request.is_active, request.is_persistent) = (false, true);
        request.template = Some(template);
        self.make(handle, request);
    }

    fn start(&mut self, call: CallIndex, words: Words) {
        let single = words.get(Field::Request);
        let handles: Vec<i64> =
            single.into_iter().chain(words.list(Field::Requests).iter().copied()).collect();
        for handle in handles {
            let Some(request) = self.requests.get(handle) else { continue };
            if request.is_active {
                continue;
            }
            let template = request.template.clone();
            let (mut purpose, mut pending) = (Purpose::Other, Pending::default());
            if let Some(t) = template {
                let world = |comm: u32| self.history.comms[comm as usize].world_rank(t.peer);
                if let (true, Some((comm, Some(dest)))) = (t.sends, t.comm.map(|comm| (comm, world(comm)))) {
                    purpose = Purpose::Send(self.history.sends.len() as u32);
                    let (data, tag) = (t.data, t.tag as i32);
                    let (is_cancelled, waits) = (false, t.waits);
                    self.history.sends.push(Send { call, comm, dest, tag, data, is_cancelled, waits });
                } else if let (false, Some(comm), true) = (t.sends, t.comm, t.peer != i64::from(PROC_NULL)) {
                    let posted = self.post(call, comm, t.peer, t.tag, Some(t.data));
                    purpose = posted.map_or(Purpose::Other, Purpose::Receive);
                }
                self.begin_buffer(call, t.region, !t.sends, false, &mut pending);
            }
            if let Some(request) = self.requests.get(handle) {
                (request.is_active, request.made) = (true, call);
                request.is_to_be_cancelled = false;
                request.purpose = purpose;
                request.buffers = pending.buffers;
            }
        }
    }

    fn waited(&mut self, call: CallIndex, words: Words, results: Words) {
        let single = words.get(Field::Request);
        let handles: Vec<i64> =
            single.into_iter().chain(words.list(Field::Requests).iter().copied()).collect();
        let flag = results.get(Field::Flag).is_none_or(|flag| flag != 0);
        if !flag {
            return;
        }
        let statuses = match results.list(Field::Statuses) {
            [] => results.list(Field::Status),
            statuses => statuses,
        };
        let status =
            |place: usize| statuses.get(place * STATUS_WORDS..(place + 1) * STATUS_WORDS).unwrap_or(&[]);
        let has_indices = results.get(Field::OutCount).is_some();
        if has_indices {
            for (place, &index) in results.list(Field::Indices).iter().enumerate() {
                if let Some(&handle) = usize::try_from(index).ok().and_then(|index| handles.get(index)) {
                    self.complete(call, handle, status(place));
                }
            }
        } else if let Some(index) = results.get(Field::Index) {
            if let Some(&handle) = usize::try_from(index).ok().and_then(|index| handles.get(index)) {
                self.complete(call, handle, status(0));
            }
        } else {
            let keeps = self.history.functions[self.history.calls[call as usize].function as usize]
                .1
                .starts_with("Request_get_status");
            for (place, &handle) in handles.iter().enumerate() {
                if keeps {
                    self.learn(call, handle, status(place));
                } else {
                    self.complete(call, handle, status(place));
                }
            }
        }
    }

    /// The program knows that a request is complete, which it still has.
    fn learn(&mut self, call: CallIndex, handle: i64, status: &[i64]) {
        let Some(request) = self.requests.get(handle).filter(|request| request.is_active) else { return };
        let was_cancelled = request.is_to_be_cancelled && is_cancelled(status);
        let (purpose, buffers) = (request.purpose, std::mem::take(&mut request.buffers));
        buffers.iter().for_each(|&buffer| self.buffers.remove(buffer));
        if let Purpose::Receive(receive) = purpose {
            self.received(receive, call, status, was_cancelled);
        }
    }

    fn complete(&mut self, call: CallIndex, handle: i64, status: &[i64]) {
        let Some(was) = self.requests.complete(handle, call) else { return };
        was.buffers.iter().for_each(|&buffer| self.buffers.remove(buffer));
        // Other statuses say nothing of it: MPICH 4.0 leaves there what it finds.
        let was_cancelled = was.is_to_be_cancelled && is_cancelled(status);
        match was.purpose {
            Purpose::Send(send) if !status.is_empty() => {
                self.history.sends[send as usize].is_cancelled = was_cancelled;
            }
            Purpose::Receive(receive) if was.is_active => self.received(receive, call, status, was_cancelled),
            _ => {}
        }
    }

    fn received(&mut self, receive: u32, call: CallIndex, status: &[i64], was_cancelled: bool) {
        let comm = self.history.receives[receive as usize].comm;
        let [source, tag, bytes, _, ..] = *status else {
            self.history.receives[receive as usize].is_ignored = true;
            return;
        };
        let source = self.history.comms[comm as usize].world_rank(source);
        let receive = &mut self.history.receives[receive as usize];
        if receive.completed.is_some() {
            return; // the program had asked before
        }
        receive.completed = Some(call);
        if was_cancelled {
            receive.is_ignored = true;
            return;
        }
        // MPICH 4.0 leaves the status of MPI_Isendrecv as it finds it, so what was named counts.
        if receive.any_source || receive.any_tag {
            let by = self.history.calls[receive.call as usize].function as usize;
            let is_told = !self.history.functions[by].1.starts_with("Isendrecv");
            if !is_told || source.is_none() && receive.any_source {
                receive.is_ignored = true;
                let place = (comm, self.history.rank);
                self.history.vague.push(place);
                return;
            }
        }
        receive.source = receive.source.or(source);
        receive.tag = receive.tag.or(Some(tag as i32));
        receive.bytes = u64::try_from(bytes).ok();
    }

    fn request_freed(&mut self, call: CallIndex, handle: i64) {
        let Some(was) = self.requests.free(handle, call) else { return };
        was.buffers.iter().for_each(|&buffer| self.buffers.remove(buffer));
        match was.purpose {
            Purpose::Receive(receive) if was.is_active => {
                self.history.receives[receive as usize].is_freed = true;
            }
            // Whether it was cancelled will not be known.
            Purpose::Send(send) if was.is_active => {
                let send = self.history.sends[send as usize];
                if send.is_cancelled {
                    self.history.vague.push((send.comm, send.dest));
                }
            }
            _ => {}
        }
    }

    /// A matched probe has taken a message.
    fn probed(&mut self, call: CallIndex, words: Words, results: Words) {
        let found = results.get(Field::Flag).is_none_or(|flag| flag != 0);
        let (Some(message), Some(comm), true) = (results.get(Field::Message), self.comm(words), found) else {
            return;
        };
        let source = words.get(Field::Source).unwrap_or(-1);
        if source == i64::from(PROC_NULL) {
            return;
        }
        let tag = words.get(Field::Tag).unwrap_or(0);
        if let Some(receive) = self.post(call, comm, source, tag, None) {
            self.received(receive, call, results.list(Field::Status), false);
            self.messages.insert(message, receive);
        }
    }

    fn matched(&mut self, call: CallIndex, words: Words, results: Words, is_blocking: bool) {
        let (count, datatype) = (words.get(Field::Count), words.get(Field::Datatype));
        let receive = words.get(Field::Message).and_then(|message| self.messages.remove(&message));
        let data = self.data(count, datatype);
        if let Some(receive) = receive {
            let receive = &mut self.history.receives[receive as usize];
            (receive.data, receive.call) = (Some(data), call);
        }
        let mut pending = Pending::default();
        let region = self.region(words.get(Field::Buf), count, datatype);
        if receive.is_some() {
            self.begin_buffer(call, region, true, is_blocking, &mut pending);
        }
        match results.get(Field::Request).filter(|_| !is_blocking) {
            Some(handle) => self.make(handle, Request::active(call, Purpose::Other, pending.buffers)),
            None => pending.buffers.iter().for_each(|&buffer| self.buffers.remove(buffer)),
        }
    }

    fn finalize(&mut self, call: CallIndex) {
        self.history.finalized = Some(call);
        let mut findings = Vec::new();
        for request in self.requests.left() {
            if request.is_active {
                let what = match request.purpose {
                    Purpose::Send(send) => Unfinished::Send(send),
                    Purpose::Receive(receive) => Unfinished::Receive(receive),
                    Purpose::Collective(_) | Purpose::Other => Unfinished::Other,
                };
                self.history.unfinished.push((request.made, what));
            } else {
                findings.push(leak::object(&self.history, request.made, b'q'));
            }
        }
        for (kind, made) in self.objects.left() {
            findings.push(leak::object(&self.history, made, kind));
        }
        self.history.local.append(&mut findings);
    }
}

fn is_cancelled(status: &[i64]) -> bool {
    matches!(status, [_, _, _, 1, ..])
}

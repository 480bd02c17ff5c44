//! The end of a call: what it has done.

use super::{Open, Pending, Reader};
use crate::arguments::{Field, STATUS_WORDS, Words};
use crate::families::{Family, Mode};
use crate::history::{Awaited, CallIndex, Communicator, Send, Step, Unfinished};
use crate::objects;
use crate::requests::{Purpose, Request, Template};
use crate::rules::leak;
use evenkeel_trace::checks::file::Words as Range;
use evenkeel_trace::times::shape::PROC_NULL;

impl Reader<'_> {
    pub(super) fn end(&mut self, open: Open, pending: Pending, has_failed: bool, range: Range) {
        let function = self.history.calls[open.call as usize].function as usize;
        let layouts = std::mem::take(&mut self.layouts);
        let layout = &layouts[function];
        let words = Words::new(&layout.arguments, self.checks.words(open.words));
        let results = Words::new(&layout.results, self.checks.words(range));
        let family = self.families[function];
        if has_failed {
            self.end_failed(open.call, family, pending, results.list(Field::Status));
        } else {
            self.end_of(open.call, family, &layout.base, words, results, pending);
            self.objects.results(open.call, &layout.base, results);
        }
        self.layouts = layouts;
    }

    /// Whether a call that has failed has done something cannot be known, but that a receive has taken a
    /// message that was too long: it has a status then.
    fn end_failed(&mut self, call: CallIndex, family: Family, pending: Pending, status: &[i64]) {
        for buffer in pending.buffers {
            self.buffers.remove(buffer);
        }
        match family {
            Family::Wait { .. } => self.history.ends_at = Some(call),
            Family::Receive { .. } | Family::Send { .. } => {
                if let Some(send) = pending.send {
                    let send = &mut self.history.sends[send as usize];
                    send.is_cancelled = true;
                    self.history.vague.push((send.comm, send.dest));
                }
                if let Some(receive) = pending.receive {
                    let receive = &mut self.history.receives[receive as usize];
                    (receive.is_ignored, receive.completed) = (true, Some(call));
                    if let [source, tag, ..] = *status {
                        let comm = &self.history.comms[receive.comm as usize];
                        receive.source = receive.source.or_else(|| comm.world_rank(source));
                        receive.tag = receive.tag.or(Some(tag as i32));
                    }
                    if receive.source.is_none() || receive.tag.is_none() {
                        self.history.vague.push((receive.comm, self.history.rank));
                    }
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
            Family::Probe => self.probed(call, words, results, pending.probe),
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

    /// A callback has freed something.
    pub(super) fn freed_within(&mut self, open: Open) {
        let function = self.history.calls[open.call as usize].function as usize;
        let layout = &self.layouts[function];
        if let (Some(kind), [handle]) = (objects::frees(&layout.base), self.checks.words(open.words)) {
            self.objects.free_within(open.call, kind, *handle);
            if kind == b'c' {
                self.comms.remove(handle);
            }
        }
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
    fn probed(&mut self, call: CallIndex, words: Words, results: Words, probe: Option<u32>) {
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
            match probe {
                Some(probe) => self.history.probes[probe as usize].found = Some(receive),
                None => {
                    let awaited = vec![Awaited::Receive(receive)];
                    self.history.steps.push(Step { call, awaited, may_go_on: true });
                }
            }
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

    pub(super) fn finalize(&mut self, call: CallIndex) {
        self.history.finalized = Some(call);
        for request in self.requests.left() {
            if request.is_active {
                let what = match request.purpose {
                    Purpose::Send(send) => Unfinished::Send(send),
                    Purpose::Receive(receive) => Unfinished::Receive(receive),
                    Purpose::Collective(_) | Purpose::Other => Unfinished::Other,
                };
                self.history.unfinished.push((request.made, what));
            }
        }
    }

    /// What is left when the rank has ended: callbacks in MPI_Finalize may free.
    pub(super) fn look_at_leaks(&mut self) {
        let idle = self.requests.left().into_iter().filter(|request| !request.is_active);
        let requests = idle.map(|request| (b'q', request.made));
        let left = requests.chain(self.objects.left());
        let mut findings: Vec<_> = left.map(|(kind, made)| leak::object(&self.history, made, kind)).collect();
        self.history.local.append(&mut findings);
    }
}

fn is_cancelled(status: &[i64]) -> bool {
    matches!(status, [_, _, _, 1, ..])
}

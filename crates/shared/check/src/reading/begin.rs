//! The beginning of a call: what it is passed.

use super::{Pending, Reader};
use crate::arguments::{Field, Words};
use crate::families::{self, Family, Mode};
use crate::history::{Awaited, CallIndex, Collective, Data, Probe, Receive, Send, Step};
use crate::objects;
use crate::regions::Region;
use crate::requests::Purpose;
use crate::rules::handle::Misuse;
use crate::rules::overlap;
use evenkeel_trace::checks::file::Words as Range;
use evenkeel_trace::checks::format::IN_PLACE;
use evenkeel_trace::times::shape::{ANY, PROC_NULL};
use std::collections::HashMap;

impl Reader<'_> {
    pub(super) fn begin(&mut self, call: CallIndex, range: Range) -> Pending {
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
            Family::Probe if base != "Improbe" => pending.probe = self.begin_probe(call, words),
            Family::Finalize => self.finalize(call),
            Family::Other if matches!(base, "Cancel" | "Request_free") => {
                self.look_at_request(call, base, words);
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
    pub(super) fn begin_buffer(
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

    fn begin_probe(&mut self, call: CallIndex, words: Words) -> Option<u32> {
        let source = words.get(Field::Source).filter(|&source| source != i64::from(PROC_NULL))?;
        let (comm, tag) = (self.comm(words)?, words.get(Field::Tag)?);
        let source = self.history.comms[comm as usize].world_rank(source);
        let tag = (tag != i64::from(ANY)).then_some(tag as i32);
        let number = self.history.probes.len() as u32;
        self.history.probes.push(Probe { comm, source, tag, found: None });
        self.history.steps.push(Step { call, awaited: vec![Awaited::Probe(number)], may_go_on: false });
        Some(number)
    }

    pub(super) fn post(
        &mut self,
        call: CallIndex,
        comm: u32,
        source: i64,
        tag: i64,
        data: Option<Data>,
    ) -> Option<u32> {
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
        let types = self.types_of(words);
        let of = &mut self.history.comms[comm as usize];
        let nth = of.collectives;
        of.collectives += 1;
        self.history.collectives.push(Collective {
            call,
            comm,
            nth,
            words: (range.first, range.count),
            types,
        });
        pending.collective = Some(number);
        if is_blocking {
            let awaited = vec![Awaited::Collective(number)];
            self.history.steps.push(Step { call, awaited, may_go_on: false });
        }
    }

    /// The datatypes of the program's that a call was passed.
    fn types_of(&self, words: Words) -> Vec<(i64, u64, Option<u32>)> {
        let lists = words.each().filter(|(_, kind, _)| matches!(kind, b'd' | b'D'));
        let handles = lists.flat_map(|(_, _, handles)| handles);
        let own = handles.filter(|&&handle| !self.objects.is_predefined(b'd', handle));
        own.filter_map(|handle| self.types.get(handle).map(|t| (*handle, t.size, t.elements))).collect()
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
}

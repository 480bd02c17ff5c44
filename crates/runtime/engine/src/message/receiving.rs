//! Records that come in, and what becomes of them: data of a receive, an answer to a send, or something
//! to be kept.

use super::envelope::{DONE, EAGER, Envelope, Fields, OFFER, Offer, PART, Record, Token, WANTED};
use super::port::{Port, add_needing, slice};
use super::request::{Message, Payload, UnclaimedMessage};
use crate::comm::stamp::BarrierStamp;
use evenkeel_segment::{cross_memory, eventcount};

/// Records taken from one channel before the others are looked at.
const AT_A_TIME: usize = 64;

impl Port {
    #[inline]
    pub(super) fn progress(&mut self) -> usize {
        let mut records = 0;
        for sender in 0..self.peers.len() {
            for _ in 0..AT_A_TIME {
                let Some(record) = self.peers[sender].reader.next() else { break };
                // SAFETY: the record stands until the reader advances.
                let payload = unsafe { slice(record.payload, record.bytes) };
                self.take_in(sender, record.kind, payload);
                let peer = &mut self.peers[sender];
                if peer.reader.advance(record) {
                    eventcount::notify(&peer.eventcount, eventcount::Fencing::Both);
                }
                records += 1;
            }
        }
        if records > 0 {
            self.idle_looks = 0;
        }
        if self.outbound > 0 {
            records += self.send_on();
        }
        if !self.streams.is_empty() {
            records += self.stream();
        }
        if !self.held.is_empty() {
            records += self.settle();
        }
        records
    }

    pub(super) fn take_in(&mut self, sender: usize, kind: u8, payload: &[u8]) {
        let mut record = Record(payload);
        match kind {
            EAGER => {
                let envelope = record.envelope();
                self.was_asked |= envelope.token.is_some();
                self.arrive(sender, &envelope, record.0);
            }
            OFFER => {
                let (envelope, offer) = (record.envelope(), record.offer());
                self.arrive_offered(sender, &envelope, offer);
            }
            DONE => {
                let token = Token(record.word());
                let stamp = (!record.0.is_empty()).then(|| record.stamp());
                self.received(token, stamp);
            }
            WANTED => {
                let send = record.word() as *mut Message;
                // SAFETY: the token of a send that has not been answered, so alive.
                let m = unsafe { &mut *send };
                (m.receive, m.moved, m.capacity) = (record.word(), 0, record.word() as usize);
                m.stamp = (!record.0.is_empty()).then(|| record.stamp());
                if !m.needs_this_process {
                    m.needs_this_process = true; // it was thought that the receiver could read it
                    add_needing(1);
                }
                self.streams.push(send);
            }
            _ => {
                debug_assert_eq!(kind, PART);
                let (receive, offset) = (record.word() as *mut Message, record.word() as usize);
                // SAFETY: the token of a receive that has not got all, so alive; its buffer holds what it
                // asked for.
                unsafe {
                    std::ptr::copy_nonoverlapping(
                        record.0.as_ptr(),
                        (*receive).buffer.add(offset),
                        record.0.len(),
                    );
                    (*receive).moved -= record.0.len();
                    if (*receive).moved == 0 {
                        self.finish(receive);
                    }
                }
            }
        }
    }

    #[inline]
    pub(super) fn pair(&mut self, envelope: &Envelope) -> Option<*mut Message> {
        let queue = self.queues.of(envelope.comm);
        let receive =
            queue.arrive(envelope.source as usize, envelope.tag, || self.known.is_visible(envelope.stamp));
        if receive.is_none() && queue.is_held() {
            self.hold(envelope.comm);
        }
        receive
    }

    #[inline]
    pub(super) fn arrive(&mut self, sender: usize, envelope: &Envelope, data: &[u8]) {
        match self.pair(envelope) {
            Some(receive) => {
                // SAFETY: posted receives are alive, and their buffers hold their capacity.
                unsafe {
                    note(receive, envelope.source as i32, envelope.tag, envelope.stamp, data.len());
                    std::ptr::copy_nonoverlapping(
                        data.as_ptr(),
                        (*receive).buffer,
                        data.len().min((*receive).capacity),
                    );
                    if let Some(token) = envelope.token {
                        self.answer(sender, token, (*receive).posted);
                    }
                }
                self.finish(receive);
            }
            None => {
                self.keep(envelope, UnclaimedMessage::new(envelope, sender, Payload::Copied(data.into())))
            }
        }
    }

    pub(super) fn arrive_offered(&mut self, sender: usize, envelope: &Envelope, offer: Offer) {
        let message = UnclaimedMessage::new(envelope, sender, Payload::Offered(offer));
        match self.pair(envelope) {
            Some(receive) => self.deliver(receive, envelope.source as i32, envelope.tag, message),
            None => self.keep(envelope, message),
        }
    }

    pub(super) fn keep(&mut self, envelope: &Envelope, message: UnclaimedMessage) {
        self.queues.of(envelope.comm).keep(envelope.source as usize, envelope.tag, message);
    }

    /// Gives a message to the receive that it belongs to.
    pub(super) fn deliver(
        &mut self,
        receive: *mut Message,
        source: i32,
        tag: i32,
        message: UnclaimedMessage,
    ) {
        // SAFETY: receives are alive until they are complete and freed, and their buffers hold their
        // capacity.
        let m = unsafe { &mut *receive };
        // SAFETY: as above.
        unsafe { note(receive, source, tag, message.stamp, message.bytes()) };
        let bytes = message.bytes().min(m.capacity);
        match message.payload {
            Payload::Copied(data) => {
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), m.buffer, bytes) };
            }
            Payload::Offered(offer) => {
                let token = message.token.expect("offers carry a token");
                if !self.fetch(message.sender, offer, m.buffer, bytes) && bytes > 0 {
                    m.moved = bytes;
                    let mut words = vec![token.0, receive as u64, bytes as u64];
                    words.extend(m.posted.iter().flat_map(|s| [s.comm, s.number, s.ranks as u64]));
                    self.write_fields(message.sender, WANTED, Fields::words(&words));
                    return;
                }
            }
        }
        if let Some(token) = message.token {
            self.answer(message.sender, token, m.posted);
        }
        self.finish(receive);
    }

    /// Copies an offered message from its sender's memory; false where the kernel does not allow that.
    pub(super) fn fetch(&mut self, sender: usize, offer: Offer, buffer: *mut u8, bytes: usize) -> bool {
        if sender == self.node.local_rank {
            // SAFETY: the send is not complete, so its data stand; the two buffers of a program do not
            // overlap.
            unsafe { std::ptr::copy_nonoverlapping(offer.address as *const u8, buffer, bytes) };
            return true;
        }
        let pid = self.node.neighbours[sender].pid;
        // SAFETY: the receive's buffer holds so much.
        self.node.facts.direct_reads
            && unsafe { cross_memory::read(pid, offer.address, buffer, bytes) }.is_ok()
    }

    pub(super) fn answer(&mut self, sender: usize, token: Token, posted: Option<BarrierStamp>) {
        if sender == self.node.local_rank {
            self.received(token, posted);
        } else {
            self.write_fields(sender, DONE, Fields::done(token, posted));
        }
    }

    pub(super) fn received(&mut self, token: Token, stamp: Option<BarrierStamp>) {
        let send = token.0 as *mut Message;
        // SAFETY: the token of a send that waits for this answer, so alive; it comes back once.
        unsafe { (*send).stamp = stamp };
        self.finish(send);
    }

    /// Pairs what was held and is not any more.
    #[cold]
    pub(super) fn settle(&mut self) -> usize {
        let mut pairs = 0;
        for comm in std::mem::take(&mut self.held) {
            while let Some((receive, source, tag, message)) =
                self.queues.get(comm).and_then(|q| q.settle(|m| self.known.is_visible(m.stamp)))
            {
                self.deliver(receive, source as i32, tag, message);
                pairs += 1;
            }
            if self.queues.get(comm).is_some_and(|q| q.is_held()) {
                self.hold(comm);
            }
        }
        pairs
    }
}

/// # Safety
/// `receive` must be alive.
#[inline(always)]
unsafe fn note(receive: *mut Message, source: i32, tag: i32, stamp: Option<BarrierStamp>, bytes: usize) {
    // SAFETY: by the caller's promise.
    let m = unsafe { &mut *receive };
    (m.source, m.tag, m.stamp, m.bytes, m.truncated) = (source, tag, stamp, bytes, bytes > m.capacity);
}

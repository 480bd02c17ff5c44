//! Incoming records: each is the data of a receive, an answer to a send, or an unexpected message to be
//! stored.

use super::envelope::{DONE, EAGER, Envelope, Fields, OFFER, Offer, PART, Record, Token, WANTED};
use super::port::{Port, add_needing, slice};
use super::request::{Message, Payload, UnexpectedMessage};
use crate::comm::stamp::BarrierStamp;
use crate::copy::copy;
use evenkeel_segment::eventcount;

/// How many records are taken from one channel before the next channel is polled.
const RECORDS_PER_POLL: usize = 64;

impl Port {
    /// Processes arrived records and sends waiting ones. Returns how many records that were.
    #[inline]
    pub(super) fn progress(&mut self) -> usize {
        let mut records = 0;
        for sender in 0..self.peers.len() {
            for _ in 0..RECORDS_PER_POLL {
                let Some(record) = self.peers[sender].reader.next() else { break };
                // SAFETY: the record stays in place until the reader advances.
                let payload = unsafe { slice(record.payload, record.bytes) };
                self.latest_peer = sender;
                self.process_record(sender, record.kind, payload);
                let peer = &mut self.peers[sender];
                if peer.reader.advance(record) {
                    eventcount::notify(&peer.eventcount, eventcount::Fencing::Both);
                }
                records += 1;
            }
        }
        if records > 0 {
            self.idle_polls = 0;
        }
        if self.outbound > 0 {
            records += self.send_queued();
        }
        if self.sending > 0 {
            records += self.help_receiver();
        }
        if !self.streams.is_empty() {
            records += self.stream();
        }
        if !self.blocked.is_empty() {
            records += self.settle();
        }
        records
    }

    fn process_record(&mut self, sender: usize, kind: u8, payload: &[u8]) {
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
                self.complete_send(token, stamp);
            }
            WANTED => {
                let send = record.word() as *mut Message;
                // SAFETY: the token of a send that has not been answered, so it is alive.
                let m = unsafe { &mut *send };
                (m.receive, m.moved, m.capacity) = (record.word(), 0, record.word() as usize);
                m.stamp = (!record.0.is_empty()).then(|| record.stamp());
                if !m.needs_this_process {
                    m.needs_this_process = true; // `start` assumed that the receiver could read the data
                    add_needing(1);
                }
                self.streams.push(send);
            }
            _ => {
                debug_assert_eq!(kind, PART);
                let (receive, offset) = (record.word() as *mut Message, record.word() as usize);
                // SAFETY: the token of a receive that has not got all its parts, so it is alive; its buffer
                // has room for all the bytes that it asked for.
                unsafe {
                    copy(record.0.as_ptr(), (*receive).buffer.add(offset), record.0.len());
                    (*receive).moved -= record.0.len();
                    if (*receive).moved == 0 {
                        self.finish(receive);
                    }
                }
            }
        }
    }

    /// Finds the receive for a message that arrives.
    #[inline]
    fn find_receive(&mut self, envelope: &Envelope) -> Option<*mut Message> {
        let queue = self.queues.of(envelope.comm);
        let may_see = |query| self.known.may_see(query, envelope.stamp);
        let receive = queue.arrive(envelope.source as usize, envelope.tag, may_see);
        if receive.is_none() && queue.has_blocked() {
            self.note_blocked(envelope.comm);
        }
        receive
    }

    /// Processes a message whose data have arrived with it.
    #[inline]
    pub(super) fn arrive(&mut self, sender: usize, envelope: &Envelope, data: &[u8]) {
        match self.find_receive(envelope) {
            Some(receive) => {
                // SAFETY: posted receives are alive, and their buffers have room for `capacity` bytes.
                unsafe {
                    set_status(receive, envelope.source as i32, envelope.tag, envelope.stamp, data.len());
                    copy(data.as_ptr(), (*receive).buffer, data.len().min((*receive).capacity));
                    if let Some(token) = envelope.token {
                        self.answer(sender, token, (*receive).posted);
                    }
                }
                self.finish(receive);
            }
            None => {
                self.keep(envelope, UnexpectedMessage::new(envelope, sender, Payload::Copied(data.into())))
            }
        }
    }

    /// Processes a message whose data are in its sender's memory.
    pub(super) fn arrive_offered(&mut self, sender: usize, envelope: &Envelope, offer: Offer) {
        let message = UnexpectedMessage::new(envelope, sender, Payload::Offered(offer));
        match self.find_receive(envelope) {
            Some(receive) => self.deliver(receive, envelope.source as i32, envelope.tag, message),
            None => self.keep(envelope, message),
        }
    }

    fn keep(&mut self, envelope: &Envelope, message: UnexpectedMessage) {
        self.queues.of(envelope.comm).keep(envelope.source as usize, envelope.tag, message);
    }

    /// Gives a message to the receive that it matches.
    pub(super) fn deliver(
        &mut self,
        receive: *mut Message,
        source: i32,
        tag: i32,
        message: UnexpectedMessage,
    ) {
        // SAFETY: receives are alive until they are complete and freed, and their buffers have room for
        // `capacity` bytes.
        let m = unsafe { &mut *receive };
        // SAFETY: as above.
        unsafe { set_status(receive, source, tag, message.stamp, message.bytes()) };
        let bytes = message.bytes().min(m.capacity);
        match message.payload {
            Payload::Copied(data) => {
                // SAFETY: as above.
                unsafe { copy(data.as_ptr(), m.buffer, bytes) };
            }
            Payload::Offered(offer) => {
                let token = message.token.expect("offers carry a token");
                if !self.fetch(message.sender, token, offer, m.buffer, bytes) && bytes > 0 {
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

    /// Tells the sender that its message has been received.
    fn answer(&mut self, sender: usize, token: Token, posted: Option<BarrierStamp>) {
        if sender == self.node.local_rank {
            self.complete_send(token, posted);
        } else {
            self.write_fields(sender, DONE, Fields::done(token, posted));
        }
    }

    /// Completes a send whose receiver has answered. `stamp` is that of the receive.
    fn complete_send(&mut self, token: Token, stamp: Option<BarrierStamp>) {
        let send = token.0 as *mut Message;
        // SAFETY: the token of a send that waits for this answer, so it is alive. There is one answer.
        unsafe { (*send).stamp = stamp };
        self.finish(send);
    }

    /// Delivers messages that are no longer blocked.
    #[cold]
    fn settle(&mut self) -> usize {
        let mut pairs = 0;
        for comm in std::mem::take(&mut self.blocked) {
            while let Some((receive, source, tag, message)) =
                self.queues.get(comm).and_then(|q| q.settle(|query, m| self.known.may_see(query, m.stamp)))
            {
                self.deliver(receive, source as i32, tag, message);
                pairs += 1;
            }
            if self.queues.get(comm).is_some_and(|q| q.has_blocked()) {
                self.note_blocked(comm);
            }
        }
        pairs
    }
}

/// Fills in what the program learns about a received message.
///
/// # Safety
/// `receive` must be alive.
#[inline(always)]
unsafe fn set_status(
    receive: *mut Message,
    source: i32,
    tag: i32,
    stamp: Option<BarrierStamp>,
    bytes: usize,
) {
    // SAFETY: the caller's promise.
    let m = unsafe { &mut *receive };
    (m.source, m.tag, m.stamp, m.bytes, m.truncated) = (source, tag, stamp, bytes, bytes > m.capacity);
}

//! Outgoing records: written into a channel, or queued if the channel has no room.

use super::envelope::{Fields, PART};
use super::port::{Peer, Port, QueuedRecord, add_needing, slice, subtract_needing};
use evenkeel_segment::channel;

impl Port {
    /// Writes a record into the channel to `receiver`. Returns false if there is no room, or if other records
    /// wait for room.
    #[inline(always)]
    pub(super) fn try_write(
        &mut self,
        receiver: usize,
        kind: u8,
        fields: &Fields,
        data: (*const u8, usize),
    ) -> bool {
        let fencing = self.fencing;
        let peer = &mut self.peers[receiver];
        if !peer.outbox.is_empty() {
            return false;
        }
        // SAFETY: the data belong to a send that is not complete.
        let data = unsafe { slice(data.0, data.1) };
        if !peer.writer.write(kind, &[fields.bytes(), data]) {
            return false;
        }
        channel::notify(&peer.eventcount, fencing);
        true
    }

    /// Queues a record until the channel has room.
    pub(super) fn queue(&mut self, receiver: usize, record: QueuedRecord) {
        self.peers[receiver].outbox.push_back(record);
        self.outbound += 1;
        add_needing(1);
    }

    /// Writes a record, or queues it.
    pub(super) fn write(&mut self, receiver: usize, record: QueuedRecord) {
        if !self.try_write(receiver, record.kind, &record.fields, record.data) {
            self.queue(receiver, record);
        }
    }

    /// Writes or queues a record without data.
    pub(super) fn write_fields(&mut self, receiver: usize, kind: u8, fields: Fields) {
        self.write(
            receiver,
            QueuedRecord { kind, fields, data: (std::ptr::null(), 0), send: std::ptr::null_mut() },
        );
    }

    /// Writes queued records as far as there is room. Returns how many.
    #[cold]
    pub(super) fn send_queued(&mut self) -> usize {
        let before = self.outbound;
        let fencing = self.fencing;
        for receiver in 0..self.peers.len() {
            loop {
                let Peer { writer, eventcount, outbox, .. } = &mut self.peers[receiver];
                let Some(QueuedRecord { kind, fields, data, send }) = outbox.front() else { break };
                // SAFETY: the data belong to a send that is not complete.
                if !writer.write(*kind, &[fields.bytes(), unsafe { slice(data.0, data.1) }]) {
                    break;
                }
                channel::notify(eventcount, fencing);
                let send = *send;
                outbox.pop_front();
                self.outbound -= 1;
                subtract_needing(1);
                if !send.is_null() {
                    self.finish(send);
                }
            }
        }
        before - self.outbound
    }

    /// Sends parts of messages that their receivers cannot read directly. Returns how many.
    #[cold]
    pub(super) fn stream(&mut self) -> usize {
        let mut parts = 0;
        for send in std::mem::take(&mut self.streams) {
            // SAFETY: sends in the list are not complete, so they are alive.
            let m = unsafe { &mut *send };
            loop {
                let bytes = self.part_bytes.min(m.capacity - m.moved);
                let fields = Fields::words(&[m.receive, m.moved as u64]);
                if !self.try_write(
                    m.receiver,
                    PART,
                    &fields,
                    (m.buffer.wrapping_add(m.moved).cast_const(), bytes),
                ) {
                    self.streams.push(send);
                    break;
                }
                parts += 1;
                m.moved += bytes;
                if m.moved == m.capacity {
                    self.finish(send);
                    break;
                }
            }
        }
        parts
    }
}

//! Records on their way out: into a channel, or into the queue of those that found no room.

use super::envelope::{Fields, PART};
use super::port::{NEEDING, Parcel, Peer, Port, count, slice};
use evenkeel_segment::channel;

impl Port {
    #[inline(always)]
    pub(super) fn try_write(
        &mut self,
        place: usize,
        kind: u8,
        fields: &Fields,
        data: (*const u8, usize),
    ) -> bool {
        let fencing = self.world.message_fencing();
        let peer = &mut self.peers[place];
        // SAFETY: data of a send that is not complete.
        if !peer.outbox.is_empty()
            || !peer.writer.write(kind, &[fields.bytes(), unsafe { slice(data.0, data.1) }])
        {
            return false;
        }
        channel::notify(&peer.eventcount, fencing);
        true
    }

    pub(super) fn queue(&mut self, place: usize, parcel: Parcel) {
        self.peers[place].outbox.push_back(parcel);
        self.outbound += 1;
        count(&NEEDING, 1);
    }

    pub(super) fn post_record(&mut self, place: usize, parcel: Parcel) {
        if !self.try_write(place, parcel.kind, &parcel.fields, parcel.data) {
            self.queue(place, parcel);
        }
    }

    pub(super) fn post_own(&mut self, place: usize, kind: u8, fields: Fields) {
        self.post_record(
            place,
            Parcel { kind, fields, data: (std::ptr::null(), 0), send: std::ptr::null_mut() },
        );
    }

    #[cold]
    pub(super) fn send_on(&mut self) -> usize {
        let before = self.outbound;
        let fencing = self.world.message_fencing();
        for place in 0..self.peers.len() {
            loop {
                let Peer { writer, eventcount, outbox, .. } = &mut self.peers[place];
                let Some(Parcel { kind, fields, data, send }) = outbox.front() else { break };
                // SAFETY: data of a send that is not complete.
                if !writer.write(*kind, &[fields.bytes(), unsafe { slice(data.0, data.1) }]) {
                    break;
                }
                channel::notify(eventcount, fencing);
                let send = *send;
                outbox.pop_front();
                self.outbound -= 1;
                count(&NEEDING, usize::MAX);
                if !send.is_null() {
                    self.finish(send);
                }
            }
        }
        before - self.outbound
    }

    /// Sends parts of what could not be read directly.
    #[cold]
    pub(super) fn stream(&mut self) -> usize {
        let mut parts = 0;
        for send in std::mem::take(&mut self.streams) {
            // SAFETY: sends in the list are not complete, so alive.
            let m = unsafe { &mut *send };
            loop {
                let bytes = self.part_bytes.min(m.capacity - m.moved);
                let fields = Fields::words(&[m.receive, m.moved as u64]);
                if !self.try_write(
                    m.place,
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

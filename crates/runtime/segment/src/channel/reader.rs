//! The reading end of a ring.

use super::geometry::{Bytes, DATA_AT, FILLER, HEADER, TAKEN_AT, record_bytes};
use crate::sync::{Ordering, Words};

/// The reading end of a ring.
pub struct Reader<M> {
    memory: M,
    ring_bytes: u64,
    /// Bytes read since the start, fillers included.
    position: u64,
    /// How far the writer knows this end to have come.
    reported: u64,
}

/// A record, valid until the reader advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// What the writer said it is, from 1 to 254.
    pub kind: u8,
    /// Address of the payload.
    pub payload: *const u8,
    /// Length of the payload.
    pub bytes: usize,
}

impl<M: Words + Bytes> Reader<M> {
    /// The only reader of a ring with `ring_bytes` of records.
    pub fn new(memory: M, ring_bytes: usize) -> Reader<M> {
        Reader { memory, ring_bytes: ring_bytes as u64, position: 0, reported: 0 }
    }

    /// The oldest record that has not been taken.
    #[allow(clippy::should_implement_trait, reason = "a record is taken by `advance`, not by looking at it")]
    #[inline(always)]
    pub fn next(&mut self) -> Option<Record> {
        loop {
            let at = DATA_AT + (self.position % self.ring_bytes) as usize;
            // Acquire: pairs with the store in `Writer::publish`.
            let header = self.memory.word(at).load(Ordering::Acquire);
            if header == 0 {
                return None;
            }
            let (kind, bytes) = (header as u8, (header >> 8) as usize);
            if kind != FILLER {
                return Some(Record { kind, payload: self.memory.byte(at + HEADER).cast_const(), bytes });
            }
            self.position += record_bytes(bytes);
        }
    }

    /// Takes the record that `next` has shown. True if this told the writer how far the reader is; it may be
    /// waiting for room, and has to be notified.
    #[inline(always)]
    pub fn advance(&mut self, record: Record) -> bool {
        self.position += record_bytes(record.bytes);
        // Seldom, as it costs the writer a cache line; but before the writer can run out of room for the
        // largest record.
        let report = self.position - self.reported >= self.ring_bytes / 4;
        if report {
            // Release: pairs with the load in `Writer::has_room`, so that the reads of the payload are over
            // when it is overwritten.
            self.memory.word(TAKEN_AT).store(self.position, Ordering::Release);
            self.reported = self.position;
        }
        report
    }
}

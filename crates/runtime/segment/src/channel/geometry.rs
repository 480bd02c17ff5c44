//! Where the rings of a node's processes lie, and what lies in a ring.
//!
//! A ring is one line in which the reader says how far it has come, and then the bytes of the records.

use crate::layout::{EVENTCOUNT_BYTES, LINE, PAGE};

/// Offset in a ring of the word in which the reader says how far it has come.
pub(super) const TAKEN_AT: usize = 0;
/// Offset in a ring of its records.
pub(super) const DATA_AT: usize = LINE;
/// Kind of the filler in front of the ring's end.
pub(super) const FILLER: u8 = 255;
/// Bytes of a record's header.
pub(super) const HEADER: usize = 8;

/// Bytes that a record takes in the ring: whole lines.
pub(super) fn record_bytes(payload: usize) -> u64 {
    (HEADER + payload).next_multiple_of(LINE) as u64
}

/// Raw access to the bytes of a ring.
pub trait Bytes {
    /// Address of the byte at `offset`.
    fn byte(&self, offset: usize) -> *mut u8;

    /// Copies `part` to the bytes from `offset` on.
    ///
    /// # Safety
    /// They must be inside the ring, and no other thread may access them meanwhile.
    #[inline(always)]
    unsafe fn put(&self, offset: usize, part: &[u8]) {
        // SAFETY: by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), self.byte(offset), part.len()) };
    }
}

/// Where the eventcounts and rings of a node's processes lie: at the end of the segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels {
    processes: usize,
    /// Bytes of a ring's records, without its first line.
    ring_bytes: usize,
    /// Offset in the segment.
    start: usize,
}

impl Channels {
    /// The layout for so many processes in a segment of `segment_bytes`. None if it would take more than a
    /// quarter of the segment, or if there are more than 256 processes: a reader looks at all rings one by
    /// one.
    pub fn new(processes: usize, segment_bytes: usize) -> Option<Channels> {
        let ring_bytes = match processes {
            2..=16 => 64 * 1024,
            17..=64 => 32 * 1024,
            65..=256 => 16 * 1024,
            _ => return None,
        };
        let mut channels = Channels { processes, ring_bytes, start: 0 };
        let bytes = (channels.rings_at() + processes * processes * channels.stride()).next_multiple_of(PAGE);
        channels.start =
            segment_bytes.checked_sub(bytes).filter(|_| bytes <= segment_bytes / 4)? / PAGE * PAGE;
        Some(channels)
    }

    /// Offset in the segment at which the channels start; what lies below is left for blocks.
    pub fn start(&self) -> usize {
        self.start
    }

    fn rings_at(&self) -> usize {
        (self.processes * EVENTCOUNT_BYTES).next_multiple_of(PAGE)
    }

    /// Rings lie some lines more than their size apart: a reader looks at the same place of all of them, and
    /// these places must not fall into one set of its cache.
    fn stride(&self) -> usize {
        DATA_AT + self.ring_bytes + 3 * LINE
    }

    /// Offset in the segment of the eventcount of a process.
    pub fn eventcount(&self, process: usize) -> usize {
        self.start + process * EVENTCOUNT_BYTES
    }

    /// Offset in the segment of the ring for records from one process to another.
    pub fn ring(&self, from: usize, to: usize) -> usize {
        self.start + self.rings_at() + (to * self.processes + from) * self.stride()
    }

    /// Bytes of the largest payload of a record.
    pub fn largest_record(&self) -> usize {
        self.ring_bytes / 4 - HEADER
    }

    /// Bytes of a ring's records, headers included.
    pub fn ring_bytes(&self) -> usize {
        self.ring_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_do_not_overlap() {
        for processes in [2, 16, 17, 64, 65] {
            let c = Channels::new(processes, 4 << 30).unwrap();
            assert!(c.eventcount(processes) <= c.ring(0, 0));
            let mut starts: Vec<usize> =
                (0..processes * processes).map(|i| c.ring(i / processes, i % processes)).collect();
            starts.sort();
            assert!(starts.windows(2).all(|w| w[1] - w[0] >= DATA_AT + c.ring_bytes()));
            assert!(starts.last().unwrap() + DATA_AT + c.ring_bytes() <= 4 << 30);
        }
        assert_eq!(Channels::new(300, 64 << 30), None);
        assert_eq!(Channels::new(64, 64 << 20), None);
    }
}

//! Memory that other nodes write into: everything in it may change at any moment, so it is read and
//! written by atomics alone.

use evenkeel_segment::Segment;
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// Memory of one node, shared by all clones; zero at first.
#[derive(Clone)]
pub struct Memory(Arc<Pages>);

struct Pages {
    start: NonNull<u8>,
    bytes: usize,
    /// The segment that it lies in; None: it is a mapping of its own.
    segment: Option<Arc<Segment>>,
}

// SAFETY: the pages are plain memory, touched through atomics only, and there until the last clone is gone.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Drop for Pages {
    fn drop(&mut self) {
        if self.segment.is_none() {
            // SAFETY: mapped in `new` with the same length; nobody holds a reference any more.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
        }
    }
}

impl Memory {
    /// So many bytes, rounded up to whole words. Pages are taken as they are touched.
    pub fn new(bytes: usize) -> io::Result<Memory> {
        let bytes = bytes.max(1).next_multiple_of(8);
        let (access, kind) = (
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
        );
        // SAFETY: a new mapping at a place of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Memory(Arc::new(Pages {
            start: NonNull::new(start.cast()).expect("a mapping is not at 0"),
            bytes,
            segment: None,
        })))
    }

    /// A part of a segment that is used for nothing else; `at` and `bytes` are multiples of 8.
    pub(crate) fn within(segment: &Arc<Segment>, at: usize, bytes: usize) -> Memory {
        assert!(at % 8 == 0 && bytes % 8 == 0 && bytes > 0 && at + bytes <= segment.bytes());
        let start = NonNull::new(segment.at(at).pointer(0)).expect("a mapping is not at 0");
        Memory(Arc::new(Pages { start, bytes, segment: Some(Arc::clone(segment)) }))
    }

    pub fn len(&self) -> usize {
        self.0.bytes
    }

    pub fn is_empty(&self) -> bool {
        false // there is at least one word
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.0.start.as_ptr()
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at % 8 == 0 && at + 8 <= self.len(), "no word at {at} of {} bytes", self.len());
        // SAFETY: aligned and within the pages, which live as long as `self`.
        unsafe { &*self.start().add(at).cast::<AtomicU64>() }
    }

    fn byte(&self, at: usize) -> &AtomicU8 {
        assert!(at < self.len(), "no byte {at} of {}", self.len());
        // SAFETY: within the pages, which live as long as `self`.
        unsafe { &*self.start().add(at).cast::<AtomicU8>() }
    }

    /// The word at a multiple of 8. Acquire: pairs with `store` and with the flag that a put writes after
    /// its data.
    pub fn load(&self, at: usize) -> u64 {
        self.word(at).load(Ordering::Acquire)
    }

    /// Sets the word at a multiple of 8. Release: pairs with `load`.
    pub fn store(&self, at: usize, value: u64) {
        self.word(at).store(value, Ordering::Release);
    }

    /// Carries an atomic out here; gives the old value.
    pub fn change(&self, at: usize, what: crate::Atomic) -> u64 {
        let change = |word| Some(what.apply(word));
        // AcqRel: pairs with itself, `load` and `store`, at any node.
        self.word(at).fetch_update(Ordering::AcqRel, Ordering::Acquire, change).expect("always some")
    }

    /// A copy of some bytes. Bytes that are being written at this moment may be old or new, each for itself.
    pub fn bytes(&self, at: usize, length: usize) -> Vec<u8> {
        // Relaxed: who wants them all new has seen a flag first, by `load`.
        let head = length.min(at.next_multiple_of(8) - at);
        let middle = at + head;
        let words = (length - head) / 8;
        let mut bytes = Vec::with_capacity(length);
        bytes.extend((at..middle).map(|place| self.byte(place).load(Ordering::Relaxed)));
        for place in (middle..middle + words * 8).step_by(8) {
            bytes.extend_from_slice(&self.word(place).load(Ordering::Relaxed).to_ne_bytes());
        }
        bytes.extend((middle + words * 8..at + length).map(|place| self.byte(place).load(Ordering::Relaxed)));
        bytes
    }

    /// Sets some bytes.
    pub fn write(&self, at: usize, bytes: &[u8]) {
        // Whole words where they are: eight times as fast, which for megabytes on many nodes of one machine
        // is what takes the time.
        let head = bytes.len().min(at.next_multiple_of(8) - at);
        let (head, rest) = bytes.split_at(head);
        let words = rest.chunks_exact(8);
        let (middle, tail) = (at + head.len(), words.remainder());
        for (place, &byte) in (at..).zip(head).chain((middle + words.len() * 8..).zip(tail)) {
            // Relaxed: `store` of a flag makes them visible.
            self.byte(place).store(byte, Ordering::Relaxed);
        }
        for (place, word) in (middle..).step_by(8).zip(words) {
            // Relaxed: as above.
            self.word(place).store(u64::from_ne_bytes(word.try_into().expect("8 bytes")), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every beginning and length about a word's, with what stands beside untouched.
    #[test]
    fn bytes_are_where_they_were_written() {
        for at in 0..17 {
            for length in 0..40 {
                let memory = Memory::new(64).unwrap();
                memory.write(0, &[0xee; 64]);
                let bytes: Vec<u8> = (1..=length as u8).collect();
                memory.write(at, &bytes);
                assert_eq!(memory.bytes(at, length), bytes, "{length} at {at}");
                let beside = |byte: &u8| *byte == 0xee;
                assert!(
                    memory.bytes(0, at).iter().all(beside)
                        && memory.bytes(at + length, 64 - at - length).iter().all(beside),
                    "{length} at {at}"
                );
            }
        }
    }
}

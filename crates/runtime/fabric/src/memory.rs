//! Memory that other nodes write into. Everything in it may change at any moment, so it is read and
//! written by atomics alone.

use evenkeel_segment::Segment;
use serde::{Deserialize, Serialize};
use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// An atomic operation on one 64-bit word. It fetches the old value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// Adds, wrapping around.
    Add(u64),
    /// Replaces the word.
    Swap(u64),
    /// Replaces the word if it has the expected value.
    CompareSwap {
        /// The value at which the word is replaced.
        expected: u64,
        /// What replaces it.
        new: u64,
    },
    /// Bitwise and.
    And(u64),
    /// Bitwise or.
    Or(u64),
    /// Bitwise exclusive or.
    Xor(u64),
}

impl Atomic {
    /// The new value of a word.
    pub fn apply(self, word: u64) -> u64 {
        match self {
            Atomic::Add(by) => word.wrapping_add(by),
            Atomic::Swap(new) => new,
            Atomic::CompareSwap { expected, new } if word == expected => new,
            Atomic::CompareSwap { .. } => word,
            Atomic::And(with) => word & with,
            Atomic::Or(with) => word | with,
            Atomic::Xor(with) => word ^ with,
        }
    }
}

/// A value for the word at an offset, a multiple of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordWrite {
    /// Offset of the word, in bytes.
    pub at: usize,
    /// What is stored there.
    pub value: u64,
}

/// Memory of one node, shared by all clones. It is zero at first.
#[derive(Clone)]
pub struct Memory(Arc<Pages>);

struct Pages {
    start: NonNull<u8>,
    bytes: usize,
    /// The segment that the pages lie in; None: they are a mapping of their own.
    segment: Option<Arc<Segment>>,
}

// SAFETY: the pages are plain memory, accessed through atomics only, and stay until the last clone is gone.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Drop for Pages {
    fn drop(&mut self) {
        if self.segment.is_none() {
            // SAFETY: mapped in `Memory::new` with the same length; no reference to the pages is left.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
        }
    }
}

impl Memory {
    /// Memory of so many bytes, rounded up to whole words. Pages are taken as they are touched.
    pub fn new(bytes: usize) -> io::Result<Memory> {
        let bytes = bytes.max(1).next_multiple_of(8);
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at a place of the kernel's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).expect("a mapping is not at 0");
        Ok(Memory(Arc::new(Pages { start, bytes, segment: None })))
    }

    /// A part of a segment that is used for nothing else; `at` and `bytes` are multiples of 8.
    pub(crate) fn in_segment(segment: &Arc<Segment>, at: usize, bytes: usize) -> Memory {
        assert!(at % 8 == 0 && bytes % 8 == 0 && bytes > 0 && at + bytes <= segment.bytes());
        let start = NonNull::new(segment.at(at).pointer(0)).expect("a mapping is not at 0");
        Memory(Arc::new(Pages { start, bytes, segment: Some(Arc::clone(segment)) }))
    }

    /// Size in bytes; at least 8.
    #[allow(clippy::len_without_is_empty, reason = "there is at least one word")]
    pub fn len(&self) -> usize {
        self.0.bytes
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

    /// The word at a multiple of 8. Acquire: pairs with [`Memory::store`] and with the flag that a put writes
    /// after its data.
    ///
    /// # Panics
    /// If there is no such word; so do the other methods that take an offset.
    pub fn load(&self, at: usize) -> u64 {
        self.word(at).load(Ordering::Acquire)
    }

    /// Sets the word at a multiple of 8. Release: pairs with [`Memory::load`].
    pub fn store(&self, at: usize, value: u64) {
        self.word(at).store(value, Ordering::Release);
    }

    /// Carries out a put here: writes the data, then stores the flag.
    pub(crate) fn put(&self, at: usize, bytes: &[u8], flag: Option<WordWrite>) {
        self.write(at, bytes);
        if let Some(flag) = flag {
            self.store(flag.at, flag.value);
        }
    }

    /// Carries out an atomic operation here; returns the old value.
    pub fn update(&self, at: usize, operation: Atomic) -> u64 {
        let update = |word| Some(operation.apply(word));
        // AcqRel: pairs with itself, `load` and `store`, at any node.
        self.word(at).fetch_update(Ordering::AcqRel, Ordering::Acquire, update).expect("always some")
    }

    /// A copy of some bytes. Each byte that is being written at this moment may be old or new.
    pub fn bytes(&self, at: usize, length: usize) -> Vec<u8> {
        // Relaxed: a caller that wants all of them new has seen a flag first, by `load`.
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
        // By whole words where possible: that is eight times as fast, and for megabytes on many nodes of one
        // machine this takes most of the time.
        let head = bytes.len().min(at.next_multiple_of(8) - at);
        let (head, rest) = bytes.split_at(head);
        let words = rest.chunks_exact(8);
        let (middle, tail) = (at + head.len(), words.remainder());
        for (place, &byte) in (at..).zip(head).chain((middle + words.len() * 8..).zip(tail)) {
            // Relaxed: the `store` of a flag makes them visible.
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

    /// Every start and length around a word's, with what stands beside left alone.
    #[test]
    fn bytes_are_where_they_were_written() {
        for at in 0..17 {
            for length in 0..40 {
                let memory = Memory::new(64).unwrap();
                memory.write(0, &[0xee; 64]);
                let bytes: Vec<u8> = (1..=length as u8).collect();
                memory.write(at, &bytes);
                assert_eq!(memory.bytes(at, length), bytes, "{length} at {at}");
                let untouched = |byte: &u8| *byte == 0xee;
                assert!(
                    memory.bytes(0, at).iter().all(untouched)
                        && memory.bytes(at + length, 64 - at - length).iter().all(untouched),
                    "{length} at {at}"
                );
            }
        }
    }
}

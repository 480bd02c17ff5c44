//! Copies large payload into the segment, past the cache or through it, whichever is faster on this
//! machine.
//!
//! Another core reads what a rank writes. A store through the cache first takes the cache line away from
//! the reader's core, which has it from the last time; the reader then fetches it from this core's cache.
//! If the two cores share a cache, that is fastest. If they do not, it is several times slower than writing
//! to memory directly. A virtual machine does not say which is the case, and may move. So both methods are
//! timed now and then, and the faster one is used.

use crate::clock::Clock;
use crate::copy::copy;

/// Smaller payload always goes through the cache.
const WORTH_CHOOSING: usize = 4 * 1024;
/// One copy in this many uses the method that is currently slower.
const TRY_EVERY: u32 = 32;

/// Copies into the segment, and the measured cost of each method on one communicator.
#[derive(Debug, Default)]
pub struct StreamingCopy {
    /// Time per byte, in ticks × 1024; `None` if the method has not been tried yet.
    cached: Option<u64>,
    streamed: Option<u64>,
    copies: u32,
}

impl StreamingCopy {
    fn streams_next(&self) -> bool {
        let usual = matches!((self.cached, self.streamed), (Some(c), Some(s)) if s < c);
        match self.copies % TRY_EVERY {
            0 => false,
            1 => true,
            _ => usual,
        }
    }

    fn note(&mut self, streamed: bool, ticks: u64, bytes: usize) {
        let rate = ticks * 1024 / bytes as u64;
        let seen = if streamed { &mut self.streamed } else { &mut self.cached };
        *seen = Some(seen.map_or(rate, |old| (3 * old + rate) / 4));
        self.copies = self.copies.wrapping_add(1);
    }

    /// Copies like [`copy`]. `to` should be aligned to 64 bytes.
    ///
    /// # Safety
    /// Both places must be valid for `bytes` and must not overlap.
    pub unsafe fn copy(&mut self, clock: Clock, from: *const u8, to: *mut u8, bytes: usize) {
        if bytes < WORTH_CHOOSING || !CAN_STREAM || to as usize % 16 != 0 {
            // SAFETY: the caller's promise.
            return unsafe { copy(from, to, bytes) };
        }
        let streams = self.streams_next();
        let began = clock.now();
        // SAFETY: the caller's promise.
        unsafe { if streams { stream(from, to, bytes) } else { copy(from, to, bytes) } };
        self.note(streams, clock.now().0.saturating_sub(began.0), bytes);
    }
}

const CAN_STREAM: bool = cfg!(target_arch = "x86_64");

/// Copies past the cache, where the processor can do that.
///
/// # Safety
/// As for [`StreamingCopy::copy`]; `to` must be aligned to 16 bytes.
#[cfg(target_arch = "x86_64")]
pub unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    let whole = bytes & !63;
    let mut at = 0;
    while at < whole {
        // SAFETY: within `bytes`; the target is aligned by the caller's promise.
        unsafe {
            for part in [0, 16, 32, 48] {
                let data = _mm_loadu_si128(from.add(at + part).cast());
                _mm_stream_si128(to.add(at + part).cast::<__m128i>(), data);
            }
        }
        at += 64;
    }
    // SAFETY: copies the remaining bytes. The fence orders the streamed stores before the store that
    // publishes them, which a release store alone does not.
    unsafe {
        copy(from.add(whole), to.add(whole), bytes - whole);
        _mm_sfence();
    }
}

/// Copies: here nothing goes past the cache.
///
/// # Safety
/// As for [`copy`].
#[cfg(not(target_arch = "x86_64"))]
pub unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { copy(from, to, bytes) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_method_is_used_and_the_other_is_tried_now_and_then() {
        let mut copies = StreamingCopy::default();
        let mut streamed = 0;
        for _ in 0..320 {
            let s = copies.streams_next();
            copies.note(s, if s { 100 } else { 500 }, 4096);
            streamed += s as u32;
        }
        assert!(streamed > 300 && streamed < 320, "{streamed}");
        for _ in 0..320 {
            let s = copies.streams_next();
            copies.note(s, if s { 100 } else { 10 }, 4096); // the machine has changed
        }
        copies.copies = 5;
        assert!(!copies.streams_next());
    }

    #[test]
    fn both_methods_copy_everything() {
        #[repr(align(64))]
        struct Aligned([u8; 10_000]);
        let from: Vec<u8> = (0..9_001u32).map(|i| (i * 7) as u8).collect();
        let mut copies = StreamingCopy::default();
        for _ in 0..4 {
            let mut to = Box::new(Aligned([0; 10_000]));
            // SAFETY: both buffers are longer than 9,000 bytes.
            unsafe { copies.copy(Clock::MONOTONIC, from.as_ptr().add(1), to.0.as_mut_ptr(), 9_000) };
            assert_eq!(to.0[..9_000], from[1..]);
            assert_eq!(to.0[9_000..], [0; 1_000]);
        }
    }
}

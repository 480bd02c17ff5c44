//! Copies large payload into the segment, past the cache or through it, whichever is faster on this
//! machine.
//!
//! Another core reads what a rank writes. A store through the cache first takes the cache line away from
//! the reader's core, which has it from the last time; the reader then fetches it from this core's cache.
//! If the two cores share a cache, that is fastest. If they do not, it is several times slower than writing
//! to memory directly. A virtual machine does not say which is the case, and may move. So both methods are
//! timed now and then, and the faster one is used.

use crate::clock::Clock;
use crate::copy::choice::Choice;
use crate::copy::copy;

/// Smaller payload always goes through the cache.
const WORTH_CHOOSING: usize = 4 * 1024;
/// Copies into the segment, and the measured cost of each method on one communicator.
#[derive(Debug, Default)]
pub struct StreamingCopy {
    /// Between copies through the cache and past it.
    choice: Choice,
}

impl StreamingCopy {
    /// Copies like [`copy`]. `to` should be aligned to 64 bytes.
    ///
    /// # Safety
    /// Both places must be valid for `bytes` and must not overlap.
    pub unsafe fn copy(&mut self, clock: Clock, from: *const u8, to: *mut u8, bytes: usize) {
        if bytes < WORTH_CHOOSING || !CAN_STREAM || to as usize % 16 != 0 {
            // SAFETY: the caller's promise.
            return unsafe { copy(from, to, bytes) };
        }
        let streams = self.choice.takes_second();
        let began = clock.now();
        // SAFETY: the caller's promise.
        unsafe { if streams { stream(from, to, bytes) } else { copy(from, to, bytes) } };
        self.choice.note(streams, clock.now().0.saturating_sub(began.0), bytes);
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

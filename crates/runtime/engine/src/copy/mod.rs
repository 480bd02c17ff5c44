//! Copying bytes: plainly, or past the cache where that is faster ([`streaming`]).
//!
//! May use: the clock. Must never know what the bytes are.

pub mod streaming;

/// Copies `bytes` unless the data is in place already.
///
/// # Safety
/// Both places must be valid for `bytes` and, if they differ, not overlap.
#[inline(always)]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    if bytes > 0 && !std::ptr::eq(from, to) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
    }
}

/// Copies at most a cell's payload; eight bytes without a call.
///
/// # Safety
/// Both places must be valid for `bytes`; they may be the same, but not overlap otherwise.
#[inline(always)]
pub unsafe fn copy_small(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if bytes == 8 {
            to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned());
        } else {
            copy(from, to, bytes);
        }
    }
}

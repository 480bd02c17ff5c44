//! Copies bytes: normally, or past the cache if that is faster ([`streaming`]).
//!
//! May use: clock. Must never: know what the bytes mean.

pub mod streaming;

/// Copies `bytes` unless the data is in place already.
///
/// # Safety
/// Both places must be valid for `bytes` and, if they differ, must not overlap.
#[inline(always)]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    if bytes > 0 && !std::ptr::eq(from, to) {
        // SAFETY: the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(from, to, bytes) };
    }
}

/// Copies at most a cell's payload. Eight bytes are copied without a call.
///
/// # Safety
/// Both places must be valid for `bytes`. They may be equal, but must not overlap otherwise.
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

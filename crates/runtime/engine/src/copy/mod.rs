//! Copies bytes: normally, by vector instructions where `memcpy` is slow ([`vectors`]), or past the cache if
//! that is faster ([`streaming`]). [`choice`] finds out which of two methods is faster.
//!
//! May use: clock. Must never: know what the bytes mean.

pub mod choice;
pub mod streaming;
mod vectors;

/// Copies `bytes` unless the data is in place already.
///
/// # Safety
/// Both places must be valid for `bytes` and, if they differ, must not overlap.
#[inline(always)]
pub unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    if bytes > 0 && !std::ptr::eq(from, to) {
        // SAFETY: the caller's promise.
        unsafe {
            if vectors::are_wanted(from, to, bytes) {
                vectors::copy(from, to, bytes);
            } else {
                std::ptr::copy_nonoverlapping(from, to, bytes);
            }
        }
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

//! Copying bytes.

pub mod streaming;

/// Copies unless the data is in place already.
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

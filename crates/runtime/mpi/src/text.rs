//! Strings and arrays that C passes.

use std::ffi::{CStr, c_char, c_int};

/// A copy of a C string; empty if the pointer is null.
///
/// # Safety
/// `text` must be null or a terminated string.
pub(crate) unsafe fn string(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: not null, so terminated by the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The `count` elements that start at `first`.
///
/// # Safety
/// They must be valid for reading while the slice is used.
pub(crate) unsafe fn slice<'a, T>(first: *const T, count: c_int) -> &'a [T] {
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(first, count as usize) }
}

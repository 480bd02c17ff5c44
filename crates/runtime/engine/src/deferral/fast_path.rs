//! Lets deferred barriers that follow one another on a communicator, while nothing else is pending, skip
//! all decisions.
//!
//! The decisions were made for the first of these barriers, so each of the next ones only writes a word.
//! Every change that could affect the decisions closes the fast path: [`super::pending`] closes it on each
//! of its own changes, and a communicator closes it when it is revoked.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The communicator whose barriers may take the fast path, as the pointer that the front end knows, or
/// null. The front end reads this word by its address before it calls the engine.
#[unsafe(export_name = "ek_deferred_fast_path")]
static COMMUNICATOR: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Opens the fast path for the communicator that the front end knows by this pointer. It must be the only
/// communicator with pending barriers.
#[inline(always)]
pub(crate) fn open(communicator: *const c_void) {
    COMMUNICATOR.store(communicator.cast_mut(), Ordering::Relaxed);
}

/// Closes it: nothing is pending any more, another communicator has pending barriers, deferral is
/// forbidden, or the communicator has been revoked.
#[inline(always)]
pub(crate) fn close() {
    COMMUNICATOR.store(std::ptr::null_mut(), Ordering::Relaxed);
}

/// Returns whether it is open for the communicator that the front end knows by this pointer.
#[inline(always)]
pub(crate) fn is_open_for(communicator: *const c_void) -> bool {
    !communicator.is_null() && std::ptr::eq(COMMUNICATOR.load(Ordering::Relaxed), communicator)
}

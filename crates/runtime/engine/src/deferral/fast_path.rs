//! Whose next barrier may be entered without any decision: deferred barriers that follow one another on
//! a communicator while nothing else is pending.
//!
//! What there is to decide has been decided for the first of them, so each is a word written. Whatever
//! changes what was decided closes the fast path: [`super::pending`] does so on every change of its
//! own, and a communicator when it is revoked.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The communicator whose barriers may take the fast path, by the pointer that the front end knows;
/// null: none. The front end looks at it before it calls, by address.
#[unsafe(export_name = "ek_deferred_fast_path")]
static COMMUNICATOR: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Opens the fast path for the communicator that the front end knows by this pointer, which has pending
/// barriers and is alone in that.
#[inline(always)]
pub(crate) fn open(communicator: *const c_void) {
    COMMUNICATOR.store(communicator.cast_mut(), Ordering::Relaxed);
}

/// Closes it, whatever the reason: nothing is pending any more, or something of another communicator
/// is, or deferral is forbidden, or the communicator has been revoked.
#[inline(always)]
pub(crate) fn close() {
    COMMUNICATOR.store(std::ptr::null_mut(), Ordering::Relaxed);
}

/// Whether it is open for the communicator that the front end knows by this pointer.
#[inline(always)]
pub(crate) fn is_open_for(communicator: *const c_void) -> bool {
    !communicator.is_null() && std::ptr::eq(COMMUNICATOR.load(Ordering::Relaxed), communicator)
}

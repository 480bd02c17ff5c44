//! What a front end calls. Pending barriers come first: to complete one means to wait, and whoever
//! waits moves messages on.

use super::matching::Pattern;
use super::port::port;
use super::request::{Matched, Message, Probed};
use super::visibility::Stamp;
use crate::communicator::node::Comm;
use crate::deferral::pending as deferral;

#[inline(always)]
fn stamp() -> Option<Stamp> {
    if deferral::any_pending() { deferral::stamp() } else { None }
}

fn open() -> &'static mut super::port::Port {
    // SAFETY: what is called here calls none of these functions.
    unsafe { port() }.expect("messages are carried here")
}

/// Sends `bytes` from `data` to rank `dest`; null if that is complete already. `synchronous`: complete
/// when it has been received.
///
/// # Safety
/// `comm` must be served, and `data` valid until the send is complete.
#[inline]
pub unsafe fn send(
    comm: &Comm,
    dest: usize,
    tag: i32,
    synchronous: bool,
    data: *const u8,
    bytes: usize,
) -> *mut Message {
    let stamp = stamp();
    // SAFETY: the caller's promise.
    unsafe { open().send(comm, dest, tag, synchronous, stamp, data, bytes) }
}

/// Posts a receive of up to `capacity` bytes.
///
/// # Safety
/// `buffer` must be valid for writing until the receive is complete.
#[inline]
pub unsafe fn receive(comm: &Comm, pattern: Pattern, buffer: *mut u8, capacity: usize) -> *mut Message {
    let posted = stamp();
    // SAFETY: the caller's promise.
    unsafe { open().receive(comm, pattern, posted, buffer, capacity) }
}

/// Receives a message that `probe` took out.
///
/// # Safety
/// As for `receive`.
pub unsafe fn receive_matched(
    comm: &Comm,
    matched: Box<Matched>,
    buffer: *mut u8,
    capacity: usize,
) -> *mut Message {
    let posted = stamp();
    // SAFETY: the caller's promise.
    unsafe { open().receive_matched(comm, matched, posted, buffer, capacity) }
}

/// The first message that such a receive would get, if it may be seen; `take`: takes it out.
pub fn probe(comm: &Comm, pattern: Pattern, take: bool) -> Option<Probed> {
    open().probe(comm, pattern, take)
}

/// Takes back a receive that nothing has been received by; false if it is too late.
///
/// # Safety
/// `receive` must be alive.
pub unsafe fn cancel(receive: *mut Message) -> bool {
    // SAFETY: the caller's promise.
    unsafe { open().cancel(receive) }
}

/// The program has no use for it any more; it is freed now, or when it is complete.
///
/// # Safety
/// From `send` or `receive`, not null, not used again.
pub unsafe fn free(message: *mut Message) {
    // SAFETY: the caller's promise.
    unsafe { open().free(message) }
}

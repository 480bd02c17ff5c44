//! What the front end calls. Pending barriers come first: to complete one means to wait, and a rank
//! that waits moves messages on.

use super::matching::Pattern;
use super::port::Port;
use super::request::{Matched, Message, Probed};
use super::visibility::{Look, Stamping, stamping};
use crate::barrier::completion::complete;
use crate::comm::part::NodePart;
use crate::comm::stamp::BarrierStamp;
use crate::deferral::observer::Observer;
use crate::deferral::pending::any_pending;
use crate::process::Process;

/// The stamp of what this process sends or posts now. Completes what is pending if one stamp cannot name it.
#[inline(always)]
fn stamp(process: &Process) -> Option<BarrierStamp> {
    if any_pending() { stamp_of_pending(process) } else { None }
}

#[cold]
fn stamp_of_pending(process: &Process) -> Option<BarrierStamp> {
    let mut parts = process.deferral.parts();
    match stamping(parts.len()) {
        Stamping::Plain => None,
        // SAFETY: communicators with pending barriers are attached: detaching completes them first.
        Stamping::Stamped => parts.next().map(|part| unsafe { &*part }.latest_barrier()),
        Stamping::CompletedFirst => {
            complete(process, Observer::MESSAGE);
            None
        }
    }
}

/// # Safety
/// As for [`Messages::port`](super::messages::Messages::port).
#[allow(clippy::mut_from_ref, reason = "one thread, by the caller's promise")]
unsafe fn port(process: &Process) -> &mut Port {
    // SAFETY: the caller's promise.
    unsafe { process.messages.port() }.expect("messages are carried here")
}

/// Sends `bytes` from `data` to rank `dest`; null if that is complete already. `synchronous`: it is
/// complete when it has been received.
///
/// # Safety
/// By the one thread in MPI. `data` must be valid until the send is complete.
#[inline]
pub unsafe fn send(
    process: &Process,
    part: &NodePart,
    dest: usize,
    tag: i32,
    synchronous: bool,
    data: *const u8,
    bytes: usize,
) -> *mut Message {
    let stamp = stamp(process);
    // SAFETY: the caller's promise.
    unsafe { port(process).send(part, dest, tag, synchronous, stamp, data, bytes) }
}

/// Posts a receive of up to `capacity` bytes.
///
/// # Safety
/// By the one thread in MPI. `buffer` must be valid for writing until the receive is complete.
#[inline]
pub unsafe fn receive(
    process: &Process,
    part: &NodePart,
    pattern: Pattern,
    buffer: *mut u8,
    capacity: usize,
) -> *mut Message {
    let posted = stamp(process);
    // SAFETY: the caller's promise.
    unsafe { port(process).receive(part, pattern, posted, buffer, capacity) }
}

/// Receives a message that [`probe`] took out.
///
/// # Safety
/// As for [`receive`].
pub unsafe fn receive_matched(
    process: &Process,
    part: &NodePart,
    matched: Matched,
    buffer: *mut u8,
    capacity: usize,
) -> *mut Message {
    let posted = stamp(process);
    // SAFETY: the caller's promise.
    unsafe { port(process).receive_matched(part, matched, posted, buffer, capacity) }
}

/// The first message that such a receive would get, if it may be seen. `take`: takes it out.
///
/// # Safety
/// By the one thread in MPI.
pub unsafe fn probe(process: &Process, part: &NodePart, pattern: Pattern, take: bool) -> Option<Probed> {
    // SAFETY: the caller's promise.
    unsafe { port(process).probe(part, pattern, take) }
}

/// Whether a send or receive is complete for a program that looks so.
///
/// # Safety
/// By the one thread in MPI.
#[inline]
pub unsafe fn is_complete(process: &Process, message: &Message, look: Look) -> bool {
    // SAFETY: the caller's promise. Without a port no barrier decides.
    unsafe { process.messages.port() }.map_or(message.done, |port| port.is_complete(message, look))
}

/// Takes back a receive by which nothing has been received; false if it is too late.
///
/// # Safety
/// By the one thread in MPI. `receive` must be alive.
pub unsafe fn cancel(process: &Process, receive: *mut Message) -> bool {
    // SAFETY: the caller's promise.
    unsafe { port(process).cancel(receive) }
}

/// The program has no use for it any more; it is freed now, or when it is complete.
///
/// # Safety
/// By the one thread in MPI. From [`send`] or [`receive`], not null, not used again.
pub unsafe fn free(process: &Process, message: *mut Message) {
    // SAFETY: the caller's promise.
    unsafe { port(process).free(message) }
}

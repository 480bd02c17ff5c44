//! The functions that the front end calls. Each completes pending barriers first where that is needed: it
//! may mean waiting, and a rank that waits makes progress on messages.

use super::matching::Pattern;
use super::port::Port;
use super::request::{Matched, Message, Probed};
use super::visibility::{QueryKind, Stamping, stamping};
use crate::barrier::completion::complete;
use crate::comm::part::NodePart;
use crate::comm::stamp::BarrierStamp;
use crate::deferral::observer::Observer;
use crate::deferral::pending::any_pending;
use crate::process::Process;

/// Returns the stamp of a message or receive that this process starts now. Completes pending barriers first
/// if one stamp cannot describe them.
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
    unsafe { process.messages.port() }.expect("evenkeel carries messages")
}

/// Sends `bytes` from `data` to rank `dest`. Returns null if the send is complete already. A `synchronous`
/// send is complete when the message has been received.
///
/// # Safety
/// Only the one thread that is in MPI may call this. `data` must be valid until the send is complete.
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
/// Only the one thread that is in MPI may call this. `buffer` must be valid for writing until the receive
/// is complete.
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

/// Receives a message that [`probe`] has taken out of the queue.
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

/// Returns the first message that a receive with this pattern would get, if the program may see it. With
/// `take` the message is also taken out of the queue.
///
/// # Safety
/// Only the one thread that is in MPI may call this.
pub unsafe fn probe(process: &Process, part: &NodePart, pattern: Pattern, take: bool) -> Option<Probed> {
    // SAFETY: the caller's promise.
    unsafe { port(process).probe(part, pattern, take) }
}

/// Returns whether a send or receive is complete, as far as the program may see that with this kind of
/// query.
///
/// # Safety
/// Only the one thread that is in MPI may call this.
#[inline]
pub unsafe fn is_complete(process: &Process, message: &Message, query: QueryKind) -> bool {
    // SAFETY: the caller's promise. Without a port no barrier has to be considered.
    unsafe { process.messages.port() }.map_or(message.done, |port| port.is_complete(message, query))
}

/// Cancels a receive that has not been matched. Returns false if it is too late.
///
/// # Safety
/// Only the one thread that is in MPI may call this. `receive` must not have been freed.
pub unsafe fn cancel(process: &Process, receive: *mut Message) -> bool {
    // SAFETY: the caller's promise.
    unsafe { port(process).cancel(receive) }
}

/// Frees a send or receive that the program does not use any more: now, or when it is complete.
///
/// # Safety
/// Only the one thread that is in MPI may call this. `message` must come from [`send`] or [`receive`], must
/// not be null, and must not be used again.
pub unsafe fn free(process: &Process, message: *mut Message) {
    // SAFETY: the caller's promise.
    unsafe { port(process).free(message) }
}

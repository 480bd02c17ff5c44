//! What UCX's callbacks leave for the wire to take.

use super::ffi::*;
use super::library::UcxLibrary;
use crate::node::NodeId;
use crate::wire::Event;
use std::collections::VecDeque;
use std::ffi::c_void;

/// A large message of which only the head has arrived; its data are still at the sender (a rendezvous).
pub(super) struct Rendezvous {
    pub from: NodeId,
    pub head: Vec<u8>,
    /// By which UCX fetches the data.
    pub descriptor: *mut c_void,
    /// Bytes of data.
    pub length: usize,
}

/// Filled by callbacks within `worker_progress`, emptied between calls of it. The two never happen at the
/// same time, since a worker is used by one thread at a time.
pub(super) struct Inbox {
    pub events: VecDeque<Event>,
    pub rendezvous: Vec<Rendezvous>,
    pub library: &'static UcxLibrary,
}

/// What the error handler of one connection needs.
pub(super) struct ErrorContext {
    pub inbox: *mut Inbox,
    pub node: NodeId,
}

/// UCX's callback for a message. The header is the sender and, of a large message, the head; then come data,
/// or a descriptor of them.
///
/// # Safety
/// Called by UCX within `worker_progress`, with the inbox as its argument.
pub(super) unsafe extern "C" fn message_arrived(
    inbox: *mut c_void,
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
    param: *const AmRecvParam,
) -> Status {
    if header_length < 4 {
        return OK; // not a message of ours
    }
    // SAFETY: the inbox outlives the worker, and nothing else accesses it during `worker_progress`; the
    // header has so many bytes, four at least.
    let (inbox, from, head, is_rendezvous) = unsafe {
        let inbox = &mut *inbox.cast::<Inbox>();
        let from = NodeId(u32::from_le_bytes(header.cast::<[u8; 4]>().read_unaligned()));
        let head = std::slice::from_raw_parts(header.cast::<u8>().add(4), header_length - 4);
        (inbox, from, head, (*param).recv_attr & AM_RECV_ATTR_FLAG_RNDV != 0)
    };
    if is_rendezvous {
        inbox.rendezvous.push(Rendezvous { from, head: head.to_vec(), descriptor: data, length });
        return IN_PROGRESS; // keeps the descriptor valid until the data are fetched
    }
    let mut bytes = Vec::with_capacity(head.len() + length);
    bytes.extend_from_slice(head);
    if length > 0 {
        // SAFETY: UCX gives so many bytes for the time of this call.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(data.cast::<u8>(), length) });
    }
    inbox.events.push_back(Event::Message { from, bytes });
    OK
}

/// UCX's callback when it gives a connection up.
///
/// # Safety
/// Called by UCX within `worker_progress`, with the [`ErrorContext`] of the connection as its argument.
pub(super) unsafe extern "C" fn connection_lost(
    context: *mut c_void,
    _endpoint: *mut c_void,
    status: Status,
) {
    // SAFETY: contexts outlive their connections; for the inbox see `message_arrived`.
    unsafe {
        let context = &*context.cast::<ErrorContext>();
        let inbox = &mut *context.inbox;
        let why = inbox.library.describe(status);
        inbox.events.push_back(Event::Lost { node: context.node, why });
    }
}

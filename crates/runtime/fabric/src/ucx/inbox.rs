//! What UCX's callbacks leave for the wire to take up.

use super::ffi::*;
use super::library::Library_;
use crate::{Event, NodeId};
use std::collections::VecDeque;
use std::ffi::c_void;

/// A large message that has been announced: its bytes are still over there.
pub(super) struct Announced {
    pub from: NodeId,
    /// What came with the announcement.
    pub head: Vec<u8>,
    pub descriptor: *mut c_void,
    pub length: usize,
}

/// Filled by callbacks within `worker_progress`, emptied between calls of it: never both at once, for a
/// worker is used by one thread at a time.
pub(super) struct Inbox {
    pub events: VecDeque<Event>,
    pub announced: Vec<Announced>,
    pub library: &'static Library_,
}

/// What the error handler of one endpoint needs.
pub(super) struct Peer {
    pub inbox: *mut Inbox,
    pub node: NodeId,
}

/// UCX's callback for a message: header (the sender, and what comes before the data), and data or a
/// descriptor of it.
///
/// # Safety
/// Called by UCX within `worker_progress`, with the inbox as its argument.
pub(super) unsafe extern "C" fn message_came(
    inbox: *mut c_void,
    header: *const c_void,
    header_length: usize,
    data: *mut c_void,
    length: usize,
    param: *const AmRecvParam,
) -> Status {
    if header_length < 4 {
        return OK; // not ours
    }
    // SAFETY: the inbox outlives the worker, and nobody else looks at it during `worker_progress`; the
    // header has so many bytes, four at least.
    let (inbox, from, head, rendezvous) = unsafe {
        let inbox = &mut *inbox.cast::<Inbox>();
        let from = NodeId(u32::from_le_bytes(header.cast::<[u8; 4]>().read_unaligned()));
        let head = std::slice::from_raw_parts(header.cast::<u8>().add(4), header_length - 4);
        (inbox, from, head, (*param).recv_attr & AM_RECV_ATTR_FLAG_RNDV != 0)
    };
    if rendezvous {
        inbox.announced.push(Announced { from, head: head.to_vec(), descriptor: data, length });
        return IN_PROGRESS; // the descriptor remains ours until its data are asked for
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

/// UCX's callback when it gives an endpoint up.
///
/// # Safety
/// Called by UCX within `worker_progress`, with the [`Peer`] of the endpoint as its argument.
pub(super) unsafe extern "C" fn peer_lost(peer: *mut c_void, _endpoint: *mut c_void, status: Status) {
    // SAFETY: peers outlive their endpoints; for the inbox see `message_came`.
    unsafe {
        let peer = &*peer.cast::<Peer>();
        let inbox = &mut *peer.inbox;
        let why = inbox.library.words(status);
        inbox.events.push_back(Event::Lost { node: peer.node, why });
    }
}

//! Operations that UCX has not finished, with the memory that it needs until then.

use super::ffi::*;
use super::library::Library_;
use crate::{Event, NodeId, Ticket};
use bytes::Bytes;
use std::ffi::c_void;

/// What is to be said when an operation is finished.
pub(super) enum Then {
    /// Nothing.
    Nothing,
    /// A message went out, with these data: nothing.
    Sent(Bytes),
    /// A put or atomic is visible over there.
    Done { ticket: Ticket, fetched: Box<u64> },
    /// A large message is here; its bytes are the pending operation's buffer.
    Message { from: NodeId },
}

/// One operation: some requests, and the buffers that they use.
pub(super) struct Pending {
    pub requests: Vec<*mut c_void>,
    pub buffers: Vec<Vec<u8>>,
    pub then: Then,
    failed: Option<Status>,
}

impl Pending {
    pub fn new(buffers: Vec<Vec<u8>>, then: Then) -> Pending {
        Pending { requests: Vec::new(), buffers, then, failed: None }
    }

    /// Takes up what a nonblocking call returned.
    pub fn started(&mut self, result: StatusPtr) {
        match result as isize {
            0 => {}
            status if (ERR_LAST..0).contains(&status) => self.failed = Some(status as Status),
            _ => self.requests.push(result),
        }
    }

    /// Whether every request has ended; those that have are freed.
    pub fn ended(&mut self, library: &Library_) -> bool {
        let failed = &mut self.failed;
        self.requests.retain(|&request| {
            // SAFETY: a request that was started and has not been freed.
            match unsafe { (library.request_check_status)(request) } {
                IN_PROGRESS => return true,
                OK => {}
                status => *failed = Some(status),
            }
            // SAFETY: as above, and it is dropped from the list.
            unsafe { (library.request_free)(request) };
            false
        });
        self.requests.is_empty()
    }

    /// The event that tells of it. An operation that failed has none: UCX's error handler has told of its
    /// peer.
    pub fn event(self) -> Option<Event> {
        match (self.failed, self.then) {
            (Some(_), _) | (None, Then::Nothing | Then::Sent(_)) => None,
            (None, Then::Done { ticket, fetched }) => Some(Event::Done { ticket, fetched: *fetched }),
            (None, Then::Message { from }) => {
                Some(Event::Message { from, bytes: self.buffers.into_iter().next().unwrap_or_default() })
            }
        }
    }
}

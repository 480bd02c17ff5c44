//! Operations that UCX has not completed, with the memory that it needs until then.

use super::ffi::*;
use super::library::UcxLibrary;
use crate::node::NodeId;
use crate::wire::{Event, Ticket};
use bytes::Bytes;
use std::ffi::c_void;

/// What is reported when an operation is completed.
pub(super) enum Report {
    /// Nothing.
    Nothing,
    /// Nothing; the data of a message that went out are kept until then.
    Sent(#[allow(dead_code, reason = "only kept until UCX has sent them")] Bytes),
    /// A put or atomic operation is visible at its target.
    Completed { ticket: Ticket, fetched: Box<u64> },
    /// A large message has arrived; its bytes are the operation's buffer.
    Message { from: NodeId },
}

/// One operation: its requests, and the buffers that they use.
pub(super) struct Pending {
    pub requests: Vec<*mut c_void>,
    pub buffers: Vec<Vec<u8>>,
    pub report: Report,
    failure: Option<Status>,
}

impl Pending {
    pub fn new(buffers: Vec<Vec<u8>>, report: Report) -> Pending {
        Pending { requests: Vec::new(), buffers, report, failure: None }
    }

    /// Adds what a nonblocking call of UCX returned.
    pub fn add(&mut self, result: StatusPtr) {
        match result as isize {
            0 => {}
            status if (ERR_LAST..0).contains(&status) => self.failure = Some(status as Status),
            _ => self.requests.push(result),
        }
    }

    /// Whether every request is completed. Completed requests are freed.
    pub fn is_completed(&mut self, library: &UcxLibrary) -> bool {
        let failure = &mut self.failure;
        self.requests.retain(|&request| {
            // SAFETY: a request that was begun and has not been freed.
            match unsafe { (library.request_check_status)(request) } {
                IN_PROGRESS => return true,
                OK => {}
                status => *failure = Some(status),
            }
            // SAFETY: as above, and it is dropped from the list.
            unsafe { (library.request_free)(request) };
            false
        });
        self.requests.is_empty()
    }

    /// The event of the completed operation. An operation that failed has none: UCX's error handler has
    /// reported the loss of its node.
    pub fn into_event(self) -> Option<Event> {
        match (self.failure, self.report) {
            (Some(_), _) | (None, Report::Nothing | Report::Sent(_)) => None,
            (None, Report::Completed { ticket, fetched }) => {
                Some(Event::Completed { ticket, fetched: *fetched })
            }
            (None, Report::Message { from }) => {
                Some(Event::Message { from, bytes: self.buffers.into_iter().next().unwrap_or_default() })
            }
        }
    }
}

//! The requests of a rank.

use crate::history::{CallIndex, Data};
use crate::regions::Region;
use crate::rules::overlap::BufferId;
use std::collections::HashMap;

/// What a request is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A send, of the rank's.
    Send(u32),
    /// A receive.
    Receive(u32),
    /// A nonblocking collective.
    Collective(u32),
    /// Something else, or nothing at the moment.
    Other,
}

/// The message of a persistent request.
#[derive(Clone, Debug)]
pub struct Template {
    /// It sends.
    pub sends: bool,
    /// On which communicator.
    pub comm: Option<u32>,
    /// The peer as the program has given it.
    pub peer: i64,
    /// The tag likewise.
    pub tag: i64,
    /// What is sent, or received.
    pub data: Data,
    /// Where.
    pub region: Option<Region>,
    /// It is complete only when it is received.
    pub waits: bool,
}

/// A request.
#[derive(Clone, Debug)]
pub struct Request {
    /// What for.
    pub purpose: Purpose,
    /// The call that has made it, or started it.
    pub made: CallIndex,
    /// It is under way.
    pub is_active: bool,
    /// It stays when it is complete.
    pub is_persistent: bool,
    /// Of a persistent message.
    pub template: Option<Template>,
    /// Buffers in use.
    pub buffers: Vec<BufferId>,
    /// The library has given its handle to several that were active.
    pub is_shared: bool,
    /// The program has called MPI_Cancel.
    pub is_to_be_cancelled: bool,
}

impl Request {
    /// One that has begun with this call.
    pub fn active(made: CallIndex, purpose: Purpose, buffers: Vec<BufferId>) -> Request {
        Request {
            purpose,
            made,
            is_active: true,
            is_persistent: false,
            template: None,
            buffers,
            is_shared: false,
            is_to_be_cancelled: false,
        }
    }
}

/// All requests that exist.
#[derive(Debug, Default)]
pub struct Requests {
    by_handle: HashMap<i64, Vec<Request>>,
    /// Handles that stood for one, and the call that has ended that.
    old: HashMap<i64, CallIndex>,
}

impl Requests {
    /// A call has made one. Returns buffers that are not to be looked at any more: libraries give one handle
    /// to all sends that are complete at once, and which of them a wait completes cannot be told.
    pub fn make(&mut self, handle: i64, mut request: Request) -> Vec<BufferId> {
        self.old.remove(&handle);
        let same = self.by_handle.entry(handle).or_default();
        let mut dropped = Vec::new();
        if !same.is_empty() {
            request.is_shared = true;
            for other in same.iter_mut().chain([&mut request]) {
                other.is_shared = true;
                dropped.append(&mut other.buffers);
            }
        }
        same.push(request);
        dropped
    }

    /// The one with this handle, the oldest.
    pub fn get(&mut self, handle: i64) -> Option<&mut Request> {
        self.by_handle.get_mut(&handle)?.first_mut()
    }

    /// The call that has completed or freed what this handle stood for, if it stands for nothing.
    pub fn old(&self, handle: i64) -> Option<CallIndex> {
        self.old.get(&handle).copied()
    }

    /// A call has learned that it is complete. Returns it as it was.
    pub fn complete(&mut self, handle: i64, call: CallIndex) -> Option<Request> {
        let same = self.by_handle.get_mut(&handle)?;
        let first = same.first_mut()?;
        if first.is_persistent {
            let was = first.clone();
            first.is_active = false;
            first.buffers.clear();
            return Some(was);
        }
        let was = same.remove(0);
        if same.is_empty() {
            self.by_handle.remove(&handle);
            self.old.insert(handle, call);
        }
        Some(was)
    }

    /// A call has freed it.
    pub fn free(&mut self, handle: i64, call: CallIndex) -> Option<Request> {
        let same = self.by_handle.get_mut(&handle)?;
        let was = same.remove(0);
        if same.is_empty() {
            self.by_handle.remove(&handle);
            self.old.insert(handle, call);
        }
        Some(was)
    }

    /// Those that are left, in the order in which they were made.
    pub fn left(&self) -> Vec<&Request> {
        let mut left: Vec<&Request> = self.by_handle.values().flatten().collect();
        left.sort_by_key(|request| request.made);
        left
    }
}

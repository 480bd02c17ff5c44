//! The communicators of this process, for the report.

use super::Communicator;
use super::spanning::SpanningCommunicator;
use crate::lock::lock;
use evenkeel_record::CommRecord;
use std::sync::{Arc, Mutex};

/// How many records of freed communicators are kept.
const FREED_KEPT: usize = 256;

/// The communicators of this process, and the records of freed ones.
#[derive(Default)]
pub struct Registry {
    attached: Mutex<Vec<Arc<Communicator>>>,
    /// Records of communicators that have been freed.
    freed: Mutex<Vec<CommRecord>>,
}

impl Registry {
    /// Adds a communicator that has just been attached.
    pub(crate) fn add(&self, communicator: Arc<Communicator>) {
        lock(&self.attached).push(communicator);
    }

    /// Removes a communicator that is about to be freed, and keeps its record.
    pub(crate) fn remove(&self, communicator: &Arc<Communicator>) {
        let mut attached = lock(&self.attached);
        if let Some(at) = attached.iter().position(|other| Arc::ptr_eq(other, communicator)) {
            attached.remove(at);
        }
        drop(attached);
        if let Some(record) = communicator.record() {
            let mut freed = lock(&self.freed);
            if freed.len() < FREED_KEPT {
                freed.push(record);
            }
        }
    }

    /// Calls `body` with the communicator across nodes that the job knows by this name, if this process has
    /// it. It is not freed meanwhile.
    pub(crate) fn with_spanning<R>(
        &self,
        id: u64,
        body: impl FnOnce(&SpanningCommunicator) -> R,
    ) -> Option<R> {
        let attached = lock(&self.attached);
        let found = attached.iter().find_map(|other| match &**other {
            Communicator::Spanning(spanning) if spanning.id() == id => Some(spanning),
            _ => None,
        });
        found.map(body)
    }

    /// Returns the records of all communicators of this process.
    pub fn records(&self) -> Vec<CommRecord> {
        let mut records = lock(&self.freed).clone();
        records.extend(lock(&self.attached).iter().filter_map(|communicator| communicator.record()));
        records
    }
}

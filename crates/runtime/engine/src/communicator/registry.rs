//! All communicators of this process that have been used, for the report.

use super::Communicator;
use evenkeel_record::CommRecord;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many records of freed communicators are kept.
const FREED_KEPT: usize = 256;

/// All communicators of this process.
#[derive(Default)]
pub struct Registry {
    attached: Mutex<Vec<Arc<Communicator>>>,
    /// Records of communicators that have been freed.
    freed: Mutex<Vec<CommRecord>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registry {
    /// A communicator has been attached.
    pub(crate) fn add(&self, communicator: Arc<Communicator>) {
        lock(&self.attached).push(communicator);
    }

    /// A communicator is about to be freed; its record is kept.
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

    /// The records of all communicators of this process.
    pub fn records(&self) -> Vec<CommRecord> {
        let mut records = lock(&self.freed).clone();
        records.extend(lock(&self.attached).iter().filter_map(|communicator| communicator.record()));
        records
    }
}

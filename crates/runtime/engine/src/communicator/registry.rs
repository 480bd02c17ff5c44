//! All communicators of this process that have been used, for the record.

use crate::communicator::node::{Comm, lock};
use evenkeel_record::CommRecord;
use std::sync::{Arc, Mutex};

static ALL: Mutex<Vec<Arc<Comm>>> = Mutex::new(Vec::new());
/// Records of communicators that are gone.
static GONE: Mutex<Vec<CommRecord>> = Mutex::new(Vec::new());
/// How many records of freed communicators are kept one by one.
const GONE_KEPT: usize = 256;

pub(crate) fn enter(comm: Arc<Comm>) {
    lock(&ALL).push(comm);
}

/// The communicator is about to go; its record is kept.
pub(crate) fn strike(comm: &Arc<Comm>) {
    let mut all = lock(&ALL);
    if let Some(i) = all.iter().position(|c| Arc::ptr_eq(c, comm)) {
        all.remove(i);
    }
    drop(all);
    if let Some(record) = comm.record() {
        let mut gone = lock(&GONE);
        if gone.len() < GONE_KEPT {
            gone.push(record);
        }
    }
}

/// The records of all communicators of this process.
pub fn records() -> Vec<CommRecord> {
    let mut records = lock(&GONE).clone();
    records.extend(lock(&ALL).iter().filter_map(|c| c.record()));
    records
}

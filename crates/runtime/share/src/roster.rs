//! The list of jobs, changed: a job is entered, its row changes, it leaves. Each change takes out jobs that
//! have ended, and plans anew.

use crate::error::ShareError;
use crate::gang::{ControlGroup, Gang, Mechanism, Root};
use crate::plan::{Capacity, replan};
use crate::registry::{Directory, Row, Status};
use crate::timetable::now_ns;
use std::time::Duration;
use tracing::debug;

/// How long the list's lock is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Enters a job, whose number is given here, and returned.
pub(crate) fn enter(directory: &Directory, mut row: Row) -> Result<u64, ShareError> {
    let lock = directory.lock(PATIENCE)?;
    let mut record = directory.read()?;
    let capacity = Capacity::of_this_machine();
    release_ended(record.remove_ended());
    let job = record.next_job;
    record.next_job = record.next_job.wrapping_add(1);
    row.job = job;
    if !capacity.holds(&row) {
        let has = capacity.memory_bytes.unwrap_or(0) >> 20;
        let why =
            format!("it needs {} MiB of memory, and this machine has {has} MiB", row.memory_bytes >> 20);
        return Err(ShareError::NeverFits { why });
    }
    record.jobs.push(row);
    replan(&mut record, capacity, now_ns());
    directory.write(&lock, &record)?;
    Ok(job)
}

/// Lets processes run that ended jobs have left, if any, and removes their groups.
fn release_ended(ended: Vec<Row>) {
    for row in ended {
        // Its own switcher is about to do the same.
        release_row(&row);
        if let Some(group) = row.group.as_deref().and_then(ControlGroup::listed) {
            group.remove_within(Duration::ZERO);
        }
    }
}

/// Changes the row of a job, takes jobs out that have ended, lets those run on whose switchers have died, and
/// plans anew.
pub(crate) fn change_list(
    directory: &Directory,
    patience: Duration,
    job: u64,
    change: impl FnOnce(&mut Row),
) -> Result<(), ShareError> {
    let lock = directory.lock(patience)?;
    let mut record = directory.read()?;
    let before = record.clone();
    release_ended(record.remove_ended());
    if let Some(row) = record.row_mut(job) {
        change(row);
    }
    for row in record.jobs.iter_mut().filter(|row| row.status != Status::Unswitched) {
        if row.switcher.is_some_and(|switcher| !switcher.is_alive()) {
            release_row(row);
            row.status = Status::Unswitched;
        }
    }
    replan(&mut record, Capacity::of_this_machine(), now_ns());
    if record != before { directory.write(&lock, &record) } else { Ok(()) }
}

/// Takes a job out of the list. If the list cannot be used, others find out that the job has ended.
pub(crate) fn leave_list(directory: &Directory, job: u64) {
    let leave = || {
        let lock = directory.lock(PATIENCE)?;
        let mut record = directory.read()?;
        record.jobs.retain(|row| row.job != job);
        release_ended(record.remove_ended());
        replan(&mut record, Capacity::of_this_machine(), now_ns());
        directory.write(&lock, &record)
    };
    if let Err(error) = leave() {
        debug!("{error}");
    }
}

/// Lets the processes of another job run, whose switcher has died.
pub(crate) fn release_row(row: &Row) {
    let group = row.group.as_deref().and_then(ControlGroup::listed);
    let mechanism = Mechanism::named(&row.mechanism).unwrap_or(Mechanism::Stop);
    if let Ok(mut gang) = Gang::new(mechanism, Root::new(row.process.pid), group) {
        gang.release(&[]);
    }
}

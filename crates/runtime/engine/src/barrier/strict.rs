//! Barriers that wait for all ranks.

use super::{central, threaded};
use crate::comm::part::{NodePart, Revoked};
use crate::deferral::pending::any_pending;
use crate::process::Process;

/// Enters a barrier and waits until all ranks have entered it.
#[inline]
pub(super) fn run(process: &Process, part: &NodePart) -> Result<(), Revoked> {
    // While barriers are pending no other thread of the program runs, and these must be completed too.
    if part.is_threaded() && !any_pending() {
        return threaded::run(process, part);
    }
    // SAFETY: there is one thread in MPI, and nothing below calls this function again.
    central::run(process, part, unsafe { part.state_unlocked() })
}

//! Answers of the interface that say more than yes or no.

use evenkeel_engine::comm::part::Revoked;
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::dispatch::Outcome;
use std::ffi::c_int;

/// Number of this interface. It travels in the process info: ranks whose shims differ in it do not share
/// memory.
pub const EK_INTERFACE: u32 = 4;

/// Done: the number of MPI_SUCCESS.
pub const EK_DONE: c_int = 0;

/// The host library has to carry the call out; nothing has been done. No MPI library has this error code.
pub const EK_DECLINED: c_int = -1;

/// A member has died, after `ek_world_report_faults`: the call ended without a result.
pub const EK_LOST_MEMBER: c_int = 124;

/// A member has revoked the communicator: the call ended without a result.
pub const EK_REVOKED: c_int = 125;

/// The answer for a call that may have ended without a result.
#[inline(always)]
pub(crate) fn code(outcome: Result<Outcome, Revoked>, comm: &Communicator) -> c_int {
    match outcome {
        Ok(Outcome::Done(())) => EK_DONE,
        Ok(Outcome::Declined) => EK_DECLINED,
        Err(Revoked) => code_of_end(comm.service().is_some_and(|service| service.part.has_failed())),
    }
}

/// The answer for a call that ended without a result.
#[cold]
pub(crate) fn code_of_end(lost_member: bool) -> c_int {
    if lost_member { EK_LOST_MEMBER } else { EK_REVOKED }
}

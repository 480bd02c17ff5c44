//! Return codes of functions whose answer is more than yes or no.

use evenkeel_engine::comm::part::Revoked;
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::dispatch::Outcome;
use std::ffi::c_int;

/// Version of this interface. It is part of the process info: ranks whose shims have different versions do
/// not share memory.
pub const EK_INTERFACE: u32 = 4;

/// The engine has carried out the call. The value is that of MPI_SUCCESS.
pub const EK_DONE: c_int = 0;

/// The host library must carry out the call; nothing has been done. No MPI library has this error code.
pub const EK_DECLINED: c_int = -1;

/// A member has died, after `ek_world_report_faults` was called. The call ended without a result.
pub const EK_LOST_MEMBER: c_int = 124;

/// A member has revoked the communicator. The call ended without a result.
pub const EK_REVOKED: c_int = 125;

/// The code for a call that may have ended without a result.
#[inline(always)]
pub(crate) fn code(outcome: Result<Outcome, Revoked>, comm: &Communicator) -> c_int {
    match outcome {
        Ok(Outcome::Done(())) => EK_DONE,
        Ok(Outcome::Declined) => EK_DECLINED,
        Err(Revoked) => code_of_end(comm.service().is_some_and(|service| service.part.has_failed())),
    }
}

/// The code for a call that ended without a result.
#[cold]
pub(crate) fn code_of_end(lost_member: bool) -> c_int {
    if lost_member { EK_LOST_MEMBER } else { EK_REVOKED }
}

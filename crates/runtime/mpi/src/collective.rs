//! Blocking collectives.

use crate::codes::{EK_DECLINED, EK_DONE, code, code_of_end};
use evenkeel_engine::collective::call::{Call, CombineFunction, Kind};
use evenkeel_engine::communicator::node::{Comm, Revoked, common_bytes};
use evenkeel_engine::deferral::fast_path;
use evenkeel_engine::reduction::kernels;
use std::ffi::{CStr, c_char, c_int};

/// Carries out a collective; returns when this rank's part is done: EK_DONE, or EK_DECLINED (counted as
/// the host's), EK_REVOKED, EK_LOST_MEMBER.
///
/// Whether a call is declined depends only on what all members know alike: the kind, `bytes` as in the
/// table of ek_call (for GATHERV, SCATTERV, ALLTOALLV and ALLTOALLW not even that; for ALLGATHERV the
/// largest block), `elem_bytes`, whether the call is nonblocking, and across nodes the combine
/// function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_run(comm: *const Comm, call: *mut Call) -> c_int {
    // SAFETY: an attached communicator, and a call as its type describes it, by the interface.
    unsafe {
        let comm = &*comm;
        if !accept(comm, call, false) {
            return EK_DECLINED;
        }
        code(comm.run(&*call), comm)
    }
}

/// Whether the engine carries out the call; if it does, the call's data are there.
///
/// # Safety
/// `call` must be as its type describes it.
#[inline(always)]
pub(crate) unsafe fn accept(comm: &Comm, call: *mut Call, nonblocking: bool) -> bool {
    // SAFETY: the caller's promise. No reference to the call is held while the shim changes it.
    unsafe {
        let kind = (*call).kind();
        let bytes = match kind {
            Kind::Gatherv | Kind::Scatterv | Kind::Alltoallv | Kind::Alltoallw => 0,
            Kind::Allgatherv => common_bytes(&*call, comm.ranks),
            _ => (*call).bytes,
        };
        comm.takes(kind, bytes, (*call).elem_bytes, (*call).combine, nonblocking).is_some()
            && match (*call).materialize {
                None => true,
                Some(materialize) => materialize(call) == 0,
            }
    }
}

/// Enters a barrier: EK_DONE, or EK_DECLINED, EK_REVOKED, EK_LOST_MEMBER. `may_defer`: it may return
/// before all members have entered (see `ek_complete_deferred`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_barrier(comm: *const Comm, may_defer: bool) -> c_int {
    // SAFETY: an attached communicator, by the interface.
    let comm = unsafe { &*comm };
    match comm.barrier(may_defer) {
        Ok(true) => EK_DONE,
        Ok(false) => EK_DECLINED,
        Err(Revoked) => code_of_end(comm.has_failed()),
    }
}

/// Enters a barrier and leaves it pending, as the one before it; false: nothing was done. Only where a
/// barrier may be deferred, and for the communicator that is in `ek_deferred_fast_path`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_barrier_fast_path(comm: *const Comm) -> bool {
    // SAFETY: by the one thread in MPI; the engine compares the pointer before it uses it.
    unsafe { fast_path::barrier(comm) }
}

/// A built-in combine function, or NULL. `op`: "sum" "prod" "max" "min" "band" "bor" "bxor" "land" "lor"
/// "lxor"; `number_class`: 'i' signed, 'u' unsigned, 'f' floating.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_builtin_combine(
    op: *const c_char,
    number_class: c_char,
    elem_bytes: usize,
) -> CombineFunction {
    // SAFETY: a terminated string, by the interface.
    let op = unsafe { CStr::from_ptr(op) }.to_str().ok()?;
    kernels::builtin(op, number_class as u8 as char, elem_bytes)
}

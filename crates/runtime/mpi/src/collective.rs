//! Blocking collectives.

use crate::codes::code;
use evenkeel_engine::collective::call::{Call, CombineFunction};
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::dispatch;
use evenkeel_engine::process::Process;
use evenkeel_engine::reduction::kernels;
use std::ffi::{CStr, c_char, c_int};

/// Carries out a collective. Returns when this rank has contributed what others need and received what it
/// needs: EK_DONE, EK_DECLINED (the call is counted as the host library's), EK_REVOKED or EK_LOST_MEMBER.
///
/// Whether a call is declined depends only on facts that all members know: the kind, `bytes` as in the
/// table of ek_call (for GATHERV, SCATTERV, ALLTOALLV and ALLTOALLW not even that; for ALLGATHERV the size
/// of the largest block), `elem_bytes`, whether the call is nonblocking, and, across nodes, the combine
/// function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_run(comm: *const Communicator, call: *mut Call) -> c_int {
    // SAFETY: an attached communicator, and a call as `Call` describes it, by the interface.
    unsafe { code(Process::current().run(&*comm, call), &*comm) }
}

/// Carries out a barrier: EK_DONE, EK_DECLINED, EK_REVOKED or EK_LOST_MEMBER. With `may_defer` it may
/// return before all members have entered (see `ek_complete_deferred`).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_barrier(comm: *const Communicator, may_defer: bool) -> c_int {
    // SAFETY: an attached communicator, by the interface.
    unsafe { code(Process::current().barrier(&*comm, may_defer), &*comm) }
}

/// Enters a barrier and leaves it pending, like the one before it. Returns false if this barrier needs
/// `ek_barrier`; nothing has been done then. Only where a barrier may be deferred, and only for the
/// communicator in `ek_deferred_fast_path`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_barrier_fast_path(comm: *const Communicator) -> bool {
    // SAFETY: called by the one thread in MPI. The engine compares the pointer before it uses it.
    unsafe { dispatch::barrier_fast_path(comm) }
}

/// Returns a built-in combine function, or NULL if there is none. `op` is one of "sum" "prod" "max" "min"
/// "band" "bor" "bxor" "land" "lor" "lxor"; `number_class` is 'i' (signed), 'u' (unsigned) or 'f'
/// (floating).
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

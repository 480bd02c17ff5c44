//! Collectives and requests, for C.

use evenkeel_engine::collective::call::{Call, Combine, Kind};
use evenkeel_engine::communicator::node::{Comm, Revoked};
use evenkeel_engine::deferral::fast_path;
use evenkeel_engine::nonblocking::request::{self, Request};
use evenkeel_engine::reduction::kernels;
use std::ffi::{CStr, c_char, c_int};

/// `EK_REVOKED`.
const REVOKED: c_int = 125;

/// `EK_LOST_MEMBER`.
const LOST_MEMBER: c_int = 124;

fn ended(lost_member: bool) -> c_int {
    if lost_member { LOST_MEMBER } else { REVOKED }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_takes(
    comm: *const Comm,
    kind: u32,
    bytes: usize,
    elem_bytes: usize,
    combine: Option<Combine>,
    nonblocking: c_int,
) -> c_int {
    let Some(kind) = Kind::from_u32(kind) else { return 0 };
    // SAFETY: an attached communicator.
    unsafe { &*comm }.takes(kind, bytes, elem_bytes, combine, nonblocking != 0).is_some() as c_int
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_run(comm: *const Comm, call: *const Call) -> c_int {
    // SAFETY: an attached communicator, and a call as the interface describes it.
    let (comm, call) = unsafe { (&*comm, &*call) };
    comm.run(call).map_or_else(|Revoked| ended(comm.has_failed()), |()| 0)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_barrier(comm: *const Comm, may_defer: c_int) -> c_int {
    // SAFETY: an attached communicator.
    let comm = unsafe { &*comm };
    match comm.barrier(may_defer != 0) {
        Ok(carried_out) => !carried_out as c_int,
        Err(Revoked) => ended(comm.has_failed()),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_barrier_again(comm: *const Comm) -> c_int {
    // SAFETY: by the interface.
    unsafe { fast_path::barrier(comm) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_start(comm: *const Comm, call: *const Call) -> *mut Request {
    // SAFETY: an attached communicator, and a call as the interface describes it.
    unsafe { request::start(&*comm, &*call) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_done(request: *mut Request) -> c_int {
    // SAFETY: from `ek_start`, not freed.
    unsafe { request::is_done(request) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_request_free(request: *mut Request) -> c_int {
    // SAFETY: from `ek_start`, complete, freed once.
    unsafe {
        let lost_member = request::has_failed(request);
        request::free(request).map_or_else(|Revoked| ended(lost_member), |()| 0)
    }
}

#[unsafe(no_mangle)]
extern "C" fn ek_pending() -> c_int {
    request::pending() as c_int
}

#[unsafe(no_mangle)]
extern "C" fn ek_progress() {
    if request::pending() > 0 {
        request::progress_all();
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ek_builtin_combine(
    op: *const c_char,
    class: c_char,
    elem_bytes: usize,
) -> Option<Combine> {
    // SAFETY: a terminated string.
    let op = unsafe { CStr::from_ptr(op) }.to_str().ok()?;
    kernels::builtin(op, class as u8 as char, elem_bytes)
}

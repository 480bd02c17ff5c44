//! Nonblocking collectives.

use crate::codes::{EK_DECLINED, EK_DONE, code_of_end};
use evenkeel_engine::collective::call::Call;
use evenkeel_engine::comm::part::Revoked;
use evenkeel_engine::communicator::Communicator;
use evenkeel_engine::dispatch::Outcome;
use evenkeel_engine::nonblocking::request::{self, Request};
use evenkeel_engine::process::Process;
use std::ffi::c_int;

/// Starts a nonblocking collective. Returns EK_DONE and stores the request in `*started`, or returns
/// EK_DECLINED as `ek_run` does. The call is copied; its spans and buffers must live until the request is
/// complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_start(
    comm: *const Communicator,
    call: *mut Call,
    started: *mut *mut Request,
) -> c_int {
    // SAFETY: an attached communicator, a call as `Call` describes it, and a place for the request, by the
    // interface.
    unsafe {
        match Process::current().start(&*comm, call) {
            Outcome::Done(request) => {
                started.write(request);
                EK_DONE
            }
            Outcome::Declined => EK_DECLINED,
        }
    }
}

/// Makes progress on a request. Returns true when it is complete.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_request_test(request: *mut Request) -> bool {
    // SAFETY: returned by `ek_start` and not freed, by the interface.
    unsafe { Process::current().requests.is_done(request) }
}

/// Returns whether a request is complete, and makes no progress: `ek_requests_progress` does, for all.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_request_is_complete(request: *mut Request) -> bool {
    // SAFETY: returned by `ek_start` and not freed, by the interface.
    unsafe { request::is_complete(request) }
}

/// Notes that the program waits for a request, or does not any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_request_set_awaited(request: *mut Request, is_awaited: bool) {
    // SAFETY: returned by `ek_start` and not freed, by the interface.
    unsafe { request::set_awaited(request, is_awaited) }
}

/// Frees a complete request. Returns EK_DONE, or EK_REVOKED or EK_LOST_MEMBER if it ended without a result.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_request_free(request: *mut Request) -> c_int {
    // SAFETY: returned by `ek_start`, complete and freed once, by the interface.
    unsafe {
        let lost_member = request::has_failed(request);
        match request::free(request) {
            Ok(()) => EK_DONE,
            Err(Revoked) => code_of_end(lost_member),
        }
    }
}

/// How many requests of this process are not complete.
#[unsafe(no_mangle)]
pub extern "C" fn ek_requests_incomplete() -> usize {
    Process::get().map_or(0, |process| process.requests.pending())
}

/// Makes progress on all requests.
#[unsafe(no_mangle)]
pub extern "C" fn ek_requests_progress() {
    if let Some(process) = Process::get().filter(|process| process.requests.pending() > 0) {
        process.requests.progress();
    }
}

//! The kernel's part in an eventcount: futex for sleeping and waking, membarrier for fencing other processes.
//!
//! May use: libc. Must never: allocate, or fail in a way that its callers would have to handle: every
//! wait has a timeout, and may return early.

use crate::eventcount::Futex;
use crate::layout::EVENTCOUNT_AT;
use crate::memory::Mapped;
use crate::system_call::system_call;
use std::ptr::from_ref;

const GLOBAL_EXPEDITED: usize = 1 << 1;
const REGISTER_GLOBAL_EXPEDITED: usize = 1 << 2;

/// Asks the kernel to let other processes fence this one; false where it cannot. Every process must have
/// asked before [`Fencing::Sleeper`](crate::eventcount::Fencing::Sleeper) is used.
pub fn register() -> bool {
    // SAFETY: no memory is passed.
    unsafe { system_call(libc::SYS_membarrier, [REGISTER_GLOBAL_EXPEDITED, 0, 0, 0, 0, 0]) == 0 }
}

/// The time so many nanoseconds from now, as bitset waits take it. None where a sandbox refuses the call.
fn from_now(timeout_ns: u64) -> Option<libc::timespec> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // Not by the C library's function, which front ends interpose.
    // SAFETY: the clock exists, and the time may be written.
    let code = unsafe {
        let (clock, place) = (libc::CLOCK_MONOTONIC as usize, std::ptr::from_mut(&mut time) as usize);
        system_call(libc::SYS_clock_gettime, [clock, place, 0, 0, 0, 0])
    };
    if code != 0 {
        return None;
    }
    let ns = timeout_ns.saturating_add(time.tv_nsec as u64);
    time.tv_sec = time.tv_sec.saturating_add((ns / 1_000_000_000) as libc::time_t);
    time.tv_nsec = (ns % 1_000_000_000) as _;
    Some(time)
}

impl Futex for Mapped {
    fn wait(&self, seen: u64, timeout_ns: u64) {
        let timeout = libc::timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as libc::time_t,
            tv_nsec: (timeout_ns % 1_000_000_000) as _,
        };
        let word = self.pointer(EVENTCOUNT_AT);
        // SAFETY: the eventcount's word is mapped and four-byte aligned; its low half is what the kernel
        // compares (x86-64 and aarch64 Linux are little-endian). Returning early is allowed.
        unsafe {
            let timeout = from_ref(&timeout) as usize;
            let wait = libc::FUTEX_WAIT as usize;
            system_call(libc::SYS_futex, [word as usize, wait, seen as u32 as usize, timeout, 0, 0])
        };
    }

    fn wake_all(&self) {
        let word = self.pointer(EVENTCOUNT_AT);
        // SAFETY: as above.
        unsafe {
            let wake = libc::FUTEX_WAKE as usize;
            system_call(libc::SYS_futex, [word as usize, wake, i32::MAX as usize, 0, 0, 0])
        };
    }

    fn wait_as(&self, bits: u32, seen: u64, timeout_ns: u64) {
        let Some(until) = from_now(timeout_ns) else { return self.wait(seen, timeout_ns) };
        let word = self.pointer(EVENTCOUNT_AT);
        // SAFETY: as above.
        unsafe {
            let (wait, until) = (libc::FUTEX_WAIT_BITSET as usize, from_ref(&until) as usize);
            let arguments = [word as usize, wait, seen as u32 as usize, until, 0, bits as usize];
            system_call(libc::SYS_futex, arguments)
        };
    }

    fn wake(&self, most: u32, bits: u32) {
        let word = self.pointer(EVENTCOUNT_AT);
        // SAFETY: as above.
        unsafe {
            let wake = libc::FUTEX_WAKE_BITSET as usize;
            let arguments = [word as usize, wake, most as usize, 0, 0, bits as usize];
            system_call(libc::SYS_futex, arguments)
        };
    }

    fn membarrier(&self) {
        // SAFETY: no memory is passed. Registration has succeeded, so this cannot fail.
        unsafe { system_call(libc::SYS_membarrier, [GLOBAL_EXPEDITED, 0, 0, 0, 0, 0]) };
    }
}

//! What a long wait owes to others: progress of the host library, and a look at who is still alive.

use std::sync::atomic::{AtomicPtr, Ordering};

/// The shim's function that moves the host library on, or null.
static HOST: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Sets the function that waits call now and then, so that the host's own messages go on.
pub fn set_host_progress(progress: extern "C" fn()) {
    HOST.store(progress as *mut (), Ordering::Release);
}

/// What a long wait owes to others: progress of the host library, and a look at who is still alive.
pub struct HostWatch {
    next_host_ns: u64,
    host_step_ns: u64,
    next_check_ns: u64,
    patience_ns: u64,
}

const FIRST_HOST_NS: u64 = 100_000;
const LONGEST_HOST_STEP_NS: u64 = 8_000_000;
const SHORTEST_NAP_NS: u64 = 4_000_000;
const NAP_BESIDE_OTHERS_NS: u64 = 500_000;

impl HostWatch {
    pub fn new(patience_ns: u64) -> HostWatch {
        HostWatch {
            next_host_ns: FIRST_HOST_NS,
            host_step_ns: FIRST_HOST_NS,
            next_check_ns: patience_ns,
            patience_ns,
        }
    }

    /// Moves the host on when that is due; true when it is time to look who is alive.
    pub fn due(&mut self, waited_ns: u64) -> bool {
        if waited_ns >= self.next_host_ns {
            let host = HOST.load(Ordering::Acquire);
            if !host.is_null() {
                // SAFETY: only ever set from a function of this type.
                let progress: extern "C" fn() = unsafe { std::mem::transmute(host) };
                progress();
            }
            // Twice as seldom each time: a message stuck behind a long wait is delayed by a fraction of that
            // wait.
            self.host_step_ns = (self.host_step_ns * 2).min(LONGEST_HOST_STEP_NS);
            self.next_host_ns = waited_ns + self.host_step_ns;
        }
        if waited_ns >= self.next_check_ns {
            self.next_check_ns = waited_ns + self.patience_ns;
            return true;
        }
        false
    }

    /// How long to sleep at most: waking up costs the processor as much as the call itself. But what moves
    /// nonblocking operations on rings the bell of another block: with such ones under way nobody sleeps
    /// long.
    pub fn nap_ns(&self, nonblocking_under_way: bool) -> u64 {
        if nonblocking_under_way { NAP_BESIDE_OTHERS_NS } else { self.host_step_ns.max(SHORTEST_NAP_NS) }
    }
}

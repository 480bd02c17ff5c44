//! The host library as waits see it: it must be called now and then, or its own messages make no progress.

use super::chores::LibraryActivity;
use crate::clock::Clock;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Lets the host library make progress.
pub type Progress = extern "C" fn();

/// Tells whether the host library may have something to do: 0 no, 1 the program has used it not long ago,
/// 2 there are windows. Called once for each long wait.
pub type Activity = extern "C" fn() -> u32;

/// The functions of the shim that concern the host library.
pub struct HostLibrary {
    progress: AtomicPtr<()>,
    activity: AtomicPtr<()>,
    /// About how long a call takes that finds nothing.
    usual_ns: AtomicU64,
}

impl Default for HostLibrary {
    fn default() -> HostLibrary {
        let null = || AtomicPtr::new(std::ptr::null_mut());
        HostLibrary { progress: null(), activity: null(), usual_ns: AtomicU64::new(FIRST_USUAL_NS) }
    }
}

const FIRST_USUAL_NS: u64 = 1_000;

/// Times of calls differ by this much without a reason.
const TOLERANCE_NS: u64 = 200;

impl HostLibrary {
    /// Sets the functions that waits call.
    pub fn set(&self, progress: Progress, activity: Activity) {
        self.activity.store(activity as *mut (), Ordering::Release);
        self.progress.store(progress as *mut (), Ordering::Release);
    }

    /// Returns whether the library may have something to do.
    pub(crate) fn activity(&self) -> LibraryActivity {
        let activity = self.activity.load(Ordering::Acquire);
        if activity.is_null() {
            return LibraryActivity::Idle;
        }
        // SAFETY: only ever set from a function of this type.
        let activity: Activity = unsafe { std::mem::transmute(activity) };
        match activity() {
            0 => LibraryActivity::Idle,
            1 => LibraryActivity::Recent,
            _ => LibraryActivity::Windows,
        }
    }

    /// Calls the library until it seems to have taken in what has come.
    pub fn catch_up(&self, clock: Clock) {
        const MOST_LOOKS: u32 = 1000;
        const EMPTY_LOOKS: u32 = 4;
        let mut empty = 0;
        for _ in 0..MOST_LOOKS {
            empty = if self.look(clock) { 0 } else { empty + 1 };
            if empty == EMPTY_LOOKS {
                break;
            }
        }
    }

    /// Lets the library make progress. Returns whether that seems to have found something: it took longer
    /// than usual. The library itself does not tell.
    pub(crate) fn look(&self, clock: Clock) -> bool {
        let progress = self.progress.load(Ordering::Acquire);
        if progress.is_null() {
            return false;
        }
        // SAFETY: only ever set from a function of this type.
        let progress: Progress = unsafe { std::mem::transmute(progress) };
        let began = clock.now();
        progress();
        let took_ns = clock.ns_since(began);
        let usual_ns = self.usual_ns.load(Ordering::Relaxed);
        self.usual_ns.store(learn(usual_ns, took_ns), Ordering::Relaxed);
        is_unusual(usual_ns, took_ns)
    }
}

fn is_unusual(usual_ns: u64, took_ns: u64) -> bool {
    took_ns > 2 * usual_ns + TOLERANCE_NS
}

/// What is usual after a call that took so long. It falls fast and rises slowly: where every call is slow,
/// for example because other processes use the cache between two of them, that becomes usual.
fn learn(usual_ns: u64, took_ns: u64) -> u64 {
    if took_ns < usual_ns {
        (usual_ns + took_ns) / 2
    } else {
        usual_ns + (took_ns - usual_ns).min(4 * usual_ns) / 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_takes_long_has_found_something() {
        let usual_ns = (0..20).fold(FIRST_USUAL_NS, |usual, _| learn(usual, 150));
        assert!(usual_ns < 160 && !is_unusual(usual_ns, 400) && is_unusual(usual_ns, 800));
        // One call in which the process was descheduled changes little.
        assert!(!is_unusual(learn(usual_ns, 4_000_000), 400) && is_unusual(learn(usual_ns, 4_000_000), 800));
    }

    #[test]
    fn what_every_call_takes_becomes_usual() {
        let mut usual_ns = 150;
        let unusual = (0..1000).take_while(|_| {
            let is_long = is_unusual(usual_ns, 1_500);
            usual_ns = learn(usual_ns, 1_500);
            is_long
        });
        assert!((5..20).contains(&unusual.count()));
    }

    #[test]
    fn half_of_the_calls_may_find_something_for_ever() {
        let mut usual_ns = 150;
        for _ in 0..1000 {
            usual_ns = learn(usual_ns, 150);
            assert!(is_unusual(usual_ns, 2_000));
            usual_ns = learn(usual_ns, 2_000);
        }
    }
}

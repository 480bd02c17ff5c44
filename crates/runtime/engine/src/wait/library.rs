//! The host library as waits see it: it must be called now and then, or its own messages make no progress.

use super::chores::LibraryActivity;
use super::usual::UsualTime;
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
        let mut usual = UsualTime(self.usual_ns.load(Ordering::Relaxed));
        let is_unusual = usual.note(took_ns, TOLERANCE_NS);
        self.usual_ns.store(usual.0, Ordering::Relaxed);
        is_unusual
    }
}

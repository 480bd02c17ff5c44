//! The reasons for which pending barriers were completed, counted for the report.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};

/// A reason for completing pending barriers: the name of a function or of a system call, as a string that
/// lives as long as the process.
#[derive(Clone, Copy)]
pub struct Observer {
    name: *const c_char,
    is_system_call: bool,
}

impl Observer {
    /// The window is full.
    pub const WINDOW: Observer = Observer::of(c"window full");
    /// A barrier of an overlapping communicator.
    pub const OTHER_COMMUNICATOR: Observer = Observer::of(c"a barrier among others");
    /// A message while barriers of several communicators are pending.
    pub const MESSAGE: Observer = Observer::of(c"a message among others");
    /// A collective operation.
    pub const COLLECTIVE: Observer = Observer::of(c"a collective");

    const fn of(name: &'static CStr) -> Observer {
        Observer { name: name.as_ptr(), is_system_call: false }
    }

    /// An observer that the front end names.
    ///
    /// # Safety
    /// `name` must be a terminated string that is never freed.
    pub unsafe fn named(name: *const c_char, is_system_call: bool) -> Observer {
        Observer { name, is_system_call }
    }

    /// Returns whether it is a system call that was caught.
    pub fn is_system_call(self) -> bool {
        self.is_system_call
    }
}

/// How many different observers are counted separately.
const OBSERVERS: usize = 64;

/// How often each observer has completed pending barriers.
pub struct Observations(UnsafeCell<[(*const c_char, bool, u64); OBSERVERS]>);

// SAFETY: only the one MPI thread of a program that defers uses it.
unsafe impl Sync for Observations {}
// SAFETY: the pointers are to strings that live as long as the process.
unsafe impl Send for Observations {}

impl Default for Observations {
    fn default() -> Observations {
        Observations(UnsafeCell::new([(std::ptr::null(), false, 0); OBSERVERS]))
    }
}

impl Observations {
    /// Counts an observation. The last entry is shared by all observers that do not fit the table.
    pub fn count(&self, observer: Observer) {
        // SAFETY: only one thread uses it.
        let all = unsafe { &mut *self.0.get() };
        let is_its = |name: *const c_char| name.is_null() || std::ptr::eq(name, observer.name);
        let at = all.iter().position(|(name, ..)| is_its(*name)).unwrap_or(OBSERVERS - 1);
        all[at] = (observer.name, observer.is_system_call, all[at].2 + 1);
    }

    /// The names of the observers, and how often each has completed pending barriers. System calls are
    /// written as `write()`.
    pub fn counts(&self) -> Vec<(String, u64)> {
        // SAFETY: only one thread uses it.
        let all = unsafe { &*self.0.get() };
        let used = all.iter().take_while(|(name, ..)| !name.is_null());
        used.map(|&(name, is_system_call, count)| {
            // SAFETY: a terminated string, by the promise of `named`.
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            (if is_system_call { format!("{name}()") } else { name.into_owned() }, count)
        })
        .collect()
    }
}

//! What completed pending barriers, counted for the report.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char};

/// What completed pending barriers: the name of a function or of a system call, which lives as long as
/// the process.
#[derive(Clone, Copy)]
pub struct Observer {
    name: *const c_char,
    is_system_call: bool,
}

impl Observer {
    /// This rank is as far ahead as it may be.
    pub const WINDOW: Observer = Observer::of(c"window full");
    /// A barrier of a communicator that overlaps.
    pub const OTHER_COMMUNICATOR: Observer = Observer::of(c"a barrier among others");
    /// A message while barriers of several communicators are pending.
    pub const MESSAGE: Observer = Observer::of(c"a message among others");
    /// A collective operation.
    pub const COLLECTIVE: Observer = Observer::of(c"a collective");

    const fn of(name: &'static CStr) -> Observer {
        Observer { name: name.as_ptr(), is_system_call: false }
    }

    /// One of the front end's.
    ///
    /// # Safety
    /// `name` must be a terminated string that is never freed.
    pub unsafe fn named(name: *const c_char, is_system_call: bool) -> Observer {
        Observer { name, is_system_call }
    }
}

/// Different observers that are counted apart.
const OBSERVERS: usize = 64;

/// How often each observer has completed pending barriers.
pub struct Observations(UnsafeCell<[(*const c_char, bool, u64); OBSERVERS]>);

// SAFETY: reached by the one thread of a program that defers.
unsafe impl Sync for Observations {}
// SAFETY: the pointers are to strings that live as long as the process.
unsafe impl Send for Observations {}

impl Default for Observations {
    fn default() -> Observations {
        Observations(UnsafeCell::new([(std::ptr::null(), false, 0); OBSERVERS]))
    }
}

impl Observations {
    /// Counts an observation; the last entry stands for all observers that found no room.
    pub fn count(&self, observer: Observer) {
        // SAFETY: one thread.
        let all = unsafe { &mut *self.0.get() };
        let is_its = |name: *const c_char| name.is_null() || std::ptr::eq(name, observer.name);
        let at = all.iter().position(|(name, ..)| is_its(*name)).unwrap_or(OBSERVERS - 1);
        all[at] = (observer.name, observer.is_system_call, all[at].2 + 1);
    }

    /// Names of the observers, and how often each has completed pending barriers; system calls as `write()`.
    pub fn counts(&self) -> Vec<(String, u64)> {
        // SAFETY: one thread.
        let all = unsafe { &*self.0.get() };
        let used = all.iter().take_while(|(name, ..)| !name.is_null());
        used.map(|&(name, is_system_call, count)| {
            // SAFETY: a string, by the promise of `named`.
            let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
            (if is_system_call { format!("{name}()") } else { name.into_owned() }, count)
        })
        .collect()
    }
}

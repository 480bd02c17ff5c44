//! On which core a process goes on.
//!
//! The kernel tends to wake all processes of a job on the core of the process that wakes them. Ranks that
//! keep their cores while they wait would then take turns on one core for milliseconds. So each is woken on a
//! core of its own, and may be moved from there at once: what a program says about its cores stays as it is.

use std::mem::{MaybeUninit, size_of};

/// The cores that this process may use, by their numbers.
pub(crate) fn usable_cores() -> Vec<usize> {
    let Some(set) = affinity(0) else { return Vec::new() };
    // SAFETY: the index is within the set.
    (0..libc::CPU_SETSIZE as usize).filter(|core| unsafe { libc::CPU_ISSET(*core, &set) }).collect()
}

/// Lets a thread that stands still go on, on this core if it may use it.
///
/// A thread that it creates before its own cores are restored, microseconds later, keeps to this core.
pub(super) fn go_on_at(thread: i32, core: usize, go_on: impl FnOnce()) {
    // SAFETY: the index is checked.
    let may_use =
        |set: &libc::cpu_set_t| core < libc::CPU_SETSIZE as usize && unsafe { libc::CPU_ISSET(core, set) };
    let Some(cores) = affinity(thread).filter(may_use) else { return go_on() };
    // SAFETY: zeroes are an empty set; the index is checked.
    let one = unsafe {
        let mut one: libc::cpu_set_t = MaybeUninit::zeroed().assume_init();
        libc::CPU_SET(core, &mut one);
        one
    };
    let is_held = set_affinity(thread, &one);
    go_on();
    if is_held {
        set_affinity(thread, &cores);
    }
}

fn affinity(thread: i32) -> Option<libc::cpu_set_t> {
    // SAFETY: the kernel writes at most the size that it is told.
    unsafe {
        let mut set: libc::cpu_set_t = MaybeUninit::zeroed().assume_init();
        (libc::sched_getaffinity(thread, size_of::<libc::cpu_set_t>(), &raw mut set) == 0).then_some(set)
    }
}

fn set_affinity(thread: i32, set: &libc::cpu_set_t) -> bool {
    // SAFETY: the kernel only reads the set. A thread that has ended is an error, no more.
    unsafe { libc::sched_setaffinity(thread, size_of::<libc::cpu_set_t>(), set) == 0 }
}

//! `SIGPIPE` as an error: a program that evenkeel runs in must not die because a reader has gone.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// Runs `write` without `SIGPIPE` in this thread. A signal that `write` has caused is taken back; one that
/// was pending before stays.
pub(crate) fn without_sigpipe<T>(write: impl FnOnce() -> T) -> T {
    let pipe = only_sigpipe();
    let mut before = MaybeUninit::uninit();
    // SAFETY: two signal sets of ours; the mask of this thread only, and it is put back below.
    let was_pending = unsafe {
        let was_pending = pending();
        libc::pthread_sigmask(libc::SIG_BLOCK, &pipe, before.as_mut_ptr());
        was_pending
    };
    let result = write();
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `before` was filled in above; nothing is written to the null pointers.
    unsafe {
        if !was_pending && pending() {
            libc::sigtimedwait(&pipe, null_mut(), &at_once);
        }
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), null_mut());
    }
    result
}

fn only_sigpipe() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call fills the set in.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGPIPE);
        set.assume_init()
    }
}

fn pending() -> bool {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call fills the set in.
    unsafe {
        libc::sigpending(set.as_mut_ptr());
        libc::sigismember(set.as_ptr(), libc::SIGPIPE) == 1
    }
}

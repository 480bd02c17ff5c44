//! How the process that starts a job, its warden and its switcher speak to each other.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::OwnedFd;

/// The descriptors of the other side.
pub(crate) struct Connections {
    pub(crate) control: OwnedFd,
    pub(crate) summary: OwnedFd,
}

/// What the process that starts the job says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// Nothing so far.
    None,
    /// The job has ended.
    JobHasEnded,
    /// It has ended, or become another program.
    Closed,
}

/// What it has said. Does not wait.
pub(crate) fn word(control: &OwnedFd) -> Word {
    let mut fds = [PollFd::new(control, PollFlags::IN)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    if !poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0) {
        return Word::None;
    }
    match rustix::io::read(control, &mut [0; 1]) {
        Ok(1) => Word::JobHasEnded,
        Ok(_) => Word::Closed,
        Err(_) => Word::None,
    }
}

/// The size of what the switcher writes for each process that it finds, bytes.
pub(crate) const KNOWN_BYTES: usize = 12;

/// Ends a forked process. What the parent has buffered is not written again.
pub(crate) fn exit(code: i32) -> ! {
    // SAFETY: it does not return, and needs nothing.
    unsafe { libc::_exit(code) }
}

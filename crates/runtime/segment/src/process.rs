//! What the kernel knows of another process: whether it still lives, and whether it is running.
//!
//! A process is watched through a descriptor (pidfd), which stays bound to it: its number may be given to
//! another process later, the descriptor not.
//!
//! May use: libc, `/proc`. Must never: take a process for dead because it is slow.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A process that is watched for its end.
pub struct WatchedProcess {
    pid: u32,
    descriptor: Option<OwnedFd>,
}

impl WatchedProcess {
    /// Starts to watch; if the process has ended already, [`WatchedProcess::is_dead`] is true.
    pub fn new(pid: u32) -> WatchedProcess {
        // SAFETY: no memory is passed; the descriptor, if any, belongs to nothing else.
        let descriptor = unsafe {
            let fd = libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0);
            (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as i32))
        };
        WatchedProcess { pid, descriptor }
    }

    /// A descriptor that is readable once the process has ended; None where the kernel gave none.
    pub fn descriptor(&self) -> Option<RawFd> {
        self.descriptor.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Whether the process has ended. A zombie has.
    pub fn is_dead(&self) -> bool {
        match &self.descriptor {
            Some(fd) => {
                let mut poll = libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 };
                // SAFETY: one valid entry, no waiting.
                unsafe { libc::poll(&mut poll, 1, 0) == 1 }
            }
            None => match std::fs::read_to_string(format!("/proc/{}/stat", self.pid)) {
                // The state stands after the command's name, which may itself hold parentheses.
                Ok(stat) => stat
                    .rsplit(')')
                    .next()
                    .is_some_and(|s| matches!(s.trim_start().chars().next(), Some('Z' | 'X'))),
                // Without permission, or without free descriptors, nothing is known of it.
                Err(error) => {
                    error.kind() == std::io::ErrorKind::NotFound || error.raw_os_error() == Some(libc::ESRCH)
                }
            },
        }
    }
}

/// Whether a process's first thread is running or ready to run; true if that cannot be found out.
/// Allocates nothing.
pub fn is_runnable(pid: u32) -> bool {
    let mut text = [0u8; 128];
    let path = stat_path(pid);
    // SAFETY: a terminated string; a buffer of the stated length; the descriptor belongs to nothing else
    // until it is closed.
    let read = unsafe {
        let fd = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return true;
        }
        let read = libc::read(fd, text.as_mut_ptr().cast(), text.len());
        libc::close(fd);
        read
    };
    let text = &text[..usize::try_from(read).unwrap_or(0)];
    // The state stands after the command's name, which may itself hold parentheses.
    match text.iter().rposition(|&c| c == b')').and_then(|at| text.get(at + 2)) {
        Some(state) => *state == b'R',
        None => true,
    }
}

/// `/proc/<pid>/stat`, terminated. What follows the first zero byte means nothing.
fn stat_path(pid: u32) -> [u8; 22] {
    let mut path = *b"/proc/0000000000/stat\0";
    let mut rest = pid;
    for digit in path[6..16].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // The kernel takes no leading zeros: what follows them is moved to where they stand.
    let zeros = path[6..15].iter().take_while(|&&d| d == b'0').count();
    path.copy_within(6 + zeros.., 6);
    path
}

#[cfg(test)]
mod tests {
    use super::{WatchedProcess, is_runnable};

    #[test]
    fn a_busy_process_is_runnable_and_a_sleeping_or_stopped_one_is_not() {
        assert!(is_runnable(u32::MAX), "unknown: taken to run");
        let mut asleep = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut busy = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let settles = |pid: u32, runs: bool| {
            (0..2000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                is_runnable(pid) == runs
            })
        };
        assert!(settles(asleep.id(), false) && settles(busy.id(), true));
        // SAFETY: a process of this test's.
        unsafe { libc::kill(busy.id() as i32, libc::SIGSTOP) };
        assert!(settles(busy.id(), false));
        for child in [&mut asleep, &mut busy] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn a_killed_process_is_dead_and_this_one_is_not() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let watched = WatchedProcess::new(child.id());
        assert!(!watched.is_dead());
        child.kill().unwrap();
        while !watched.is_dead() {
            // The kill is on its way. A zombie counts as dead; nothing reaps it here.
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!WatchedProcess::new(std::process::id()).is_dead());
    }
}

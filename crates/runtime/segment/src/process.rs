//! Whether another process still lives, asked of the kernel by a descriptor that cannot be reused for a
//! stranger.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// A process to watch.
pub struct WatchedProcess {
    pub pid: u32,
    descriptor: Option<OwnedFd>,
}

impl WatchedProcess {
    /// Starts to watch; if the process is gone already, [`WatchedProcess::is_dead`] says so.
    pub fn new(pid: u32) -> WatchedProcess {
        // SAFETY: no memory is passed; the descriptor, if any, is ours.
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

    /// Whether the process has ended (a zombie has).
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
                Err(_) => true,
            },
        }
    }
}

/// Whether a process's first thread is running or ready to run; true if that cannot be found out.
/// Allocates nothing.
pub fn is_runnable(pid: u32) -> bool {
    let mut path = *b"/proc/0000000000/stat\0";
    let mut rest = pid;
    for digit in path[6..16].iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // The kernel takes no leading zeros: the number's digits follow the slash, and what is before them is
    // cut off below.
    let first = path[6..15].iter().take_while(|&&d| d == b'0').count();
    path.copy_within(6 + first.., 6);
    let mut text = [0u8; 128];
    // SAFETY: a terminated string; a buffer of the stated length; the descriptor is ours until it is closed.
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

#[cfg(test)]
mod tests {
    use super::{WatchedProcess, is_runnable};

    #[test]
    fn tells_the_running_from_the_sleeping() {
        assert!(is_runnable(u32::MAX), "not known: taken to run");
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
    fn tells_the_living_from_the_dead() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let watched = WatchedProcess::new(child.id());
        assert!(!watched.is_dead());
        child.kill().unwrap();
        while !watched.is_dead() {
            // the kill is on its way; a zombie counts as dead, nothing reaps it here
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(WatchedProcess::new(std::process::id()).is_dead() == false);
    }
}

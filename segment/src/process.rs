//! Whether another process still lives, asked of the kernel by a descriptor that cannot be reused for a stranger.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A process to watch.
pub struct Watched {
    pub pid: u32,
    descriptor: Option<OwnedFd>,
}

impl Watched {
    /// Starts to watch; if the process is gone already, [`Watched::is_dead`] says so.
    pub fn new(pid: u32) -> Watched {
        // SAFETY: no memory is passed; the descriptor, if any, is ours.
        let descriptor = unsafe {
            let fd = libc::syscall(libc::SYS_pidfd_open, pid as libc::pid_t, 0);
            (fd >= 0).then(|| OwnedFd::from_raw_fd(fd as i32))
        };
        Watched { pid, descriptor }
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
                Ok(stat) => stat.rsplit(')').next().is_some_and(|s| matches!(s.trim_start().chars().next(), Some('Z' | 'X'))),
                Err(_) => true,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Watched;

    #[test]
    fn tells_the_living_from_the_dead() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let watched = Watched::new(child.id());
        assert!(!watched.is_dead());
        child.kill().unwrap();
        while !watched.is_dead() {
            std::thread::yield_now(); // the kill is on its way; a zombie counts as dead, nothing reaps it here
        }
        child.wait().unwrap();
        assert!(Watched::new(std::process::id()).is_dead() == false);
    }
}

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

/// What the scheduler does with the first thread of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// It is running or ready to run; true if that cannot be found out.
    pub is_runnable: bool,
    /// It has been stopped, by a signal or a debugger.
    pub is_stopped: bool,
    /// The core on which it runs or has run last, if that is known.
    pub core: Option<usize>,
}

/// Asks what the scheduler does with the first thread of a process. Allocates nothing.
pub fn scheduling(pid: u32) -> Scheduling {
    const UNKNOWN: Scheduling = Scheduling { is_runnable: true, is_stopped: false, core: None };
    /// The core is the 39th field of the line, the state the third.
    const CORE_AFTER_STATE: usize = 39 - 3;
    let mut text = [0u8; 1024];
    let path = stat_path(pid);
    // SAFETY: a terminated string; a buffer of the stated length; the descriptor belongs to nothing else
    // until it is closed.
    let read = unsafe {
        let fd = libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return UNKNOWN;
        }
        let read = libc::read(fd, text.as_mut_ptr().cast(), text.len());
        libc::close(fd);
        read
    };
    let text = &text[..usize::try_from(read).unwrap_or(0)];
    // The state stands after the command's name, which may itself hold parentheses.
    let Some(name_ends) = text.iter().rposition(|&c| c == b')') else { return UNKNOWN };
    let mut fields = text[name_ends + 1..].split(|&c| c == b' ').skip(1);
    let state = fields.next();
    let is_runnable = state.is_none_or(|state| state == b"R");
    let is_stopped = state.is_some_and(|state| state == b"T" || state == b"t");
    let core = fields.nth(CORE_AFTER_STATE - 1).and_then(|core| std::str::from_utf8(core).ok()?.parse().ok());
    Scheduling { is_runnable, is_stopped, core }
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
    use super::{Scheduling, WatchedProcess, scheduling};

    #[test]
    fn a_busy_process_is_runnable_and_a_sleeping_or_stopped_one_is_not() {
        let unknown = Scheduling { is_runnable: true, is_stopped: false, core: None };
        assert_eq!(scheduling(u32::MAX), unknown, "taken to run");
        let mut asleep = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut busy = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let settles = |pid: u32, runs: bool| {
            (0..2000).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(1));
                scheduling(pid).is_runnable == runs
            })
        };
        assert!(settles(asleep.id(), false) && settles(busy.id(), true));
        // SAFETY: a process of this test's.
        unsafe { libc::kill(busy.id() as i32, libc::SIGSTOP) };
        assert!(settles(busy.id(), false));
        assert!(scheduling(busy.id()).is_stopped && !scheduling(asleep.id()).is_stopped);
        for child in [&mut asleep, &mut busy] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    #[test]
    fn the_core_of_a_process_is_where_it_runs() {
        // SAFETY: the first asks for a number. Sets that are all zero are valid, and the sizes are their own.
        let here = unsafe {
            let core = libc::sched_getcpu() as usize;
            let mut only: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(core, &mut only);
            let mut all: libc::cpu_set_t = std::mem::zeroed();
            assert_eq!(libc::sched_getaffinity(0, size_of_val(&all), &mut all), 0);
            assert_eq!(libc::sched_setaffinity(0, size_of_val(&only), &only), 0);
            let child = std::process::Command::new("sleep").arg("60").spawn();
            assert_eq!(libc::sched_setaffinity(0, size_of_val(&all), &all), 0);
            (core, child.unwrap())
        };
        let (core, mut child) = here;
        assert_eq!(scheduling(child.id()).core, Some(core), "the child has inherited the one core");
        child.kill().unwrap();
        child.wait().unwrap();
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

//! A process by its number and the time at which it began, so that it is never taken for a later one.

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde::{Deserialize, Serialize};
use std::os::fd::OwnedFd;

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessId {
    /// Its number.
    pub pid: i32,
    /// When it began, in clock ticks since the machine did.
    pub started: u64,
}

/// The fields of /proc/PID/stat from the third on: the state is the first.
pub(crate) fn stat(path: &str) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(path).ok()?;
    // The second field is the program's name, which may contain blanks and parentheses.
    Some(text.rsplit_once(") ")?.1.split(' ').map(str::to_string).collect())
}

/// Where its beginning is among these.
const STARTED: usize = 22 - 3;

impl ProcessId {
    /// The process that has this number now.
    pub fn of(pid: i32) -> Option<ProcessId> {
        let started = stat(&format!("/proc/{pid}/stat"))?.get(STARTED)?.parse().ok()?;
        Some(ProcessId { pid, started })
    }

    /// This process.
    pub fn own() -> Option<ProcessId> {
        ProcessId::of(std::process::id() as i32)
    }

    /// Whether it is still there and has not ended.
    pub fn is_alive(self) -> bool {
        !matches!(self.state(), None | Some('Z' | 'X'))
    }

    /// Whether a signal has stopped it.
    pub fn is_stopped(self) -> bool {
        self.state() == Some('T')
    }

    fn state(self) -> Option<char> {
        let stat = stat(&format!("/proc/{}/stat", self.pid))?;
        let is_same = stat.get(STARTED).and_then(|started| started.parse().ok()) == Some(self.started);
        stat.first().filter(|_| is_same)?.chars().next()
    }

    /// Readable when it has ended. None: it has ended already.
    pub(crate) fn open(self) -> Option<OwnedFd> {
        let fd = pidfd_open(Pid::from_raw(self.pid)?, PidfdFlags::empty()).ok()?;
        // Checked afterwards: from here on the number cannot mean another process.
        self.is_alive().then_some(fd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_process_with_the_same_number_is_another_one() {
        let own = ProcessId::own().unwrap();
        assert!(own.is_alive() && !own.is_stopped() && own.open().is_some());
        let earlier = ProcessId { started: own.started - 1, ..own };
        assert!(!earlier.is_alive() && earlier.open().is_none());
    }
}

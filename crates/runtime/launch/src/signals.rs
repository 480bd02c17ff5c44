//! Signals as events.

use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use signal_hook::consts::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGUSR1, SIGUSR2};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::Cause;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// What the supervisor and the launcher take note of. Ranks get the default actions back: `exec` resets
/// handlers.
const CAUGHT: [i32; 9] = [SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT];

/// A signal that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Its number.
    pub number: i32,
    /// Whether the kernel sent it: for the terminal's keys, and then to the whole process group.
    pub is_from_kernel: bool,
}

/// The signals of this process.
pub struct Signals {
    delivery: SignalDelivery<UnixStream, WithOrigin>,
}

impl Signals {
    /// From now on signals are events. Those that this process was told to ignore, as by `nohup`, stay
    /// ignored, here and in the ranks.
    ///
    /// # Errors
    /// If the kernel has no descriptors left.
    pub fn catch() -> io::Result<Signals> {
        Signals::catch_also(&[])
    }

    /// The same with further signals.
    ///
    /// # Errors
    /// Those of [`Signals::catch`].
    pub fn catch_also(further: &[i32]) -> io::Result<Signals> {
        let ignored = ignored(&std::fs::read_to_string("/proc/self/status").unwrap_or_default());
        let wanted = CAUGHT.iter().chain(further);
        let caught = wanted.filter(|number| **number == SIGCHLD || ignored >> (**number - 1) & 1 == 0);
        let (read, write) = UnixStream::pair()?;
        read.set_nonblocking(true)?;
        Ok(Signals { delivery: SignalDelivery::with_pipe(read, write, WithOrigin::default(), caught)? })
    }

    /// Readable when a signal has come.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }

    /// The signals that have come since the last call. Several of one number may be one.
    pub fn take(&mut self) -> Vec<Received> {
        let mut bytes = [0u8; 256];
        while self.delivery.get_read_mut().read(&mut bytes).is_ok_and(|read| read == bytes.len()) {}
        let received = |origin: signal_hook::low_level::siginfo::Origin| Received {
            number: origin.signal,
            is_from_kernel: origin.cause == Cause::Kernel,
        };
        self.delivery.pending().map(received).collect()
    }
}

/// The mask of ignored signals in /proc/self/status.
fn ignored(status: &str) -> u64 {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

/// Sends a signal to a process. Returns false if there is none, or it belongs to somebody else.
pub(crate) fn send(to: Pid, number: i32) -> bool {
    let Some(signal) = Signal::from_named_raw(number) else { return false };
    !matches!(rustix::process::kill_process(to, signal), Err(Errno::SRCH | Errno::PERM))
}

/// Sends a signal to all members of a process group at once; none that is being forked is left out.
pub(crate) fn send_to_group(group: i32, number: i32) {
    if let (Some(group), Some(signal)) = (Pid::from_raw(group), Signal::from_named_raw(number)) {
        // The group may have ended, or some of it may belong to somebody else.
        let _ = rustix::process::kill_process_group(group, signal);
    }
}

/// The name of a signal for people.
pub(crate) fn name(number: i32) -> String {
    signal_hook::low_level::signal_name(number).map_or(format!("signal {number}"), str::to_string)
}

/// Ends this process as the signal would have, so that shells see why it ended.
pub fn die_of(number: i32) {
    // If the signal has no such action, the exit code says the same.
    let _ = signal_hook::low_level::emulate_default_handler(number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read() {
        assert_eq!(ignored("Name:\tx\nSigIgn:\t0000000000001001\n"), 1 | 1 << (libc::SIGPIPE - 1));
        assert_eq!(ignored(""), 0);
    }
}

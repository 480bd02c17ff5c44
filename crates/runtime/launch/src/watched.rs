//! Runs something, looks at it from time to time, and ends all of it when it is told to.

use crate::ending::by_signal;
use crate::job::JobError;
use crate::processes::{end_all, own_children, signal_all};
use crate::signals::{self, Signals};
use crate::supervisor::become_subreaper;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, set_parent_process_death_signal, waitpid};
use std::collections::HashSet;
use std::io;
use std::time::{Duration, Instant};

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// It has ended by itself, with this exit code.
    Ended(u8),
    /// It has been ended, because [`Watch::look`] said so.
    Stopped,
}

/// Looks at what runs.
pub trait Watch {
    /// When to look next; None: never again. Must be later after a look.
    fn next_look(&self) -> Option<Instant>;
    /// Looks. Returns whether what runs is to be ended. Signals are passed on after it.
    fn look(&mut self) -> bool;
}

/// How often it is looked whether processes that were asked to end have ended.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// Runs `start` in a child process, which may become another program. Signals are passed on to it. If `watch`
/// says so, the child gets SIGTERM, what is left after `grace` too, and what is left then SIGKILL, however
/// its processes have been started. A run that ends by itself is left alone in every way.
///
/// Must be called while this process has one thread. Processes that it has started before are left alone.
///
/// # Errors
///
/// If the child could not be made.
pub fn run_watched(
    grace: Duration,
    start: impl FnOnce() -> u8,
    watch: &mut impl Watch,
) -> Result<Watched, JobError> {
    let before = own_children();
    become_subreaper()?;
    // SAFETY: this process has one thread, so the child may do whatever the parent may.
    match unsafe { libc::fork() } {
        -1 => Err(JobError::System { what: "fork", why: io::Error::last_os_error() }),
        0 => {
            // If this process is killed, the child learns of it; nothing is lost if the kernel refuses.
            let _ = set_parent_process_death_signal(Some(Signal::TERM));
            std::process::exit(i32::from(start()))
        }
        child => {
            let child = Pid::from_raw(child).expect("fork returned a process number");
            supervise(child, grace, watch, &before)
        }
    }
}

/// Passes signals on, and looks, until the child has ended or is to be ended.
fn supervise(
    child: Pid,
    grace: Duration,
    watch: &mut impl Watch,
    before: &HashSet<i32>,
) -> Result<Watched, JobError> {
    let mut signals = Signals::catch().map_err(JobError::system("signals"))?;
    loop {
        if let Some(status) = ended(child) {
            return Ok(Watched::Ended(code_of(status)));
        }
        let left = watch.next_look().map(|at| at.saturating_duration_since(Instant::now()));
        if left == Some(Duration::ZERO) && watch.look() {
            // It may have ended meanwhile; it was to be ended all the same.
            end(child, grace, before);
            return Ok(Watched::Stopped);
        }
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fds = [PollFd::from_borrowed_fd(signals.descriptor(), PollFlags::IN)];
        // An interrupted call is repeated; any other failure only makes this loop look more often.
        let _ = poll(&mut fds, left.as_ref());
        for received in signals.take() {
            if received.number != libc::SIGCHLD && !received.is_from_kernel {
                signals::send(child, received.number);
            }
            if received.number == libc::SIGTSTP {
                signals::send(rustix::process::getpid(), libc::SIGSTOP);
            }
        }
    }
}

fn ended(child: Pid) -> Option<WaitStatus> {
    waitpid(Some(child), WaitOptions::NOHANG).ok().flatten().map(|(_, status)| status)
}

/// Ends the child by SIGTERM, then all that is left, by SIGTERM and SIGKILL.
fn end(child: Pid, grace: Duration, before: &HashSet<i32>) {
    // Launchers end their ranks then, and say goodbye to daemons elsewhere.
    signals::send(child, libc::SIGTERM);
    let asked = Instant::now();
    let mut has_ended = false;
    while !has_ended && asked.elapsed() < grace {
        has_ended = ended(child).is_some();
        std::thread::sleep(LOOK_EVERY);
    }
    let asked = Instant::now();
    if signal_all(libc::SIGTERM, before) {
        while asked.elapsed() < grace / 4 && signal_all(0, before) {
            std::thread::sleep(LOOK_EVERY);
        }
    }
    end_all(before);
}

/// The child's exit code. If a signal of a person's has ended it, this process ends by the same one, so that
/// shells see why.
fn code_of(status: WaitStatus) -> u8 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code as u8,
        (None, signal) => {
            let number = signal.unwrap_or(libc::SIGKILL);
            if matches!(number, libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGKILL) {
                signals::die_of(number);
            }
            by_signal(number)
        }
    }
}

//! Runs something, looks at it from time to time, and ends all of it when it is told to.

use crate::ending::by_signal;
use crate::job::JobError;
use crate::processes::{end_all, own_children, signal_all};
use crate::signals::{self, Signals};
use crate::supervisor::become_subreaper;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, set_parent_process_death_signal, setpgid, waitpid,
};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// It has ended by itself.
    Ended {
        /// Its exit code.
        code: u8,
        /// The signal that has ended it, if it is one that people send: this process is to end by the same
        /// one when it has said what it has to say, so that shells see why.
        signal: Option<i32>,
    },
    /// It has been ended, because [`Watch::look`] said so.
    Stopped,
}

/// Looks at what runs.
pub trait Watch {
    /// When to look next; None: never again. Must be later after a look.
    fn next_look(&self) -> Option<Instant>;
    /// Looks. Returns whether what runs is to be ended. Signals are passed on after it.
    fn look(&mut self) -> bool;
    /// Whether a look may ever say so.
    fn may_end(&self) -> bool {
        true
    }
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
    let before = if watch.may_end() { own_children() } else { HashSet::new() };
    if watch.may_end() {
        become_subreaper()?;
    }
    // Batch systems and the like send signals to the whole group. In a group of its own the child gets them
    // from this process alone, and so once. On a terminal it must stay in the group that the terminal knows.
    let has_group = File::open("/dev/tty").is_err();
    // SAFETY: this process has one thread, so the child may do whatever the parent may.
    match unsafe { libc::fork() } {
        -1 => Err(JobError::System { what: "fork", why: io::Error::last_os_error() }),
        0 => {
            // If this process is killed, the child learns of it; nothing is lost if the kernel refuses.
            let _ = set_parent_process_death_signal(Some(Signal::TERM));
            if has_group {
                let _ = setpgid(None, None);
            }
            std::process::exit(i32::from(start()))
        }
        child => {
            let child = Pid::from_raw(child).expect("fork returned a process number");
            if has_group {
                // The child does the same, and either may be first.
                let _ = setpgid(Some(child), Some(child));
            }
            supervise(child, grace, watch, &before, has_group)
        }
    }
}

/// Passes signals on, and looks, until the child has ended or is to be ended.
fn supervise(
    child: Pid,
    grace: Duration,
    watch: &mut impl Watch,
    before: &HashSet<i32>,
    has_group: bool,
) -> Result<Watched, JobError> {
    let mut signals = Signals::catch().map_err(JobError::system("signals"))?;
    loop {
        if let Some(status) = ended(child) {
            return Ok(how_it_ended(status));
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
            if received.number != libc::SIGCHLD && (has_group || !received.is_from_kernel) {
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

fn how_it_ended(status: WaitStatus) -> Watched {
    let Some(code) = status.exit_status() else {
        let number = status.terminating_signal().unwrap_or(libc::SIGKILL);
        let is_sent = matches!(number, libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGKILL);
        return Watched::Ended { code: by_signal(number), signal: is_sent.then_some(number) };
    };
    Watched::Ended { code: code as u8, signal: None }
}

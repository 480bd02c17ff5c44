//! The process that the user started. It makes the launcher, passes signals on to it, and cleans up if it is
//! killed.

use crate::ending::by_signal;
use crate::event_loop;
use crate::job::{Job, JobError};
use crate::processes::{end_all, own_children};
use crate::signals::{self, Signals};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, WaitStatus, set_child_subreaper, waitpid};
use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;

/// Runs a job and returns when none of its processes is left: the exit code of the rank that failed first,
/// 128 plus the signal that ended it, or 0. If a person has ended the job by a signal, this process ends by
/// the same one, so that shells see why.
///
/// Must be called while this process has one thread. Processes that this process has started before are left
/// alone.
///
/// # Errors
///
/// If the ranks could not be started; then none of them runs any more.
pub fn run(job: &Job) -> Result<u8, JobError> {
    let before = own_children();
    become_subreaper()?;
    // Closed by the kernel when this process ends, however it does.
    let (alive, supervisor) = pipe_with(PipeFlags::CLOEXEC).map_err(JobError::system("pipe"))?;
    // What went wrong in the launcher, in words.
    let (refusals, refusal) = pipe_with(PipeFlags::CLOEXEC).map_err(JobError::system("pipe"))?;
    // SAFETY: this process has one thread, so the child may do whatever the parent may.
    match unsafe { libc::fork() } {
        -1 => Err(JobError::System { what: "fork", why: io::Error::last_os_error() }),
        0 => {
            drop((supervisor, refusals));
            launcher(job, alive, &refusal)
        }
        child => {
            drop((alive, refusal));
            let child = Pid::from_raw(child).expect("fork returned a process number");
            let code = supervise(child, &before)?;
            let refused = io::read_to_string(std::fs::File::from(refusals)).unwrap_or_default();
            if refused.is_empty() { Ok(code) } else { Err(JobError::Refused { refused }) }
        }
    }
}

/// Processes whose parents end become this one's children.
pub(crate) fn become_subreaper() -> Result<(), JobError> {
    // Any process number means yes.
    set_child_subreaper(Some(rustix::process::getpid())).map_err(JobError::system("prctl"))
}

/// The launcher's process, from its beginning to its end.
fn launcher(job: &Job, supervisor: OwnedFd, refusal: &OwnedFd) -> ! {
    let result = become_subreaper().and_then(|()| event_loop::run(job, supervisor));
    let code = result.unwrap_or_else(|error| {
        // If no process reads it any more, the supervisor has gone.
        let _ = rustix::io::write(refusal, error.to_string().as_bytes());
        1
    });
    std::process::exit(i32::from(code))
}

/// Passes signals on until the launcher has ended. Returns the exit code.
fn supervise(launcher: Pid, before: &HashSet<i32>) -> Result<u8, JobError> {
    let mut signals = Signals::catch().map_err(JobError::system("signals"))?;
    let mut interrupted_by = None;
    loop {
        if let Some((_, status)) = waitpid(Some(launcher), WaitOptions::NOHANG).ok().flatten() {
            let code = code_of(status, before);
            if let Some(number) = interrupted_by.filter(|number| code == by_signal(*number)) {
                signals::die_of(number);
            }
            return Ok(code);
        }
        let mut fds = [PollFd::from_borrowed_fd(signals.descriptor(), PollFlags::IN)];
        // An interrupted call is repeated; any other failure only makes this loop look more often.
        let _ = poll(&mut fds, None);
        for received in signals.take() {
            match received.number {
                libc::SIGCHLD => continue,
                libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT => {
                    interrupted_by = interrupted_by.or(Some(received.number));
                }
                _ => {}
            }
            if !received.is_from_kernel {
                signals::send(launcher, received.number);
            }
            if received.number == libc::SIGTSTP {
                // The ranks are stopped by the same key or by the launcher, which goes on to pass output on.
                signals::send(rustix::process::getpid(), libc::SIGSTOP);
            }
        }
    }
}

/// The launcher's exit code. If it was killed, its processes are children of this one now, and are ended.
fn code_of(status: WaitStatus, before: &HashSet<i32>) -> u8 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code as u8,
        (None, signal) => {
            end_all(before);
            let number = signal.unwrap_or(libc::SIGKILL);
            eprintln!(
                "evenkeel: the process that ran the job was killed by {}; all ranks were ended.",
                signals::name(number)
            );
            by_signal(number)
        }
    }
}

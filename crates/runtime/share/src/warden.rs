//! The process that outlives the switcher, and lets the job run on if that dies.

use crate::connections::{Connections, KNOWN_BYTES, Word, exit, word};
use crate::error::ShareError;
use crate::gang::{Gang, Root};
use crate::process_id::ProcessId;
use crate::registry::{Row, Status};
use crate::roster::{change_list, leave_list};
use crate::switcher::{self, Switched, SwitchingSummary};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, open};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, WaitStatus, waitpid};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::time::Duration;

/// How long the list's lock is waited for.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// How often the warden looks at a job that is no longer switched.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long the group of a job that has ended may stay: its last processes are ending.
const LAST_PROCESSES: Duration = Duration::from_secs(10);

/// The warden and the switcher, seen from the process that starts the job.
#[derive(Debug)]
pub(crate) struct Warden {
    /// A byte tells that the job has ended.
    control: OwnedFd,
    /// What the switcher says in the end, and its end when both processes have ended.
    summary: OwnedFd,
}

/// Starts the warden, and by it the switcher. They are no children of this process, which may become another
/// program.
pub(crate) fn start(switched: Switched) -> Result<Warden, ShareError> {
    let (control, ours) = pipe_with(PipeFlags::CLOEXEC).map_err(ShareError::system("pipe"))?;
    let (summary, theirs) = pipe_with(PipeFlags::CLOEXEC).map_err(ShareError::system("pipe"))?;
    match fork()? {
        None => {
            // The parent of the warden ends at once, so that the warden is no child of the job's.
            drop((ours, summary));
            match fork() {
                Ok(None) => run(switched, Connections { control, summary: theirs }),
                Ok(Some(_)) => exit(0),
                Err(_) => exit(1),
            }
        }
        Some(child) => {
            let (_, status) = loop {
                match waitpid(Some(child), WaitOptions::empty()) {
                    Err(rustix::io::Errno::INTR) => {}
                    result => break result.ok().flatten().unzip(),
                }
            };
            match status.and_then(WaitStatus::exit_status) {
                Some(0) => Ok(Warden { control: ours, summary }),
                _ => Err(ShareError::system("fork")(io::Error::from(io::ErrorKind::WouldBlock))),
            }
        }
    }
}

impl Warden {
    /// Tells that the job has ended, and waits until both processes have.
    pub(crate) fn finish(self) -> Option<SwitchingSummary> {
        // If they have been killed, the summary is empty.
        let _ = rustix::io::write(&self.control, b"e");
        let mut text = Vec::new();
        let mut part = [0; 4096];
        loop {
            let mut fds = [PollFd::new(&self.summary, PollFlags::IN)];
            let patience = Timespec { tv_sec: 5, tv_nsec: 0 };
            match poll(&mut fds, Some(&patience)) {
                Err(rustix::io::Errno::INTR) => continue,
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            match rustix::io::read(&self.summary, &mut part) {
                Err(rustix::io::Errno::INTR) => {}
                Ok(0) | Err(_) => break,
                Ok(read) => text.extend_from_slice(&part[..read]),
            }
        }
        serde_json::from_slice(&text).ok()
    }
}

/// Forks. None in the child.
pub(crate) fn fork() -> Result<Option<Pid>, ShareError> {
    // SAFETY: this process has one thread, so the child may do whatever the parent may.
    match unsafe { libc::fork() } {
        -1 => Err(ShareError::system("fork")(io::Error::last_os_error())),
        0 => Ok(None),
        child => Ok(Pid::from_raw(child)),
    }
}

/// The warden's process.
fn run(switched: Switched, connections: Connections) -> ! {
    leave_users_terminal(&connections);
    let _ = rustix::thread::set_name(c"ek-warden");
    let pipes = pipe_with(PipeFlags::CLOEXEC).and_then(|life| Ok((life, pipe_with(PipeFlags::CLOEXEC)?)));
    let Ok(((switchers_life, life), (found, report))) = pipes else { exit(1) };
    match fork() {
        Err(_) => exit(1),
        Ok(None) => {
            drop((life, found));
            let _ = rustix::thread::set_name(c"ek-switcher");
            switcher::run(switched, connections, switchers_life, report)
        }
        Ok(Some(child)) => {
            // Closed by the kernel when this process ends, however it does.
            let _life = life;
            drop((switchers_life, report));
            guard(&switched, connections, child, &found)
        }
    }
}

/// Waits until the switcher has ended.
fn guard(switched: &Switched, connections: Connections, switcher: Pid, found: &OwnedFd) -> ! {
    let mut known = Vec::new();
    // The pipe ends when the switcher does.
    while read_known(found, &mut known) {}
    let status = loop {
        match waitpid(Some(switcher), WaitOptions::empty()) {
            Err(rustix::io::Errno::INTR) => {}
            ended => break ended.ok().flatten().map(|(_, status)| status),
        }
    };
    if status.and_then(WaitStatus::exit_status) != Some(0) {
        released(switched, &known);
        eprintln!(
            "evenkeel: the process that switched this job has died; its ranks run on, and take no turns with \
             other jobs any more."
        );
        let unswitched = |row: &mut Row| row.status = Status::Unswitched;
        let _ = change_list(&switched.directory, LOCK_PATIENCE, switched.job, unswitched);
        while switched.process.is_alive() && word(&connections.control) != Word::JobHasEnded {
            std::thread::sleep(LOOK_EVERY);
            // One that was stopped while it was looked for is found now.
            released(switched, &known);
        }
        leave_list(&switched.directory, switched.job);
    }
    if let Some(group) = &switched.group {
        // No reader of the output is to wait for this.
        close_standard_error();
        drop(connections);
        group.thaw_all();
        group.remove_within(LAST_PROCESSES);
    }
    exit(0)
}

/// Lets the processes of the job run.
fn released(switched: &Switched, known: &[ProcessId]) {
    let root = Root::new(switched.process.pid);
    if let Ok(mut gang) = Gang::new(switched.mechanism, root, switched.group.clone()) {
        gang.release(known);
    }
}

/// Reads what the switcher has found. False: it has ended.
fn read_known(found: &OwnedFd, known: &mut Vec<ProcessId>) -> bool {
    let mut bytes = [0; KNOWN_BYTES * 64];
    match rustix::io::read(found, &mut bytes) {
        Err(rustix::io::Errno::INTR) => true,
        Ok(0) | Err(_) => false,
        Ok(read) => {
            // Each is written at once, and so read as a whole.
            for one in bytes[..read].chunks_exact(KNOWN_BYTES) {
                let pid = i32::from_ne_bytes(one[..4].try_into().expect("four bytes"));
                let started = u64::from_ne_bytes(one[4..].try_into().expect("eight bytes"));
                known.push(ProcessId { pid, started });
            }
            known.retain(|process| process.is_alive());
            true
        }
    }
}

/// The keys of the terminal are for the job, and its input and output too: a reader of the output is not
/// to wait for these processes.
fn leave_users_terminal(connections: &Connections) {
    let _ = rustix::process::setpgid(None, None);
    let keep = [2, connections.control.as_raw_fd(), connections.summary.as_raw_fd()];
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let open_now: Vec<RawFd> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for fd in open_now.into_iter().filter(|fd| *fd > 2 && !keep.contains(fd)) {
        // SAFETY: this process has been forked, and uses none of the descriptors that its parent had opened.
        // The one of the folder itself has been closed, which is an error and no more.
        unsafe { libc::close(fd) };
    }
    if let Ok(nothing) = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::stdio::dup2_stdin(&nothing);
        let _ = rustix::stdio::dup2_stdout(&nothing);
    }
    // Ctrl-C and a closed terminal end the job, with which these processes end.
    for number in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGPIPE] {
        // SAFETY: to ignore a signal installs no handler.
        unsafe { libc::signal(number, libc::SIG_IGN) };
    }
}

fn close_standard_error() {
    if let Ok(nothing) = open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()) {
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
}

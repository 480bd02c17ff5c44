//! This host's part of a job that runs on several hosts. A node process is the parent of the launcher in
//! place of the supervisor: it gives orders, and the launcher reports.

use crate::channel::Channel;
use crate::event_loop;
use crate::hosted_job::{HostedJob, Order};
use crate::job::JobError;
use crate::processes;
use crate::supervisor::become_subreaper;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::collections::HashSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The launcher of a host, as its node sees it.
#[derive(Debug)]
pub struct Hosted {
    launcher: Option<Pid>,
    /// For orders and reports.
    pub channel: Channel,
    /// What the first process reads, if the job says so.
    pub stdin: Option<OwnedFd>,
    /// The processes' output, in whole lines.
    pub stdout: Option<OwnedFd>,
    /// Their errors.
    pub stderr: Option<OwnedFd>,
}

impl Hosted {
    /// Makes a launcher, which waits for its first order. Must be called while this process has one thread,
    /// and before it opens what the launcher must not inherit.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn start() -> Result<Hosted, JobError> {
        become_subreaper()?;
        let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(JobError::system("pipe"));
        let ((stdin, to_stdin), (from_stdout, stdout), (from_stderr, stderr)) = (pipe()?, pipe()?, pipe()?);
        let (channel, theirs) = Channel::pair().map_err(JobError::system("socketpair"))?;
        for end in [&to_stdin, &from_stdout, &from_stderr] {
            rustix::io::ioctl_fionbio(end, true).map_err(JobError::system("ioctl"))?;
        }
        // SAFETY: this process has one thread, so the child may do whatever the parent may.
        match unsafe { libc::fork() } {
            -1 => Err(JobError::System { what: "fork", why: io::Error::last_os_error() }),
            0 => {
                drop((to_stdin, from_stdout, from_stderr, channel));
                run(&[stdin, stdout, stderr], theirs)
            }
            child => Ok(Hosted {
                launcher: Pid::from_raw(child),
                channel,
                stdin: Some(to_stdin),
                stdout: Some(from_stdout),
                stderr: Some(from_stderr),
            }),
        }
    }

    /// Whether the launcher has ended. If it was killed, its processes are children of this process now.
    pub fn has_ended(&mut self) -> bool {
        let Some(launcher) = self.launcher else { return true };
        match waitpid(Some(launcher), WaitOptions::NOHANG) {
            Ok(None) | Err(rustix::io::Errno::INTR) => false,
            _ => {
                self.launcher = None;
                true
            }
        }
    }

    /// Ends all processes below this one but those in `except` and what is below these, and returns when
    /// they have ended.
    pub fn end_all_but(&self, except: &HashSet<i32>) {
        processes::end_all(except);
    }
}

/// The launcher's process, from its beginning to its end.
fn run(streams: &[OwnedFd; 3], mut channel: Channel) -> ! {
    for (number, stream) in (0..).zip(streams) {
        // SAFETY: an open descriptor, and the number of a standard stream, which nothing owns here.
        if unsafe { libc::dup2(stream.as_raw_fd(), number) } < 0 {
            std::process::exit(1);
        }
    }
    let Some((job, further)) = first_orders(&mut channel) else { std::process::exit(0) };
    take_environment(&job);
    let prepared = std::env::set_current_dir(&job.directory)
        .map_err(JobError::system("the working directory"))
        .and_then(|()| become_subreaper());
    let code = match prepared.and_then(|()| event_loop::run_hosted(*job, channel, further)) {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("evenkeel: {error}");
            1
        }
    };
    std::process::exit(code)
}

/// Waits for the order to run. With it may come further ones: the job may have to end at once. None: the node
/// has gone, or the job ends before it begins.
fn first_orders(channel: &mut Channel) -> Option<(Box<HostedJob>, Vec<Order>)> {
    use rustix::event::{PollFd, PollFlags, poll};
    loop {
        let mut orders = channel.receive::<Order>().into_iter();
        match orders.next() {
            Some(Order::Run(job)) => return Some((job, orders.collect())),
            Some(_) => return None,
            None if channel.is_closed() => return None,
            None => {}
        }
        let mut fds = [PollFd::from_borrowed_fd(channel.descriptor(), PollFlags::IN)];
        // An interrupted call is repeated.
        let _ = poll(&mut fds, None);
    }
}

/// Makes the job's environment that of this process, from which ranks inherit it.
fn take_environment(job: &HostedJob) {
    let old: Vec<OsString> = std::env::vars_os().map(|(name, _)| name).collect();
    for name in old {
        // SAFETY: this process has one thread.
        unsafe { std::env::remove_var(name) };
    }
    for (name, value) in &job.environment {
        let bytes = name.as_encoded_bytes();
        // What a shell has exported from another program may be no name at all.
        if !bytes.is_empty() && !bytes.contains(&b'=') {
            // SAFETY: this process has one thread.
            unsafe { std::env::set_var(name, value) };
        }
    }
}

//! Starts one rank.

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::Pid;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::process::{Command, Stdio};

/// A rank that has been started, and this side of its connections.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) pid: Pid,
    pub(crate) pmi: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

/// Starts a process, which finds its PMI connection in PMI_FD if it `speaks_pmi`.
pub(crate) fn start(
    program: &Path,
    arguments: &[impl AsRef<OsStr>],
    directory: Option<&Path>,
    variables: &[(OsString, OsString)],
    has_input: bool,
    speaks_pmi: bool,
) -> io::Result<Started> {
    let (pmi, theirs) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    rustix::io::ioctl_fionbio(&pmi, true)?;
    let mut command = Command::new(program);
    command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    if speaks_pmi {
        // The one descriptor of this process that the rank is to inherit; closed here when it has.
        fcntl_setfd(&theirs, FdFlags::empty())?;
        command.env("PMI_FD", theirs.as_raw_fd().to_string());
    }
    command.stdin(if has_input { Stdio::inherit() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(directory) = directory {
        command.current_dir(directory);
    }
    let mut child = command.spawn()?;
    let piped = |name: &str| io::Error::other(format!("no pipe for {name}"));
    let stdout = OwnedFd::from(child.stdout.take().ok_or_else(|| piped("stdout"))?);
    let stderr = OwnedFd::from(child.stderr.take().ok_or_else(|| piped("stderr"))?);
    for pipe in [&stdout, &stderr] {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    let pid = Pid::from_child(&child);
    Ok(Started { pid, pmi, stdout, stderr })
}

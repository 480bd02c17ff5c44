//! Starts a node's agent: the program `evenkeel-agent`, in a process that no rank has to wait for.
//!
//! The agent inherits three descriptors ([`INHERITED`]) and nothing else that is open here.

use std::ffi::{CStr, CString, NulError, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where an agent finds what it inherits: the segment, the end of its pipe that it reads, and where it writes
/// what it tells of itself.
pub const INHERITED: [RawFd; 3] = [3, 4, 5];
/// First descriptor that is in no way of those.
const FIRST_FREE: RawFd = 10;
/// How long an agent may take to come up.
const PATIENCE_MS: i32 = 20_000;

/// Why a node has no agent.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// The segment's descriptor could not be kept.
    #[error("the segment has no descriptor")]
    NoSegment,
    /// The program cannot be found.
    #[error("the program evenkeel-agent is not beside evenkeel's library; install it there")]
    NoProgram,
    /// A pipe to the agent cannot be made.
    #[error("no pipe: {0}")]
    NoPipe(std::io::Error),
    /// The program's path is no path for the kernel.
    #[error("its path has a zero byte")]
    BadPath(#[from] NulError),
    /// The kernel does not start it.
    #[error("{} cannot be started: {why}", program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// Why not.
        why: std::io::Error,
    },
    /// It has not told of itself.
    #[error("it did not come up in time, or ended at once")]
    Silent,
    /// It has ended with a sentence of its own.
    #[error("it has no fabric (see its own words above)")]
    NoFabric,
    /// What it tells of itself is too long to travel among the ranks.
    #[error(
        "the fabric's address is {bytes} bytes long, and {most} is the most; UCX_NET_DEVICES can name fewer \
         devices"
    )]
    LongAddress {
        /// Its length.
        bytes: usize,
        /// What fits.
        most: usize,
    },
}

/// An agent that has come up.
pub(super) struct StartedAgent {
    /// The end of its pipe that ranks write to.
    pub(super) pipe: File,
    /// What it tells of itself: an encoded [`AgentInfo`](super::agent_commands::AgentInfo).
    pub(super) info: Vec<u8>,
}

/// Starts the agent of the node that shares this segment. `most`: how long what it tells of itself may be.
pub(super) fn start_agent(segment: OwnedFd, most: usize) -> Result<StartedAgent, LaunchError> {
    let program = program().filter(|path| path.exists()).ok_or(LaunchError::NoProgram)?;
    let (commands_read, commands_write) = pipe()?;
    let (info_read, info_write) = pipe()?;
    spawn(&program, [segment.as_raw_fd(), commands_read.as_raw_fd(), info_write.as_raw_fd()])?;
    drop((commands_read, info_write));
    let info = read_all(info_read.into()).ok_or(LaunchError::Silent)?;
    if info.is_empty() {
        return Err(LaunchError::NoFabric);
    }
    if info.len() > most {
        return Err(LaunchError::LongAddress { bytes: info.len(), most });
    }
    Ok(StartedAgent { pipe: commands_write.into(), info })
}

/// A copy of a descriptor that is not among the first ones, which the agent inherits others as.
pub(super) fn duplicate(fd: RawFd) -> Option<OwnedFd> {
    // SAFETY: duplicates an open descriptor; the copy is ours.
    unsafe {
        let copy = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST_FREE);
        (copy >= 0).then(|| OwnedFd::from_raw_fd(copy))
    }
}

/// A pipe's two ends: to read from, to write to.
fn pipe() -> Result<(OwnedFd, OwnedFd), LaunchError> {
    let failed = || LaunchError::NoPipe(std::io::Error::last_os_error());
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors, which are ours.
    let [read, write] = unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(failed());
        }
        ends.map(|fd| OwnedFd::from_raw_fd(fd))
    };
    let copy = |end: OwnedFd| duplicate(end.as_raw_fd()).ok_or_else(failed);
    Ok((copy(read)?, copy(write)?))
}

/// The agent's program: where the environment says, or beside the library that this code is in.
fn program() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("EVENKEEL_AGENT").filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    // SAFETY: the address of a function of this library; the name is copied.
    let library = unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(start_agent as *const libc::c_void, &mut found) == 0 || found.dli_fname.is_null() {
            return None;
        }
        PathBuf::from(OsStr::from_bytes(CStr::from_ptr(found.dli_fname).to_bytes()))
    };
    Some(library.parent()?.join("evenkeel-agent"))
}

/// Starts the program with these descriptors as [`INHERITED`].
fn spawn(program: &Path, descriptors: [RawFd; 3]) -> Result<(), LaunchError> {
    let path = CString::new(program.as_os_str().as_bytes())?;
    // Without what is preloaded here: the agent is no MPI program.
    let environment: Vec<CString> = std::env::vars_os()
        .filter(|(name, _)| name != "LD_PRELOAD")
        .filter_map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok())
        .collect();
    let mut pointers: Vec<*mut libc::c_char> =
        environment.iter().map(|text| text.as_ptr().cast_mut()).collect();
    pointers.push(std::ptr::null_mut());
    let arguments = [path.as_ptr().cast_mut(), std::ptr::null_mut()];
    // SAFETY: terminated strings and lists; the actions are initialised before they are used, and destroyed
    // once.
    let (status, pid) = unsafe {
        let mut actions: libc::posix_spawn_file_actions_t = std::mem::zeroed();
        libc::posix_spawn_file_actions_init(&mut actions);
        for (from, to) in descriptors.into_iter().zip(INHERITED) {
            libc::posix_spawn_file_actions_adddup2(&mut actions, from, to);
        }
        let mut pid = 0;
        let no_attributes = std::ptr::null();
        let status = libc::posix_spawn(
            &mut pid,
            path.as_ptr(),
            &actions,
            no_attributes,
            arguments.as_ptr(),
            pointers.as_ptr(),
        );
        libc::posix_spawn_file_actions_destroy(&mut actions);
        (status, pid)
    };
    if status != 0 {
        let why = std::io::Error::from_raw_os_error(status);
        return Err(LaunchError::NotStarted { program: program.into(), why });
    }
    // The agent becomes a daemon: the process started here ends at once. Waiting for it keeps the program
    // from finding a child that it does not know.
    let mut ended = 0;
    // SAFETY: a child of ours, and a word to write to.
    while unsafe { libc::waitpid(pid, &mut ended, 0) } < 0
        && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted
    {}
    Ok(())
}

/// Everything until the other end is closed; None if that takes too long.
fn read_all(mut from: File) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut watched = libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry.
        if unsafe { libc::poll(&mut watched, 1, PATIENCE_MS) } <= 0 {
            return None;
        }
        let mut some = [0; 1024];
        match from.read(&mut some) {
            Ok(0) => return Some(all),
            Ok(n) => all.extend_from_slice(&some[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

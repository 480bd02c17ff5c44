//! Starts the agent's program in a process of its own.

use std::ffi::{CStr, CString, OsStr};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The descriptors that an agent inherits: the segment, its pipe, and the pipe for its [`AgentInfo`].
pub const INHERITED: [RawFd; 3] = [3, 4, 5];
/// The first descriptor that cannot collide with [`INHERITED`].
const FIRST_FREE: RawFd = 10;
/// How long the agent may take to start.
const START_TIMEOUT_MS: i32 = 20_000;

/// Why a node has no agent.
#[derive(Debug, Error)]
pub(super) enum AgentStartError {
    #[error("the segment has no descriptor")]
    NoSegment,
    #[error("the program evenkeel-agent is not in the directory of evenkeel's library; install it there")]
    NoProgram,
    #[error("{} cannot be started: {error}", program.display())]
    NotStarted { program: PathBuf, error: io::Error },
    #[error("no pipe: {0}")]
    NoPipe(io::Error),
    #[error("it did not start in time, or ended at once")]
    NoAnswer,
    #[error("the kernel gives no random bytes for the job's secret: {0}")]
    NoSecret(io::Error),
    #[error("it has no fabric (see its own message above)")]
    NoFabric,
    #[error(
        "the fabric's address has {bytes} bytes, and the maximum is {most}; name fewer devices in \
         UCX_NET_DEVICES"
    )]
    LongAddress { bytes: usize, most: usize },
}

/// Duplicates a descriptor so that the copy cannot collide with [`INHERITED`].
pub(super) fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: duplicates an open descriptor; the copy belongs to the caller.
    unsafe {
        let copy = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, FIRST_FREE);
        if copy < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(copy)) }
    }
}

/// Makes a pipe and returns its reading and its writing end.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: there is room for two descriptors, which belong to this function.
    let [read, write] = unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(io::Error::last_os_error());
        }
        ends.map(|fd| OwnedFd::from_raw_fd(fd))
    };
    Ok((duplicate(read.as_raw_fd())?, duplicate(write.as_raw_fd())?))
}

/// The path of the agent's program: in the directory of the library that contains this code, or the value
/// of `EVENKEEL_AGENT`.
pub(super) fn program() -> Result<PathBuf, AgentStartError> {
    if let Some(path) = std::env::var_os("EVENKEEL_AGENT").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    // SAFETY: the address is that of a function of this library; the name is copied.
    let library = unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(program as *const libc::c_void, &mut found) == 0 || found.dli_fname.is_null() {
            return Err(AgentStartError::NoProgram);
        }
        PathBuf::from(OsStr::from_bytes(CStr::from_ptr(found.dli_fname).to_bytes()))
    };
    let beside = library.parent().map(|folder| folder.join("evenkeel-agent"));
    beside.filter(|path| path.exists()).ok_or(AgentStartError::NoProgram)
}

/// Starts the program as a process that is not a child of this one: it becomes a daemon at once, so the MPI
/// program never finds a child that it does not know.
pub(super) fn spawn(program: &Path, descriptors: [RawFd; 3]) -> Result<(), AgentStartError> {
    let failed = |error| AgentStartError::NotStarted { program: program.into(), error };
    let path = CString::new(program.as_os_str().as_bytes()).map_err(|error| failed(error.into()))?;
    // `LD_PRELOAD` is left out, because the agent is not an MPI program.
    let environment: Vec<CString> = std::env::vars_os()
        .filter(|(name, _)| name != "LD_PRELOAD")
        .filter_map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok())
        .collect();
    let mut pointers: Vec<*mut libc::c_char> =
        environment.iter().map(|text| text.as_ptr().cast_mut()).collect();
    pointers.push(std::ptr::null_mut());
    let arguments = [path.as_ptr().cast_mut(), std::ptr::null_mut()];
    // SAFETY: terminated strings and lists; the actions are initialised before they are used, and
    // destroyed once.
    unsafe {
        let mut actions: libc::posix_spawn_file_actions_t = std::mem::zeroed();
        libc::posix_spawn_file_actions_init(&mut actions);
        for (from, to) in descriptors.into_iter().zip(INHERITED) {
            libc::posix_spawn_file_actions_adddup2(&mut actions, from, to);
        }
        let mut pid = 0;
        let code = libc::posix_spawn(
            &mut pid,
            path.as_ptr(),
            &actions,
            std::ptr::null(),
            arguments.as_ptr(),
            pointers.as_ptr(),
        );
        libc::posix_spawn_file_actions_destroy(&mut actions);
        if code != 0 {
            return Err(failed(io::Error::from_raw_os_error(code)));
        }
        // The process that was started ends as soon as its daemon runs.
        let mut status = 0;
        while libc::waitpid(pid, &mut status, 0) < 0 && *libc::__errno_location() == libc::EINTR {}
    }
    Ok(())
}

/// Reads until the other end is closed; returns `None` if that fails or takes too long.
pub(super) fn read_all(mut from: File) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut watched = libc::pollfd { fd: from.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid entry.
        if unsafe { libc::poll(&mut watched, 1, START_TIMEOUT_MS) } <= 0 {
            return None;
        }
        let mut some = [0; 1024];
        match from.read(&mut some) {
            Ok(0) => return Some(all),
            Ok(n) => all.extend_from_slice(&some[..n]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

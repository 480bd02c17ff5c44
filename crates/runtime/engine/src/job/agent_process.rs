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
    let mut pointers: Vec<*const libc::c_char> = environment.iter().map(|text| text.as_ptr()).collect();
    pointers.push(std::ptr::null());
    let mut child = Child {
        path: &path,
        arguments: [path.as_ptr(), std::ptr::null()],
        environment: pointers.as_ptr(),
        descriptors,
        errno: 0,
    };
    let mut stack = vec![0_u128; STACK_BYTES / size_of::<u128>()];
    let top = stack.as_mut_ptr_range().end;
    // SAFETY: the child runs on a stack of its own, and this thread stands still until the child has begun
    // the program or ended. No signal handler runs in the child, since all signals are blocked.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        let argument = (&raw mut child).cast();
        // No signal is sent to this process when it ends: the MPI program may handle SIGCHLD.
        let pid = libc::clone(Child::run, top.cast(), libc::CLONE_VM | libc::CLONE_VFORK, argument);
        let error = io::Error::last_os_error();
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        if pid < 0 {
            return Err(failed(error));
        }
        // The process that was started ends as soon as its daemon runs.
        let mut status = 0;
        while libc::waitpid(pid, &mut status, libc::__WALL) < 0 && *libc::__errno_location() == libc::EINTR {}
    }
    // The compiler does not know that the child has written here.
    match std::hint::black_box(&child).errno {
        0 => Ok(()),
        errno => Err(failed(io::Error::from_raw_os_error(errno))),
    }
}

/// For a few system calls.
const STACK_BYTES: usize = 64 << 10;

/// What a child does that shares this process's memory.
struct Child<'a> {
    path: &'a CStr,
    arguments: [*const libc::c_char; 2],
    environment: *const *const libc::c_char,
    descriptors: [RawFd; 3],
    /// Why the program was not begun; 0: it was.
    errno: i32,
}

impl Child<'_> {
    extern "C" fn run(child: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the parent's, which stands still; strings and lists are terminated. Only system calls.
        unsafe {
            let child = child.cast::<Child>();
            let is_given = |(from, to)| libc::dup2(from, to) >= 0;
            if (*child).descriptors.into_iter().zip(INHERITED).all(is_given) {
                libc::execve(
                    (*child).path.as_ptr(),
                    (&raw const (*child).arguments).cast(),
                    (*child).environment,
                );
            }
            (&raw mut (*child).errno).write_volatile(*libc::__errno_location());
            libc::_exit(127)
        }
    }
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

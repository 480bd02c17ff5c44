//! The kernel's guarantee that a stopped rank continues when the injector dies, even of SIGKILL.
//!
//! There is a pipe for each rank, and one to spare, because the script that starts a rank may have been taken
//! for it. The injector alone holds the writing end. Launcher and injector hold the reading end, which is set
//! to send SIGCONT to the rank when something happens to the pipe (`O_ASYNC`, `F_SETSIG`, `F_SETOWN`:
//! fcntl(2)). No process ever writes. When the injector dies, the kernel closes the writing end; this event
//! makes the rank continue. The launcher keeps the reading end alive for that. When the launcher dies first,
//! the injector notices.

use crate::errors::InjectionError;
use rustix::process::Pid;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

/// Pipes for each rank.
pub const PIPES_PER_RANK: usize = 2;
/// Each pipe takes two descriptors for a moment, and a process may usually have 1024 of them.
const MOST_RANKS: u32 = 200;

/// A pipe whose ends survive exec: the reading end is for launcher and injector, the writing end for the
/// injector alone.
#[derive(Debug)]
pub struct Pipe {
    reading: OwnedFd,
    _writing: OwnedFd,
}

/// [`PIPES_PER_RANK`] pipes for each of so many ranks.
pub fn pipes(ranks: u32) -> Result<Vec<Pipe>, InjectionError> {
    let refused = |why: String| InjectionError::Refused { injection: "stalls".into(), why };
    if ranks > MOST_RANKS {
        return Err(refused(format!("at most {MOST_RANKS} ranks can be stalled")));
    }
    let pipe = |_| rustix::pipe::pipe().map(|(reading, writing)| Pipe { reading, _writing: writing });
    let pipes = (0..ranks as usize * PIPES_PER_RANK).map(pipe);
    pipes.collect::<Result<_, _>>().map_err(|e| refused(e.to_string()))
}

impl Pipe {
    /// The number of the reading end's descriptor.
    pub fn number(&self) -> RawFd {
        self.reading.as_raw_fd()
    }

    /// Closes the writing end here, so that the injector's is the last one, and leaves the reading end open
    /// for the launcher that this process becomes.
    pub fn leave_to_launcher(self) {
        let _ = self.reading.into_raw_fd();
    }
}

/// To be called in the injector: when it dies, this process gets SIGCONT.
pub fn guarantee(reading: RawFd, pid: Pid) -> std::io::Result<()> {
    const F_SETSIG: libc::c_int = 10; // <fcntl.h> of Linux; the libc crate lacks it for some C libraries
    let set = |command: libc::c_int, value: libc::c_int| {
        // SAFETY: none of these commands takes a pointer. A descriptor that is not open is an error, no more.
        match unsafe { libc::fcntl(reading, command, value) } {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    set(F_SETSIG, libc::SIGCONT)?;
    set(libc::F_SETOWN, pid.as_raw_nonzero().get())?;
    set(libc::F_SETFL, libc::O_ASYNC)
}

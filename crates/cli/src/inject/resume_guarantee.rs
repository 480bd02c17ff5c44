//! The kernel's promise that a stopped rank goes on when the injector dies, even of SIGKILL.
//!
//! A pipe for each rank (and one to spare: the script that starts a rank may have been taken for it).
//! The injector alone holds its writing end; launcher and injector hold the reading end, which is set
//! to send SIGCONT to the rank when something happens to it (`O_ASYNC`, `F_SETSIG`, `F_SETOWN`:
//! fcntl(2)). Nobody ever writes. When the injector dies, the kernel closes the writing end; that is
//! something that happens, and the rank goes on. It is the launcher that keeps the reading end alive
//! for this; when the launcher dies first, the injector sees it.

use crate::errors::Failure;
use rustix::process::Pid;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};

/// Pipes for each rank.
pub const FOR_EACH: usize = 2;
/// Ranks at most: each pipe takes two descriptors for a moment, of which processes have 1024 as a rule.
const MOST: u32 = 200;

/// Both ends survive exec: the reading one is for launcher and injector, the writing one for the
/// injector alone.
pub struct Pipe {
    reading: OwnedFd,
    _writing: OwnedFd,
}

/// [`FOR_EACH`] rank.
pub fn pipes(ranks: u32) -> Result<Vec<Pipe>, Failure> {
    let failed = |why: String| Failure::Inject { what: "stalls".into(), why };
    if ranks > MOST {
        return Err(failed(format!("at most {MOST} ranks can be stalled")));
    }
    let pipe = |_| rustix::pipe::pipe().map(|(reading, writing)| Pipe { reading, _writing: writing });
    (0..ranks as usize * FOR_EACH).map(pipe).collect::<Result<_, _>>().map_err(|e| failed(e.to_string()))
}

impl Pipe {
    pub fn number(&self) -> RawFd {
        self.reading.as_raw_fd()
    }

    /// Closes the writing end here, so that the injector's is the last, and leaves the reading end to exec.
    pub fn leave_to_launcher(self) {
        let _ = self.reading.into_raw_fd();
    }
}

/// In the injector: from now on its death sends SIGCONT to this process.
pub fn promise(reading: RawFd, pid: Pid) -> std::io::Result<()> {
    let set = |command: libc::c_int, value: libc::c_int| {
        // SAFETY: none of these commands takes a pointer; a descriptor that is not open is an error, no more.
        match unsafe { libc::fcntl(reading, command, value) } {
            -1 => Err(std::io::Error::last_os_error()),
            _ => Ok(()),
        }
    };
    const F_SETSIG: libc::c_int = 10; // <fcntl.h> of Linux; the libc crate lacks it for some C libraries
    set(F_SETSIG, libc::SIGCONT)?;
    set(libc::F_SETOWN, pid.as_raw_nonzero().get())?;
    set(libc::F_SETFL, libc::O_ASYNC)
}

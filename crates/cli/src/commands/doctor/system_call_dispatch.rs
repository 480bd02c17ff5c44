//! The trial of Syscall User Dispatch: a process has one of its own system calls caught and then repeats it,
//! as the shim does while barriers are pending. It runs in a process of its own, because a failure may end
//! the process.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use dispatch::{CAUGHT, DISPATCH, DISPATCH_OFF, DISPATCH_ON, GATE, caught};
use thiserror::Error;

/// Why a system call could not be caught and repeated.
#[derive(Debug, Error)]
#[allow(dead_code, reason = "which variants can occur depends on the processor")]
enum DispatchError {
    #[error("it exists on x86-64 only")]
    OtherProcessor,
    #[error("{0}")]
    Refused(std::io::Error),
    #[error("this kernel does not know it; Linux has it since 5.11")]
    OldKernel,
    #[error("it was granted, but a system call was not caught")]
    NotCaught,
    #[error("a call that was caught does not continue as it should")]
    NotContinued,
}

/// A line for the doctor: "works", or why not.
pub fn report() -> String {
    match catch_one() {
        Ok(()) => "works\n".into(),
        Err(why) => format!("{why}\n"),
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn catch_one() -> Result<(), DispatchError> {
    Err(DispatchError::OtherProcessor)
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn catch_one() -> Result<(), DispatchError> {
    use std::sync::atomic::Ordering;
    // SAFETY: an action of zeros is a valid one. The handler makes no system calls and accesses atomics only.
    let installed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = caught as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut())
    };
    if installed != 0 {
        return Err(DispatchError::Refused(std::io::Error::last_os_error()));
    }
    // No range of addresses is exempt: the handler opens the gate before anything else.
    // SAFETY: the kernel reads the byte, which is static.
    if unsafe { libc::prctl(DISPATCH, DISPATCH_ON, 0, 0, GATE.as_ptr()) } != 0 {
        let error = std::io::Error::last_os_error();
        return Err(match error.raw_os_error() {
            Some(libc::EINVAL) => DispatchError::OldKernel,
            _ => DispatchError::Refused(error),
        });
    }
    GATE.store(1, Ordering::Relaxed);
    // SAFETY: getppid takes no arguments and changes nothing.
    let answer = unsafe { libc::syscall(libc::SYS_getppid) };
    let was_closed = GATE.swap(0, Ordering::Relaxed) != 0;
    // SAFETY: switching off takes no memory.
    unsafe { libc::prctl(DISPATCH, DISPATCH_OFF, 0, 0, 0) };
    match CAUGHT.load(Ordering::Relaxed) {
        // SAFETY: getppid takes no arguments and changes nothing.
        1 if !was_closed && answer == i64::from(unsafe { libc::getppid() }) => Ok(()),
        0 => Err(DispatchError::NotCaught),
        _ => Err(DispatchError::NotContinued),
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod dispatch {
    use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

    pub const DISPATCH: libc::c_int = 59; // PR_SET_SYSCALL_USER_DISPATCH
    pub const DISPATCH_OFF: libc::c_ulong = 0;
    pub const DISPATCH_ON: libc::c_ulong = 1;
    const BY_DISPATCH: libc::c_int = 2; // SYS_USER_DISPATCH in si_code

    /// 1: the next system call of this thread is caught.
    pub static GATE: AtomicU8 = AtomicU8::new(0);
    pub static CAUGHT: AtomicU32 = AtomicU32::new(0);

    pub extern "C" fn caught(_: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        GATE.store(0, Ordering::Relaxed);
        // SAFETY: the kernel passes both, valid, to a handler with SA_SIGINFO.
        unsafe {
            if (*info).si_code == BY_DISPATCH {
                CAUGHT.fetch_add(1, Ordering::Relaxed);
                // Back to the `syscall` instruction, which has two bytes, to execute it again.
                (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] -= 2;
            }
        }
    }
}

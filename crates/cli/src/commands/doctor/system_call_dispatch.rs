//! The trial of Syscall User Dispatch: a process that has one of its own system calls caught, and then
//! made after all, as the shim does (shims/src/gate.c). Run in a child of the doctor: what goes wrong
//! here ends a process.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use dispatch::{CAUGHT, DISPATCH, DISPATCH_OFF, DISPATCH_ON, GATE, caught};

/// "works", or why not.
pub fn say() -> String {
    match catch_one() {
        Ok(()) => "works\n".into(),
        Err(why) => format!("{why}\n"),
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
fn catch_one() -> Result<(), String> {
    Err("it exists on x86-64 only".into())
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn catch_one() -> Result<(), String> {
    use std::sync::atomic::Ordering;
    // SAFETY: an action of zeros is a valid one; the handler makes no system calls and touches atomics only.
    let installed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = caught as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER;
        libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut())
    };
    if installed != 0 {
        return Err(std::io::Error::last_os_error().to_string());
    }
    // No range of addresses is exempt: the handler opens the gate before anything else.
    // SAFETY: the byte is static; the kernel reads it.
    if unsafe { libc::prctl(DISPATCH, DISPATCH_ON, 0, 0, GATE.as_ptr()) } != 0 {
        let error = std::io::Error::last_os_error();
        return Err(match error.raw_os_error() {
            Some(libc::EINVAL) => "this kernel does not know it; Linux has it since 5.11".into(),
            _ => error.to_string(),
        });
    }
    GATE.store(1, Ordering::Relaxed);
    // SAFETY: it takes nothing and changes nothing.
    let answer = unsafe { libc::syscall(libc::SYS_getppid) };
    let was_closed = GATE.swap(0, Ordering::Relaxed) != 0;
    // SAFETY: as above.
    unsafe { libc::prctl(DISPATCH, DISPATCH_OFF, 0, 0, 0) };
    match CAUGHT.load(Ordering::Relaxed) {
        // SAFETY: it takes nothing and changes nothing.
        1 if !was_closed && answer == i64::from(unsafe { libc::getppid() }) => Ok(()),
        0 => Err("it is granted, but a system call was not caught".into()),
        _ => Err("a call that was caught does not go on as it should".into()),
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
        // SAFETY: the kernel hands both to a handler with SA_SIGINFO.
        unsafe {
            if (*info).si_code == BY_DISPATCH {
                CAUGHT.fetch_add(1, Ordering::Relaxed);
                // Once more, the same instruction: `syscall` has two bytes.
                (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] -= 2;
            }
        }
    }
}

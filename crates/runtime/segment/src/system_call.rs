//! System calls without the C library's `syscall`, which front ends interpose to see those of the program.
//!
//! May use: libc, assembler. Must never: set `errno`, which belongs to the program.

use std::ffi::c_long;

/// Makes a system call. Returns what the kernel returns: a negative error number if it failed.
///
/// # Safety
/// As for the system call: pointers among the arguments must be valid for it.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) unsafe fn system_call(number: c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    let answer;
    // SAFETY: the kernel keeps all registers but these; the rest is the caller's promise.
    unsafe {
        std::arch::asm!("syscall", inlateout("rax") number as isize => answer, in("rdi") a, in("rsi") b,
            in("rdx") c, in("r10") d, in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _,
            options(nostack));
    }
    answer
}

/// As above.
///
/// # Safety
/// As above.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) unsafe fn system_call(number: c_long, arguments: [usize; 6]) -> isize {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the caller's promise, and a place of this thread's.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let answer = libc::syscall(number, a, b, c, d, e, f) as isize;
        *errno = before;
        answer
    }
}

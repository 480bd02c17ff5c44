//! Cross-memory attach: reading another process's memory directly (`process_vm_readv`), where the kernel
//! allows it.
//!
//! May use: libc. Must never: write into another process.

use std::io;
use std::sync::atomic::{Ordering, fence};

/// Copies `bytes` from `address` in process `pid` to `into`.
///
/// # Errors
/// The kernel's: `EPERM` where tracing is restricted, `ESRCH` when the process is gone.
///
/// # Safety
/// `into` must be valid for writing `bytes`. What is read is whatever stands there at that time.
pub unsafe fn read(pid: u32, address: u64, into: *mut u8, bytes: usize) -> io::Result<()> {
    let mut done = 0;
    while done < bytes {
        let local = libc::iovec { iov_base: into.wrapping_add(done).cast(), iov_len: bytes - done };
        let remote = libc::iovec { iov_base: (address as usize + done) as *mut _, iov_len: bytes - done };
        // SAFETY: the local range is valid by the caller's promise; the kernel checks the remote one.
        let n = unsafe { libc::process_vm_readv(pid as libc::pid_t, &local, 1, &remote, 1, 0) };
        if n <= 0 {
            let error = io::Error::last_os_error();
            if n < 0 && error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(if n < 0 { error } else { io::ErrorKind::UnexpectedEof.into() });
        }
        // A read may stop at 2 GiB, or at a page that has vanished; the next try says why.
        done += n as usize;
    }
    // What is read afterwards is not older, also where the processor would let later reads come first.
    fence(Ordering::Acquire);
    Ok(())
}

/// Lets processes of the same user read this one even where the Yama module restricts that to ancestors.
pub fn allow_readers() {
    // SAFETY: no memory is passed. Without Yama the call fails; then nothing needs allowing.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    #[test]
    fn own_memory_is_read_and_errors_are_reported() {
        let from: Vec<u8> = (0..100_000u32).map(|i| i as u8).collect();
        let mut into = vec![0u8; from.len()];
        // SAFETY: both buffers live and have that length.
        unsafe { super::read(std::process::id(), from.as_ptr() as u64, into.as_mut_ptr(), from.len()) }
            .unwrap();
        assert_eq!(from, into);
        // SAFETY: address 0 is not mapped; the kernel refuses.
        assert!(unsafe { super::read(std::process::id(), 0, into.as_mut_ptr(), 8) }.is_err());
    }
}

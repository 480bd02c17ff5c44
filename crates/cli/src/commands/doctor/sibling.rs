//! The other processes of the doctor's trials.
//!
//! Ranks are siblings, and some kernels allow a process to read its children but not its siblings. Therefore
//! one child offers memory and another child reads it. A third one has a system call caught.

use super::arguments::{TrialArguments, TrialRole};
use super::system_call_dispatch;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;

/// The bytes that are offered.
const WORD: &[u8; 16] = b"evenkeel trial 1";

/// Does what the role says and returns what is printed for the doctor.
pub fn take_part_in_trial(arguments: &TrialArguments) -> Vec<u8> {
    match &arguments.role {
        TrialRole::Offer => offer(),
        TrialRole::Catch => system_call_dispatch::report().into_bytes(),
        TrialRole::Reach { pid, fd, address } => reach(*pid, *fd, *address).into_bytes(),
    }
}

fn offer() -> Vec<u8> {
    // As the ranks do: where the Yama module lets only ancestors read a process, the process may allow
    // others.
    // SAFETY: no memory is passed. Without Yama the call fails, which changes nothing.
    unsafe { libc::prctl(libc::PR_SET_PTRACER, libc::PR_SET_PTRACER_ANY, 0, 0, 0) };
    let memory = Box::new(*WORD);
    let file =
        rustix::fs::memfd_create("evenkeel-trial", rustix::fs::MemfdFlags::CLOEXEC).map(std::fs::File::from);
    let fd = match file.as_ref().map(|mut f| f.write_all(WORD).map(|()| f.as_raw_fd())) {
        Ok(Ok(fd)) => fd,
        _ => -1,
    };
    let mut out = std::io::stdout();
    let _ = writeln!(out, "{} {fd} {}", std::process::id(), std::hint::black_box(&*memory).as_ptr() as usize);
    let _ = out.flush();
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    drop(std::hint::black_box(memory));
    Vec::new()
}

/// Two lines: whether opening the other process's file worked, and whether reading its memory did.
fn reach(pid: i32, fd: i32, address: usize) -> String {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/fd/{fd}"));
    let opened = opened.and_then(|mut f| {
        let mut bytes = [0u8; 16];
        // The new descriptor has an offset of its own, so the read begins at the first byte.
        f.read_exact(&mut bytes).map(|()| bytes == *WORD)
    });
    let read = read_memory(pid, address).map(|bytes| bytes == *WORD);
    format!("{}\n{}\n", verdict(opened), verdict(read))
}

/// Sixteen bytes of another process's memory.
fn read_memory(pid: i32, address: usize) -> std::io::Result<[u8; 16]> {
    let mut bytes = [0_u8; 16];
    let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
    // SAFETY: the kernel writes at most the 16 bytes of `bytes`; `there` is an address of the other process
    // and is never dereferenced here.
    match unsafe { libc::process_vm_readv(pid, &here, 1, &there, 1, 0) } {
        16 => Ok(bytes),
        -1 => Err(std::io::Error::last_os_error()),
        read => Err(std::io::Error::other(format!("only {read} of 16 bytes could be read"))),
    }
}

/// "works", or why not.
fn verdict(result: std::io::Result<bool>) -> String {
    match result {
        Ok(true) => "works".into(),
        Ok(false) => "the bytes differ from those that were written".into(),
        Err(why) => why.to_string(),
    }
}

//! The other processes of the doctor's trials. Ranks are siblings, not parents of each other, and some
//! kernels make a difference there: so one child offers memory and another child reaches for it. A
//! third one has a system call caught.

use crate::commands::PeerRole;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;

const WORD: &[u8; 16] = b"evenkeel trial 1";

/// Plays the part; the text goes to standard output.
pub fn act(role: &PeerRole) -> Vec<u8> {
    match role {
        PeerRole::Offer => offer(),
        PeerRole::Catch => super::system_call_dispatch::say().into_bytes(),
        PeerRole::Reach { pid, fd, address } => reach(*pid, *fd, *address).into_bytes(),
    }
}

fn offer() -> Vec<u8> {
    // As the ranks do: where the Yama module lets only ancestors read a process, it may invite others.
    // SAFETY: no memory is passed; without Yama the call fails, which is fine.
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

/// Two lines: how opening the other's file went, and how reading the other's memory went.
fn reach(pid: i32, fd: i32, address: usize) -> String {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/fd/{fd}"));
    let opened = opened.and_then(|mut f| {
        let mut bytes = [0u8; 16];
        // The offering process has written it, and the new descriptor has its own offset.
        f.read_exact(&mut bytes).map(|()| bytes == *WORD)
    });
    let read = read_memory(pid, address).map(|bytes| bytes == *WORD);
    format!("{}\n{}\n", say(opened.map_err(|e| e.to_string())), say(read.map_err(|e| e.to_string())))
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

fn say(result: Result<bool, String>) -> String {
    match result {
        Ok(true) => "works".into(),
        Ok(false) => "gives other bytes than were written".into(),
        Err(why) => why,
    }
}

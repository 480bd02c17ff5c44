//! The other processes of the doctor's trials. Ranks are siblings, not parents of each other, and some
//! kernels make a difference there: so one child offers memory and another child reaches for it. A
//! third one has a system call caught.

use crate::commands::PeerRole;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;
use std::io::{IoSliceMut, Read, Write};
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
    let mut bytes = [0u8; 16];
    let read = process_vm_readv(
        Pid::from_raw(pid),
        &mut [IoSliceMut::new(&mut bytes)],
        &[RemoteIoVec { base: address, len: 16 }],
    );
    format!(
        "{}\n{}\n",
        say(opened.map_err(|e| e.to_string())),
        say(read.map(|n| n == 16 && bytes == *WORD).map_err(|e| e.desc().to_string()))
    )
}

fn say(result: Result<bool, String>) -> String {
    match result {
        Ok(true) => "works".into(),
        Ok(false) => "gives other bytes than were written".into(),
        Err(why) => why,
    }
}

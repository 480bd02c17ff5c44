//! The kernel features that evenkeel uses, each tried here and now, and what it does without each.

use rustix::fs::MemfdFlags;
use rustix::thread::futex;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU32;

/// One feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    pub name: &'static str,
    pub used_for: &'static str,
    /// Why it does not work, if it does not.
    pub trouble: Option<String>,
    pub without: &'static str,
    /// Whether evenkeel leaves every call to the host library without it.
    pub vital: bool,
}

/// Tries everything. `program` is this very program, for the trials that need another process.
pub fn trials(program: &Path) -> Vec<Trial> {
    let (opening, reading) = siblings(program);
    let trial = |name, used_for, result: Result<(), String>, without, vital| Trial {
        name,
        used_for,
        trouble: result.err(),
        without,
        vital,
    };
    vec![
        trial(
            "memfd_create",
            "the shared memory of a node, with no name in any file system",
            memfd(),
            "every call is left to the host library",
            true,
        ),
        trial(
            "opening /proc/PID/fd of a sibling",
            "joining that memory",
            opening,
            "every call is left to the host library",
            true,
        ),
        trial(
            "process_vm_readv from a sibling",
            "large messages in one copy",
            reading,
            "large messages take two copies, through the segment, and Gatherv, Scatterv, Alltoallv and Alltoallw are left to the host library",
            false,
        ),
        trial(
            "futex",
            "sleeping and being woken (--wait block)",
            futexes(),
            "waiting ranks look again and again instead of sleeping",
            false,
        ),
        trial(
            "pidfd_open",
            "noticing that a rank has died",
            pidfd(),
            "deaths are noticed by looking into /proc/PID/stat",
            false,
        ),
        trial(
            "membarrier",
            "waking sleepers without a fence at every deposit",
            membarrier(),
            "every deposit executes a fence",
            false,
        ),
        trial(
            "sched_setaffinity",
            "placing ranks on cores (--place)",
            affinity(),
            "ranks stay where the launcher put them",
            false,
        ),
        trial(
            "Syscall User Dispatch",
            "letting barriers return before all ranks have entered (--barrier)",
            catching(program),
            STRICT,
            false,
        ),
        trial(
            "sched_yield",
            "giving the core to another rank (--wait yield)",
            yielding(),
            "ranks that wait sleep instead",
            false,
        ),
    ]
}

const STRICT: &str = if cfg!(target_arch = "x86_64") {
    "every barrier waits for all ranks, unless --barrier deferred says that the program passes nothing on outside MPI"
} else {
    "every barrier waits for all ranks"
};

fn memfd() -> Result<(), String> {
    let file = rustix::fs::memfd_create("evenkeel-trial", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
        .map_err(text)?;
    rustix::fs::ftruncate(file, 1 << 20).map_err(text)
}

fn futexes() -> Result<(), String> {
    let word = AtomicU32::new(1);
    // A wait for a value that is not there must return at once and say so.
    match futex::wait(&word, futex::Flags::empty(), 0, None) {
        Err(rustix::io::Errno::AGAIN) => {}
        Err(e) => return Err(text(e)),
        Ok(()) => return Err("it waits for a value that has gone".into()),
    }
    futex::wake(&word, futex::Flags::empty(), 1).map(drop).map_err(text)
}

fn pidfd() -> Result<(), String> {
    let me = rustix::process::getpid();
    rustix::process::pidfd_open(me, rustix::process::PidfdFlags::empty()).map(drop).map_err(text)
}

fn membarrier() -> Result<(), String> {
    const QUERY: libc::c_int = 0;
    const GLOBAL_EXPEDITED: i64 = 1 << 1;
    // SAFETY: the query takes two integers, touches no memory of ours and changes nothing.
    match unsafe { libc::syscall(libc::SYS_membarrier, QUERY, 0) } {
        -1 => Err(std::io::Error::last_os_error().to_string()),
        commands if commands & GLOBAL_EXPEDITED == 0 => Err("this kernel has no expedited form of it".into()),
        _ => Ok(()),
    }
}

fn affinity() -> Result<(), String> {
    // Asking for what is already so changes nothing, and is refused where any change would be.
    let set = rustix::thread::sched_getaffinity(None).map_err(text)?;
    rustix::thread::sched_setaffinity(None, &set).map_err(text)
}

/// Whether a process can have its own system calls caught.
fn catching(program: &Path) -> Result<(), String> {
    let said = Command::new(program)
        .args(["doctor-peer", "catch"])
        .output()
        .map_err(|e| format!("the trial's process cannot be started: {e}"))?;
    match String::from_utf8_lossy(&said.stdout).trim() {
        "works" => Ok(()),
        "" => Err(format!("the trial's process ended early: {}", said.status)),
        why => Err(why.to_string()),
    }
}

fn yielding() -> Result<(), String> {
    rustix::thread::sched_yield();
    Ok(())
}

/// Whether a process can open a file of its sibling and read its memory.
fn siblings(program: &Path) -> (Result<(), String>, Result<(), String>) {
    match try_siblings(program) {
        Ok(both) => both,
        Err(why) => (Err(why.clone()), Err(why)),
    }
}

type Both = (Result<(), String>, Result<(), String>);

fn try_siblings(program: &Path) -> Result<Both, String> {
    let mut offering = Offering(
        Command::new(program)
            .args(["doctor-peer", "offer"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("the trial's process cannot be started: {e}"))?,
    );
    let mut line = String::new();
    let out = offering.0.stdout.take().ok_or("the trial's process says nothing")?;
    BufReader::new(out).read_line(&mut line).map_err(|e| e.to_string())?;
    let where_: Vec<&str> = line.split_whitespace().collect();
    if where_.len() != 3 {
        return Err("the trial's process ended early".into());
    }
    let reached = Command::new(program).args(["doctor-peer", "reach"]).arg("--").args(where_).output();
    let said = String::from_utf8_lossy(&reached.map_err(|e| e.to_string())?.stdout).into_owned();
    let mut results = said.lines().map(|l| if l == "works" { Ok(()) } else { Err(l.to_string()) });
    let mut next = || results.next().unwrap_or_else(|| Err("the trial's process ended early".into()));
    Ok((next(), next()))
}

/// The offering process; ends when this side of its standard input is closed.
struct Offering(Child);

impl Drop for Offering {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn text(error: rustix::io::Errno) -> String {
    std::io::Error::from(error).to_string()
}

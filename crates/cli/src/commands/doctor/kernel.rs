//! The kernel features that evenkeel uses, each tried now, and what evenkeel does without it.

use rustix::fs::MemfdFlags;
use rustix::thread::futex;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicU32;
use thiserror::Error;

/// The trial of one feature.
#[derive(Debug)]
pub struct Trial {
    /// The feature's name in the kernel's documentation.
    pub name: &'static str,
    /// What evenkeel uses it for.
    pub used_for: &'static str,
    /// Whether it works.
    pub result: Result<(), TrialError>,
    /// What evenkeel does without it.
    pub without: &'static str,
}

/// Why a feature does not work.
#[derive(Clone, Debug, Error)]
#[error("{0}")]
pub struct TrialError(String);

impl From<std::io::Error> for TrialError {
    fn from(error: std::io::Error) -> TrialError {
        TrialError(error.to_string())
    }
}

impl From<rustix::io::Errno> for TrialError {
    fn from(error: rustix::io::Errno) -> TrialError {
        std::io::Error::from(error).into()
    }
}

impl Trial {
    /// Whether evenkeel can do nothing on this machine because the feature does not work.
    pub fn leaves_evenkeel_unusable(&self) -> bool {
        self.result.is_err() && self.without == LEFT_TO_HOST
    }
}

const LEFT_TO_HOST: &str = "every call is left to the host library";
const TWO_COPIES: &str = "large messages take two copies, through the segment, and Gatherv, Scatterv, \
                          Alltoallv and Alltoallw are left to the host library";
const STRICT: &str = if cfg!(target_arch = "x86_64") {
    "every barrier waits for all ranks, unless --barrier deferred promises that the program exchanges \
     nothing outside MPI"
} else {
    "every barrier waits for all ranks"
};

/// Tries every feature. `program` is this program, which trials start that need another process.
pub fn trials(program: &Path) -> Vec<Trial> {
    shared_memory(program).into_iter().chain(waiting(program)).collect()
}

/// The features by which ranks share memory.
fn shared_memory(program: &Path) -> [Trial; 3] {
    let (opening, reading) = match try_siblings(program) {
        Ok(results) => (results.opening, results.reading),
        Err(error) => (Err(error.clone()), Err(error)),
    };
    [
        Trial {
            name: "memfd_create",
            used_for: "the shared memory of a node, with no name in any file system",
            result: try_memfd(),
            without: LEFT_TO_HOST,
        },
        Trial {
            name: "opening /proc/PID/fd of a sibling",
            used_for: "joining that memory",
            result: opening,
            without: LEFT_TO_HOST,
        },
        Trial {
            name: "process_vm_readv from a sibling",
            used_for: "large messages in one copy",
            result: reading,
            without: TWO_COPIES,
        },
    ]
}

/// The features by which ranks wait, are placed, and are observed.
fn waiting(program: &Path) -> [Trial; 6] {
    [
        Trial {
            name: "futex",
            used_for: "sleeping and being woken (--wait block)",
            result: try_futex(),
            without: "waiting ranks poll instead of sleeping",
        },
        Trial {
            name: "pidfd_open",
            used_for: "noticing that a rank has died",
            result: try_pidfd(),
            without: "evenkeel reads /proc/PID/stat to notice deaths",
        },
        Trial {
            name: "membarrier",
            used_for: "waking sleepers without a fence at every deposit",
            result: try_membarrier(),
            without: "every deposit executes a fence",
        },
        Trial {
            name: "sched_setaffinity",
            used_for: "placing ranks on cores (--place)",
            result: try_affinity(),
            without: "ranks stay where the launcher put them",
        },
        Trial {
            name: "Syscall User Dispatch",
            used_for: "letting barriers return before all ranks have entered (--barrier)",
            result: try_system_call_dispatch(program),
            without: STRICT,
        },
        Trial {
            name: "sched_yield",
            used_for: "giving the core to another rank (--wait yield)",
            result: try_yield(),
            without: "waiting ranks sleep instead",
        },
    ]
}

fn try_memfd() -> Result<(), TrialError> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = rustix::fs::memfd_create("evenkeel-trial", flags)?;
    Ok(rustix::fs::ftruncate(file, 1 << 20)?)
}

fn try_futex() -> Result<(), TrialError> {
    let word = AtomicU32::new(1);
    // A wait for a value that the word does not have must return at once with EAGAIN.
    match futex::wait(&word, futex::Flags::empty(), 0, None) {
        Err(rustix::io::Errno::AGAIN) => {}
        Err(error) => return Err(error.into()),
        Ok(()) => return Err(TrialError("it waits although the value has changed".into())),
    }
    futex::wake(&word, futex::Flags::empty(), 1)?;
    Ok(())
}

fn try_pidfd() -> Result<(), TrialError> {
    rustix::process::pidfd_open(rustix::process::getpid(), rustix::process::PidfdFlags::empty())?;
    Ok(())
}

fn try_membarrier() -> Result<(), TrialError> {
    const QUERY: libc::c_int = 0;
    const GLOBAL_EXPEDITED: i64 = 1 << 1;
    // SAFETY: the query takes two integers, accesses no memory and changes nothing.
    match unsafe { libc::syscall(libc::SYS_membarrier, QUERY, 0) } {
        -1 => Err(std::io::Error::last_os_error().into()),
        commands if commands & GLOBAL_EXPEDITED == 0 => {
            Err(TrialError("this kernel lacks its expedited form".into()))
        }
        _ => Ok(()),
    }
}

fn try_affinity() -> Result<(), TrialError> {
    // Setting the affinity that the process has changes nothing, and is refused where any change would be.
    let set = rustix::thread::sched_getaffinity(None)?;
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

fn try_yield() -> Result<(), TrialError> {
    rustix::thread::sched_yield();
    Ok(())
}

/// Whether a process can have its own system calls caught, tried in a process of its own.
fn try_system_call_dispatch(program: &Path) -> Result<(), TrialError> {
    let output = Command::new(program).args(["doctor-peer", "catch"]).output().map_err(not_started)?;
    match String::from_utf8_lossy(&output.stdout).trim() {
        "works" => Ok(()),
        "" => Err(TrialError(format!("the trial's process ended early: {}", output.status))),
        why => Err(TrialError(why.to_string())),
    }
}

/// What a process can do to its sibling.
struct SiblingResults {
    /// Opening one of its files.
    opening: Result<(), TrialError>,
    /// Reading its memory.
    reading: Result<(), TrialError>,
}

fn try_siblings(program: &Path) -> Result<SiblingResults, TrialError> {
    let ended_early = || TrialError("the trial's process ended early".into());
    let mut command = Command::new(program);
    command.args(["doctor-peer", "offer"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut offering = OfferingProcess(command.spawn().map_err(not_started)?);
    let mut line = String::new();
    BufReader::new(offering.0.stdout.take().expect("it is a pipe")).read_line(&mut line)?;
    let offered: Vec<&str> = line.split_whitespace().collect();
    if offered.len() != 3 {
        return Err(ended_early());
    }
    let reached = Command::new(program).args(["doctor-peer", "reach", "--"]).args(offered).output()?;
    let lines = String::from_utf8_lossy(&reached.stdout).into_owned();
    let mut results =
        lines.lines().map(|line| if line == "works" { Ok(()) } else { Err(TrialError(line.to_string())) });
    let mut next = || results.next().unwrap_or_else(|| Err(ended_early()));
    Ok(SiblingResults { opening: next(), reading: next() })
}

/// The process that offers memory. It ends when this side of its standard input is closed.
struct OfferingProcess(Child);

impl Drop for OfferingProcess {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

fn not_started(error: std::io::Error) -> TrialError {
    TrialError(format!("the trial's process cannot be started: {error}"))
}

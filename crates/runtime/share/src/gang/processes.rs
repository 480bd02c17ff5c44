//! Which processes are switched.

use super::control_group::numbers;
use crate::process_id::stat;
use std::path::PathBuf;

/// Programs that start ranks, by the beginning of their names. They go on outside of turns.
const LAUNCHERS: [&str; 9] =
    ["mpirun", "mpiexec", "orterun", "orted", "prterun", "prte", "hydra_", "evenkeel-agent", "evenkeel"];

/// The process below which the ranks are.
#[derive(Clone, Debug)]
pub(crate) struct Root {
    pid: i32,
    /// evenkeel's own program: its processes are launchers, too.
    own_program: Option<PathBuf>,
}

impl Root {
    pub(crate) fn new(pid: i32) -> Root {
        Root { pid, own_program: program(std::process::id() as i32) }
    }

    pub(crate) fn pid(&self) -> i32 {
        self.pid
    }

    /// Whether a process is one that starts ranks, or has become none yet.
    pub(crate) fn is_launcher(&self, pid: i32) -> bool {
        let Some(program) = program(pid) else { return true }; // it has ended, or is the kernel's
        if pid == self.pid || Some(&program) == self.own_program.as_ref() {
            return true;
        }
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        LAUNCHERS.iter().any(|launcher| name.starts_with(launcher))
    }

    /// The processes below the root, without launchers. One whose parent has ended is found only if that was a
    /// process of evenkeel's, which becomes the parent of such.
    pub(crate) fn descendants(&self) -> Vec<i32> {
        let (mut found, mut open) = (Vec::new(), vec![self.pid]);
        while let Some(pid) = open.pop() {
            let children = children(pid);
            open.extend(children.iter().filter(|child| !found.contains(*child)));
            if pid != self.pid && !self.is_launcher(pid) {
                found.push(pid);
            }
        }
        found
    }
}

fn program(pid: i32) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/{pid}/exe")).ok()
}

fn children(pid: i32) -> Vec<i32> {
    let threads = threads(pid).into_iter();
    threads
        .flat_map(|thread| {
            numbers(
                &std::fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")).unwrap_or_default(),
            )
        })
        .collect()
}

/// The threads of a process.
pub(super) fn threads(pid: i32) -> Vec<i32> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Whether a thread runs or is ready to.
pub(super) fn thread_runs(thread: i32) -> bool {
    // By this path the kernel does not add up all threads of the process.
    stat(&format!("/proc/{thread}/task/{thread}/stat")).is_some_and(|fields| fields[0] == "R")
}

/// Whether a signal has stopped a process.
pub(super) fn is_stopped(pid: i32) -> bool {
    stat(&format!("/proc/{pid}/task/{pid}/stat")).is_some_and(|fields| fields[0] == "T")
}

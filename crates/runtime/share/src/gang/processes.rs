//! Which processes are switched.

use super::control_group::numbers;
use crate::process_id::stat;
use std::fs::File;
use std::os::unix::fs::FileExt;
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

    /// The processes below the root, without launchers. One whose parent has ended is found only if that was
    /// a process of evenkeel's, which becomes the parent of such.
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

/// The variable in which the processes of a job that takes turns have the number of the process that has
/// started it.
pub const JOB_VARIABLE: &str = "EVENKEEL_SHARE_JOB";

/// All processes of the job that this process has started, also those that are no longer below it. Takes
/// milliseconds.
pub(super) fn marked(starter: i32) -> Vec<i32> {
    let mark = format!("{JOB_VARIABLE}={starter}");
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_marked = |pid: &i32| {
        let variables = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        variables.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
    };
    pids.filter(is_marked).collect()
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

/// The threads of a process that run or are ready to.
pub(super) fn running(threads: impl IntoIterator<Item = i32>) -> Vec<i32> {
    threads.into_iter().filter(|thread| thread_runs(*thread)).collect()
}

fn thread_runs(thread: i32) -> bool {
    stat(&stat_file(thread)).is_some_and(|fields| fields[0] == "R")
}

/// By this path the kernel does not add up all threads of the process.
fn stat_file(thread: i32) -> String {
    format!("/proc/{thread}/task/{thread}/stat")
}

/// A thread that ran at the last look, and is likely to run at the next one: so that most looks cost one
/// system call.
pub(super) struct LikelyThread {
    thread: i32,
    stat: File,
    is_only: bool,
    looks: u32,
}

/// After so many looks all threads are looked at again.
const LIKELY_LOOKS: u32 = 32;

/// The threads of a process that run, as `all` finds them, or the one that is likely to.
pub(super) fn look(likely: &mut Option<LikelyThread>, all: impl FnOnce() -> Option<Vec<i32>>) -> Running {
    if let Some(known) = likely.as_mut().filter(|known| known.looks < LIKELY_LOOKS && known.runs()) {
        known.looks += 1;
        return if known.is_only { Running::One(known.thread) } else { Running::Several };
    }
    *likely = None;
    match all() {
        None => Running::Several,
        Some(threads) => match threads.first() {
            None => Running::None,
            Some(thread) => {
                let is_only = threads.len() == 1;
                let stat = File::open(stat_file(*thread)).ok();
                *likely = stat.map(|stat| LikelyThread { thread: *thread, stat, is_only, looks: 0 });
                if is_only { Running::One(*thread) } else { Running::Several }
            }
        },
    }
}

/// Which threads of a process run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Running {
    None,
    One(i32),
    /// Or it cannot be told.
    Several,
}

impl Running {
    pub(super) fn only(self) -> Option<i32> {
        if let Running::One(thread) = self { Some(thread) } else { None }
    }
}

impl LikelyThread {
    fn runs(&self) -> bool {
        let mut text = [0; 64];
        // If the thread has ended, its file cannot be read.
        let read = self.stat.read_at(&mut text, 0).unwrap_or(0);
        let text = &text[..read];
        // `pid (name) R`: a name has at most 15 bytes, and may contain a parenthesis.
        text.iter().rposition(|byte| *byte == b')').and_then(|end| text.get(end + 2)) == Some(&b'R')
    }
}

/// Whether a signal has stopped a process.
pub(super) fn is_stopped(pid: i32) -> bool {
    stat(&format!("/proc/{pid}/task/{pid}/stat")).is_some_and(|fields| fields[0] == "T")
}

//! Finds the processes that are the ranks of a run, by their environment.

use evenkeel_options::LAUNCHERS_RANK;
use std::path::Path;

/// A process of this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// The number of its parent.
    pub parent: i32,
    /// As in /proc/PID/environ: `NAME=value`, each followed by a zero byte.
    pub environ: Vec<u8>,
}

/// Rank number and process number of all ranks whose variable `mark` has the value `token`, sorted.
///
/// A rank that a script has started counts, the script does not: of the marked processes those count that are
/// not the parent of another marked one.
pub fn of(processes: &[Process], mark: &str, token: &str) -> Vec<(usize, i32)> {
    let marked: Vec<&Process> = processes.iter().filter(|p| value(&p.environ, mark) == Some(token)).collect();
    let leaves = marked.iter().filter(|p| !marked.iter().any(|child| child.parent == p.pid));
    let mut found: Vec<(usize, i32)> = leaves
        .filter_map(|p| {
            Some((LAUNCHERS_RANK.iter().find_map(|n| value(&p.environ, n)?.parse().ok())?, p.pid))
        })
        .collect();
    found.sort_unstable();
    found
}

fn value<'a>(environ: &'a [u8], name: &str) -> Option<&'a str> {
    let mut entries = environ.split(|b| *b == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
    entries.find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='))
}

/// All processes of this machine whose environment this user may read.
pub fn processes() -> Vec<Process> {
    let Ok(entries) = Path::new("/proc").read_dir() else { return Vec::new() };
    let pids = entries.flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter_map(process).collect()
}

fn process(pid: i32) -> Option<Process> {
    let environ = std::fs::read(format!("/proc/{pid}/environ")).ok().filter(|e| !e.is_empty())?;
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name, which may contain blanks and parentheses.
    let parent = stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?;
    Some(Process { pid, parent, environ })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, parent: i32, environ: &str) -> Process {
        Process { pid, parent, environ: environ.replace(' ', "\0").into_bytes() }
    }

    #[test]
    fn scripts_launchers_and_other_runs_are_not_ranks() {
        let all = [
            process(1, 0, "HOME=/ "),
            process(10, 1, "A=1 MARK=t PMI_RANK=1 "),
            process(11, 1, "MARK=t OMPI_COMM_WORLD_RANK=0 PMIX_RANK=7 "),
            process(12, 11, "MARK=t OMPI_COMM_WORLD_RANK=0 "),
            process(13, 1, "MARK=other PMI_RANK=2 "),
            process(14, 1, "MARK=t "),
            process(15, 1, "NOMARK=t PMI_RANK=3 "),
        ];
        assert_eq!(of(&all, "MARK", "t"), [(0, 12), (1, 10)]);
        assert_eq!(of(&all, "MARK", "none"), []);
    }

    #[test]
    fn this_process_is_found() {
        let me = std::process::id() as i32;
        assert!(processes().iter().any(|p| p.pid == me));
    }
}

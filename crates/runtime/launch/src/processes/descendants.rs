//! All processes below this one.
//!
//! This process is a subreaper: a process whose parent ends becomes its child. So whatever ranks start is
//! found by walking down from here, whether it has forked twice, called `setsid`, or cleared its environment.

use crate::signals;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

/// A process, by its number and its parent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    is_ended: bool,
}

/// `pid (name) state parent …`. The name may contain blanks and parentheses.
fn parse(stat: &str) -> Option<Process> {
    let pid = stat.split(' ').next()?.parse().ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let is_ended = matches!(fields.next()?, "Z" | "X");
    Some(Process { pid, parent: fields.next()?.parse().ok()?, is_ended })
}

fn all() -> Vec<Process> {
    let Ok(entries) = Path::new("/proc").read_dir() else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let stats = pids.filter_map(|pid| std::fs::read_to_string(format!("/proc/{pid}/stat")).ok());
    stats.filter_map(|stat| parse(&stat)).collect()
}

/// The processes below `root` that have not ended, without those in `except` and what is below these.
fn below(processes: &[Process], root: i32, except: &HashSet<i32>) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<Process>> = HashMap::new();
    for process in processes {
        children.entry(process.parent).or_default().push(*process);
    }
    let (mut found, mut open) = (Vec::new(), vec![root]);
    while let Some(parent) = open.pop() {
        for child in children.remove(&parent).unwrap_or_default() {
            if except.contains(&child.pid) {
                continue;
            }
            open.push(child.pid);
            if !child.is_ended {
                found.push(child.pid);
            }
        }
    }
    found
}

fn own_descendants(except: &HashSet<i32>) -> Vec<i32> {
    below(&all(), std::process::id() as i32, except)
}

/// The processes below this one at this moment: none of them is the job's if the job has not started.
pub(crate) fn own_children() -> HashSet<i32> {
    own_descendants(&HashSet::new()).into_iter().collect()
}

/// Sends a signal to all processes below this one but those in `except`. Returns whether there was any.
pub(crate) fn signal_all(number: i32, except: &HashSet<i32>) -> bool {
    let found = own_descendants(except);
    for pid in &found {
        send(*pid, number);
    }
    !found.is_empty()
}

/// Ends all processes below this one but those in `except`, and returns when they have ended.
///
/// They are stopped first, until no new one is found: a process that forks all the time would otherwise stay
/// ahead. One that is in uninterruptible sleep ends when that sleep does.
pub(crate) fn end_all(except: &HashSet<i32>) {
    let mut stopped = HashSet::new();
    loop {
        let new: Vec<i32> = own_descendants(except).into_iter().filter(|pid| stopped.insert(*pid)).collect();
        if new.is_empty() {
            break;
        }
        new.into_iter().for_each(|pid| send(pid, libc::SIGSTOP));
    }
    while signal_all(libc::SIGKILL, except) {
        while reap().is_some() {}
        std::thread::sleep(Duration::from_millis(1));
    }
    while reap().is_some() {}
}

fn send(pid: i32, number: i32) {
    if let Some(pid) = Pid::from_raw(pid) {
        signals::send(pid, number);
    }
}

/// One child of this process that has ended, if there is one, and how it ended.
pub(crate) fn reap() -> Option<(Pid, WaitStatus)> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Err(rustix::io::Errno::INTR) => {}
            ended => return ended.ok().flatten(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_parentheses_are_read() {
        let process = Process { pid: 12, parent: 7, is_ended: false };
        assert_eq!(parse("12 (a b) Z) c) S 7 12 12 0"), Some(process));
        assert_eq!(parse("12 (a) Z 7 1"), Some(Process { is_ended: true, ..process }));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn all_below_are_found_but_those_that_are_not_of_the_job() {
        let process = |pid, parent| Process { pid, parent, is_ended: pid == 4 };
        let all = [process(2, 1), process(3, 2), process(4, 2), process(5, 4), process(6, 1), process(7, 6)];
        let mut found = below(&all, 1, &HashSet::from([6]));
        found.sort();
        // Process 4 has ended and is not reaped yet; 5 is still its child for a moment.
        assert_eq!(found, [2, 3, 5]);
    }
}

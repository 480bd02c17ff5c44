//! All processes below this one.
//!
//! This process is a subreaper: a process whose parent ends becomes its child. So whatever ranks start is
//! found by walking down from here, whether it has forked twice, called `setsid`, or cleared its environment.
//!
//! A look at /proc takes milliseconds. A process that forks and ends all the time is another one by then: it
//! may be missed although it is there, and a signal to its number comes too late. So the kernel is asked
//! whether nothing is left, and signals go to process groups, whose members the kernel signals all at once.

use crate::signals;
use rustix::process::{Pid, WaitId, WaitIdOptions, WaitOptions, WaitStatus, wait, waitid};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// A process, by its number, its parent's and its group's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    is_ended: bool,
}

/// `pid (name) state parent group …`. The name may contain blanks and parentheses.
fn parse(stat: &str) -> Option<Process> {
    let pid = stat.split(' ').next()?.parse().ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let is_ended = matches!(fields.next()?, "Z" | "X");
    let mut number = || fields.next()?.parse().ok();
    Some(Process { pid, parent: number()?, group: number()?, is_ended })
}

fn all() -> Vec<Process> {
    let Ok(entries) = Path::new("/proc").read_dir() else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(read).collect()
}

fn read(pid: i32) -> Option<Process> {
    parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
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

/// The groups of these processes in which there is no other process.
fn groups_of(processes: &[Process], found: &HashSet<i32>) -> HashSet<i32> {
    let living = || processes.iter().filter(|process| !process.is_ended);
    let theirs = living().filter(|process| found.contains(&process.pid)).map(|process| process.group);
    let others = living().filter(|process| !found.contains(&process.pid)).map(|process| process.group);
    let others: HashSet<i32> = others.collect();
    theirs.filter(|group| !others.contains(group)).collect()
}

/// The processes below this one at this moment: none of them is the job's if the job has not started.
pub(crate) fn own_children() -> HashSet<i32> {
    below(&all(), own_pid(), &HashSet::new()).into_iter().collect()
}

fn own_pid() -> i32 {
    std::process::id() as i32
}

/// Sends a signal to all processes below this one but those in `except`. Returns whether any was found.
pub(crate) fn signal_all(number: i32, except: &HashSet<i32>) -> bool {
    let found = below(&all(), own_pid(), except);
    found.iter().for_each(|pid| send(*pid, number));
    !found.is_empty()
}

/// Sends a signal to all processes below this one that are found, and to their groups, and returns these
/// processes. They get it twice, so it must be one that nothing handles.
fn signal_with_groups(number: i32, except: &HashSet<i32>) -> HashSet<i32> {
    let processes = all();
    let found: HashSet<i32> = below(&processes, own_pid(), except).into_iter().collect();
    for group in groups_of(&processes, &found) {
        signals::send_to_group(group, number);
    }
    found.iter().for_each(|pid| send(*pid, number));
    found
}

/// Processes below this one get SIGTERM, and SIGKILL after a while.
pub(crate) fn end_leftovers(grace: Duration) {
    let nothing = HashSet::new();
    if nothing_is_left(&nothing) {
        return;
    }
    let until = Instant::now() + grace;
    if signal_all(libc::SIGTERM, &nothing) {
        while Instant::now() < until && !nothing_is_left(&nothing) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    end_all(&nothing);
}

/// Ends all processes below this one but those in `except`, and returns when they have ended.
///
/// They are stopped first, until no new one is found, so that none starts others in place of those that end.
/// One that is in uninterruptible sleep ends when that sleep does.
pub(crate) fn end_all(except: &HashSet<i32>) {
    let mut stopped = HashSet::new();
    loop {
        let found = signal_with_groups(libc::SIGSTOP, except);
        if found.is_subset(&stopped) {
            break;
        }
        stopped.extend(found);
    }
    while !nothing_is_left(except) {
        signal_with_groups(libc::SIGKILL, except);
        kill_newest_children(except);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Whether nothing runs below this process but those in `except`. Reaps those that have ended.
///
/// A process below this one is its child, or has an ancestor that runs and is one. So it is enough to know
/// whether there are children.
fn nothing_is_left(except: &HashSet<i32>) -> bool {
    while reap().is_some() {}
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    match waitid(WaitId::All, options) {
        Err(rustix::io::Errno::CHILD) => true,
        _ => !except.is_empty() && children().iter().all(|pid| except.contains(pid)),
    }
}

/// This process's children as the kernel lists them, oldest first, with those that have ended and are not
/// reaped. Kernels without CONFIG_PROC_CHILDREN have no such list; then what a look at /proc finds.
fn children() -> Vec<i32> {
    let tasks = Path::new("/proc/self/task").read_dir().into_iter().flatten().flatten();
    let lists = tasks.map(|task| std::fs::read_to_string(task.path().join("children")));
    let lists: Result<Vec<String>, _> = lists.collect();
    let Ok(lists) = lists else {
        let is_child = |process: &Process| process.parent == own_pid();
        return all().into_iter().filter(is_child).map(|process| process.pid).collect();
    };
    lists.iter().flat_map(|list| list.split_ascii_whitespace()).filter_map(|pid| pid.parse().ok()).collect()
}

/// Kills the youngest children, again and again for a moment. One that makes a group of its own for each
/// process that it forks is met by luck only; from the look to the signal this takes microseconds, so it is
/// lucky often.
fn kill_newest_children(except: &HashSet<i32>) {
    for _ in 0..100 {
        let children = children();
        let Some(newest) = children.iter().rev().find(|pid| !except.contains(pid)) else { return };
        send(*newest, libc::SIGKILL);
    }
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
        let process = Process { pid: 12, parent: 7, group: 12, is_ended: false };
        assert_eq!(parse("12 (a b) Z) c) S 7 12 12 0"), Some(process));
        assert_eq!(parse("12 (a) Z 7 12 1"), Some(Process { is_ended: true, ..process }));
        assert_eq!(parse(""), None);
    }

    #[test]
    fn all_below_are_found_but_those_that_are_not_of_the_job() {
        let process = |pid, parent| Process { pid, parent, group: pid, is_ended: pid == 4 };
        let all = [process(2, 1), process(3, 2), process(4, 2), process(5, 4), process(6, 1), process(7, 6)];
        let mut found = below(&all, 1, &HashSet::from([6]));
        found.sort();
        // Process 4 has ended and is not reaped yet; 5 is still its child for a moment.
        assert_eq!(found, [2, 3, 5]);
    }

    #[test]
    fn a_group_with_another_process_is_left_alone() {
        let process = |pid, group| Process { pid, parent: 1, group, is_ended: pid == 5 };
        // 2 and 3 share a group with 5, which has ended; 4 is in a group with 6, which is not the job's.
        let all = [process(2, 2), process(3, 2), process(5, 2), process(4, 9), process(6, 9)];
        assert_eq!(groups_of(&all, &HashSet::from([2, 3, 4])), HashSet::from([2]));
    }
}

//! What the kernel says about a process.

use crate::machine::control_groups;
use evenkeel_share::JOB_VARIABLE;
use evenkeel_text::units::bytes;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the first thread of a process does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Activity {
    /// It runs, or is ready to.
    Running,
    /// It sleeps, in this system call if that is known.
    Sleeping(Option<String>),
    /// The same, and no signal can wake it.
    Uninterruptible(Option<String>),
    /// The kernel reads memory that it has touched: from swap space, or from a file.
    Paging {
        /// How much of its memory is in swap space.
        swapped_out_bytes: u64,
    },
    /// A signal has stopped it, as SIGSTOP does.
    Stopped,
    /// It stands still while other jobs have their turn.
    BetweenTurns,
    /// A debugger has stopped it.
    Traced,
    /// It is over.
    Exited,
}

impl Activity {
    /// As a part of a sentence: `it is …`.
    pub fn words(&self) -> String {
        let of = |call: &Option<String>| call.as_ref().map_or(String::new(), |call| format!(" in {call}"));
        match self {
            Activity::Running => "running".into(),
            Activity::Sleeping(call) => format!("sleeping{}", of(call)),
            Activity::Uninterruptible(call) => format!("sleeping uninterruptibly{}", of(call)),
            Activity::Paging { swapped_out_bytes: 0 } => "waiting for memory that is read from a file".into(),
            Activity::Paging { swapped_out_bytes } => {
                format!("swapping ({} of its memory are in swap space)", bytes(*swapped_out_bytes))
            }
            Activity::Stopped => "stopped (SIGSTOP)".into(),
            Activity::BetweenTurns => "waiting for its turn (--share)".into(),
            Activity::Traced => "stopped by a debugger".into(),
            Activity::Exited => "exited".into(),
        }
    }

    /// All that [`Activity::word`] says.
    pub const WORDS: [&str; 7] =
        ["running", "sleeping", "uninterruptible", "stopped", "between-turns", "traced", "exited"];

    /// For machines: one of [`Activity::WORDS`].
    pub fn word(&self) -> &'static str {
        match self {
            Activity::Running => "running",
            Activity::Sleeping(_) => "sleeping",
            Activity::Uninterruptible(_) => "uninterruptible",
            Activity::Paging { .. } => "paging",
            Activity::Stopped => "stopped",
            Activity::BetweenTurns => "between-turns",
            Activity::Traced => "traced",
            Activity::Exited => "exited",
        }
    }
}

fn file(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

/// The start is the 22nd field of the line of `stat`, the state the third.
const STARTED: usize = 22 - 3;

/// The fields of /proc/PID/stat from the third on: the state is the first.
fn stat(pid: u32) -> Option<Vec<String>> {
    stat_of(&file(pid, "stat"))
}

fn stat_of(file: &Path) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(file).ok()?;
    // The second field is the program's name, which may contain blanks and parentheses.
    Some(text.rsplit_once(") ")?.1.split(' ').map(str::to_string).collect())
}

/// What the process does.
pub fn activity(pid: u32) -> Activity {
    let Some(stat) = stat(pid) else { return Activity::Exited };
    let read = |name| std::fs::read_to_string(file(pid, name)).unwrap_or_default();
    match stat[0].as_str() {
        "R" => Activity::Running,
        "D" => uninterruptible(&read("syscall"), &read("wchan"), &read("status")),
        "T" if is_between_turns(pid) => Activity::BetweenTurns,
        "T" => Activity::Stopped,
        "t" => Activity::Traced,
        "Z" | "X" => Activity::Exited,
        _ if is_frozen_between_turns(&read("cgroup")) => Activity::BetweenTurns,
        _ => Activity::Sleeping(system_call(&read("syscall"), &read("wchan"))),
    }
}

/// The process that has started the job of this one, if the job takes turns.
pub fn sharing_job(pid: u32) -> Option<u32> {
    let (_, value) = environment(pid).into_iter().find(|(name, _)| name == JOB_VARIABLE)?;
    value.parse().ok()
}

/// Whether a process that is stopped goes on by itself: a person would have stopped what has started the job,
/// too.
fn is_between_turns(pid: u32) -> bool {
    let starter = sharing_job(pid).and_then(stat);
    starter.is_some_and(|stat| stat[0] != "T")
}

/// Whether the control group of a process is one of those that are frozen between turns, and is frozen.
fn is_frozen_between_turns(cgroup: &str) -> bool {
    let Some(group) = cgroup.lines().find_map(|line| line.strip_prefix("0::")) else { return false };
    if !group.contains("/evenkeel-share-") {
        return false;
    }
    let mountinfo = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let directories = control_groups::directories(cgroup, &mountinfo, "");
    let events = directories.first().map(|directory| directory.join("cgroup.events"));
    let events = events.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    events.lines().any(|line| line == "frozen 1")
}

/// What a process in uninterruptible sleep does. In no system call, it has touched memory that the kernel
/// must read first.
fn uninterruptible(syscall: &str, wchan: &str, status: &str) -> Activity {
    if !syscall.starts_with("-1") {
        return Activity::Uninterruptible(system_call(syscall, wchan));
    }
    let line = status.lines().find_map(|line| line.strip_prefix("VmSwap:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Activity::Paging { swapped_out_bytes: kilobytes.unwrap_or(0) << 10 }
}

/// The system call that the process sleeps in, or the place in the kernel, from what /proc says.
fn system_call(syscall: &str, wchan: &str) -> Option<String> {
    let number = syscall.split(' ').next().and_then(|number| number.trim().parse::<i64>().ok());
    if let Some(number) = number.filter(|number| *number >= 0) {
        let known = syscalls::Sysno::new(number as usize);
        return Some(
            known.map_or_else(|| format!("system call {number}"), |call| format!("`{}`", call.name())),
        );
    }
    let place = wchan.trim();
    (!place.is_empty() && place != "0").then(|| format!("the kernel's {place}"))
}

/// A thread, and what it sleeps in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadState {
    tid: u32,
    state: char,
    /// The system call and its arguments, as /proc has them.
    call: String,
    /// How often it has lost or given up its core.
    switches: u64,
}

impl ThreadState {
    /// Whether it sleeps on a private futex without a time limit, as in `pthread_cond_wait`.
    pub fn sleeps_until_woken(&self) -> bool {
        const WAIT: u64 = 0;
        const WAIT_BITSET: u64 = 9;
        const PRIVATE: u64 = 128;
        const COMMAND: u64 = 127;
        let mut words = self.call.split_whitespace();
        let number = words.next().and_then(|number| number.parse::<usize>().ok());
        let argument = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok();
        let arguments: Option<Vec<u64>> = words.map(argument).collect();
        let Some([_, operation, _, limit, ..]) = arguments.as_deref() else { return false };
        self.state == 'S'
            && number == Some(syscalls::Sysno::futex as usize)
            && matches!(operation & COMMAND, WAIT | WAIT_BITSET)
            && operation & PRIVATE != 0
            && *limit == 0
    }
}

/// The numbers of its threads, in order.
pub fn threads(pid: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(file(pid, "task")) else { return Vec::new() };
    let mut tids: Vec<u32> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    tids.sort_unstable();
    tids
}

/// What a thread does; None if it has ended, or the kernel does not tell.
pub fn thread(pid: u32, tid: u32) -> Option<ThreadState> {
    let read = |name: &str| std::fs::read_to_string(file(pid, &format!("task/{tid}/{name}"))).ok();
    let status = read("status")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(line.trim().to_string())
    };
    let number = |name: &str| field(name)?.parse::<u64>().ok();
    Some(ThreadState {
        tid,
        state: field("State")?.chars().next()?,
        call: read("syscall")?,
        switches: number("voluntary_ctxt_switches")? + number("nonvoluntary_ctxt_switches")?,
    })
}

/// When a thread was started, in ns since the machine was; to a hundredth of a second.
pub fn thread_start_ns(pid: u32, tid: u32) -> Option<u64> {
    let ticks: u64 = stat_of(&file(pid, &format!("task/{tid}/stat")))?.get(STARTED)?.parse().ok()?;
    Some(ticks.saturating_mul(1_000_000_000 / rustix::param::clock_ticks_per_second()))
}

/// The number of the parent.
pub fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.get(1)?.parse().ok().filter(|parent| *parent > 0)
}

/// For how long the process has existed.
pub fn age(pid: u32) -> Option<Duration> {
    let ticks: f64 = stat(pid)?.get(STARTED)?.parse().ok()?;
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split(' ').next()?.parse().ok()?;
    let started = ticks / rustix::param::clock_ticks_per_second() as f64;
    Some(Duration::from_secs_f64((uptime - started).max(0.0)))
}

/// The processor time of all its threads so far; None if it has ended.
pub fn processor_time(pid: u32) -> Option<Duration> {
    /// Time in the program and in the kernel are the 14th and 15th field of the line, the state the third.
    const TIMES: std::ops::Range<usize> = 14 - 3..16 - 3;
    let ticks: f64 = stat(pid)?.get(TIMES)?.iter().filter_map(|field| field.parse::<f64>().ok()).sum();
    Some(Duration::from_secs_f64(ticks / rustix::param::clock_ticks_per_second() as f64))
}

/// The words of its command line.
pub fn command_line(pid: u32) -> Vec<String> {
    let bytes = std::fs::read(file(pid, "cmdline")).unwrap_or_default();
    let words = bytes.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Its environment, as it was when it started its program.
pub fn environment(pid: u32) -> Vec<(String, String)> {
    let bytes = std::fs::read(file(pid, "environ")).unwrap_or_default();
    let variables = bytes.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    variables.filter_map(|it| it.split_once('=').map(|(name, value)| (name.into(), value.into()))).collect()
}

/// The number by which the process knows itself, which differs where it has a PID namespace of its own.
pub fn own_number(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(file(pid, "status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
}

/// Whether the process counts as one of this host. A process with a host name of its own does not, unless it
/// also has process ids of its own: it is in a container on this host then.
pub fn is_of_this_host(pid: u32) -> bool {
    let differs = |namespace: &str| {
        let of = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/{namespace}")).ok();
        of(&pid.to_string()).is_some_and(|its| Some(its) != of("self"))
    };
    !differs("uts") || differs("pid")
}

/// The real, effective, saved and file system user of the process; None if there is no such process.
pub fn users(pid: u32) -> Option<Vec<u32>> {
    let status = std::fs::read_to_string(file(pid, "status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    line.split_whitespace().map(|user| user.parse().ok()).collect()
}

/// The user that the process belongs to; None if there is no such process.
pub fn user(pid: u32) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(format!("/proc/{pid}")).ok().map(|data| data.uid())
}

/// All processes of this machine.
pub fn all() -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_have_names() {
        let call = |syscall: &str, wchan: &str| system_call(syscall, wchan);
        let number = libc::SYS_clock_nanosleep;
        assert_eq!(call(&format!("{number} 0x1 0x2"), "hrtimer_nanosleep"), Some("`clock_nanosleep`".into()));
        assert_eq!(call("99999 0x1", ""), Some("system call 99999".into()));
        assert_eq!(call("", "pipe_read"), Some("the kernel's pipe_read".into()));
        assert_eq!(call("running", "0"), None);
    }

    #[test]
    fn memory_that_is_read_is_told_from_a_system_call() {
        let words = |syscall: &str, status: &str| uninterruptible(syscall, "folio_wait", status).words();
        let read = format!("{} 0x1", libc::SYS_read);
        assert_eq!(words(&read, ""), "sleeping uninterruptibly in `read`");
        assert_eq!(words("", ""), "sleeping uninterruptibly in the kernel's folio_wait");
        assert_eq!(words("-1 0x7 0x8", "VmSwap:\t0 kB\n"), "waiting for memory that is read from a file");
        let swapped = words("-1 0x7 0x8", "Name:\tx\nVmSwap:\t    2048 kB\n");
        assert_eq!(swapped, "swapping (2.00 MiB of its memory are in swap space)");
    }

    #[test]
    fn this_process_is_known_and_a_child_goes_through_its_states() {
        let me = std::process::id();
        assert_eq!((own_number(me).is_some(), all().contains(&me)), (true, true));
        assert!(is_of_this_host(me) && is_of_this_host(1));
        assert_eq!(users(me).map(|users| users.len()), Some(4));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        let becomes = |expected: &str| {
            (0..2000).any(|_| {
                std::thread::sleep(Duration::from_millis(1));
                activity(pid).words().contains(expected)
            })
        };
        assert!(becomes("sleep") && parent(pid) == Some(me) && command_line(pid)[1..] == ["60"]);
        assert!(age(pid).unwrap() < age(me).unwrap() + Duration::from_secs(1));
        // SAFETY: a process of this test's.
        unsafe { libc::kill(pid as i32, libc::SIGSTOP) };
        assert!(becomes("stopped (SIGSTOP)"));
        child.kill().unwrap();
        assert!(becomes("exited"), "a zombie has exited");
        assert!(processor_time(me).is_some() && processor_time(pid) < Some(Duration::from_secs(1)));
        child.wait().unwrap();
        assert_eq!((activity(pid), user(pid)), (Activity::Exited, None));
    }
}

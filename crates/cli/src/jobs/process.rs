//! What the kernel says about a process.

use std::path::PathBuf;
use std::time::Duration;

/// What the first thread of a process does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// It runs, or is ready to.
    Running,
    /// It sleeps, in this system call if that is known.
    Sleeping(Option<String>),
    /// The same, and no signal can wake it.
    Uninterruptible(Option<String>),
    /// A signal has stopped it, as SIGSTOP does.
    Stopped,
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
            Activity::Stopped => "stopped (SIGSTOP)".into(),
            Activity::Traced => "stopped by a debugger".into(),
            Activity::Exited => "exited".into(),
        }
    }

    /// All that [`Activity::word`] says.
    pub const WORDS: [&str; 6] = ["running", "sleeping", "uninterruptible", "stopped", "traced", "exited"];

    /// For machines: one of [`Activity::WORDS`].
    pub fn word(&self) -> &'static str {
        match self {
            Activity::Running => "running",
            Activity::Sleeping(_) => "sleeping",
            Activity::Uninterruptible(_) => "uninterruptible",
            Activity::Stopped => "stopped",
            Activity::Traced => "traced",
            Activity::Exited => "exited",
        }
    }
}

fn file(pid: u32, name: &str) -> PathBuf {
    PathBuf::from(format!("/proc/{pid}/{name}"))
}

/// The fields of /proc/PID/stat from the third on: the state is the first.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(file(pid, "stat")).ok()?;
    // The second field is the program's name, which may contain blanks and parentheses.
    Some(text.rsplit_once(") ")?.1.split(' ').map(str::to_string).collect())
}

/// What the process does.
pub fn activity(pid: u32) -> Activity {
    let Some(stat) = stat(pid) else { return Activity::Exited };
    match stat[0].as_str() {
        "R" => Activity::Running,
        "D" => Activity::Uninterruptible(system_call(pid)),
        "T" => Activity::Stopped,
        "t" => Activity::Traced,
        "Z" | "X" => Activity::Exited,
        _ => Activity::Sleeping(system_call(pid)),
    }
}

/// The system call that the process sleeps in, or the place in the kernel.
fn system_call(pid: u32) -> Option<String> {
    let text = std::fs::read_to_string(file(pid, "syscall")).unwrap_or_default();
    let number = text.split(' ').next().and_then(|number| number.trim().parse::<i64>().ok());
    if let Some(number) = number.filter(|number| *number >= 0) {
        let known = NAMES.iter().find(|(known, _)| *known == number);
        return Some(known.map_or_else(|| format!("system call {number}"), |(_, name)| format!("`{name}`")));
    }
    let place = std::fs::read_to_string(file(pid, "wchan")).ok()?;
    let place = place.trim();
    (!place.is_empty() && place != "0").then(|| format!("the kernel's {place}"))
}

/// System calls in which programs sleep.
const NAMES: &[(i64, &str)] = &[
    (libc::SYS_read, "read"),
    (libc::SYS_pread64, "pread64"),
    (libc::SYS_readv, "readv"),
    (libc::SYS_write, "write"),
    (libc::SYS_pwrite64, "pwrite64"),
    (libc::SYS_writev, "writev"),
    (libc::SYS_fsync, "fsync"),
    (libc::SYS_fdatasync, "fdatasync"),
    (libc::SYS_openat, "openat"),
    (libc::SYS_close, "close"),
    (libc::SYS_flock, "flock"),
    (libc::SYS_fcntl, "fcntl"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_ppoll, "ppoll"),
    (libc::SYS_pselect6, "pselect6"),
    (libc::SYS_epoll_pwait, "epoll_pwait"),
    (libc::SYS_recvfrom, "recvfrom"),
    (libc::SYS_recvmsg, "recvmsg"),
    (libc::SYS_sendto, "sendto"),
    (libc::SYS_sendmsg, "sendmsg"),
    (libc::SYS_connect, "connect"),
    (libc::SYS_accept, "accept"),
    (libc::SYS_accept4, "accept4"),
    (libc::SYS_wait4, "wait4"),
    (libc::SYS_waitid, "waitid"),
    (libc::SYS_futex, "futex"),
    (libc::SYS_nanosleep, "nanosleep"),
    (libc::SYS_clock_nanosleep, "clock_nanosleep"),
    (libc::SYS_sched_yield, "sched_yield"),
    (libc::SYS_msync, "msync"),
    (libc::SYS_semtimedop, "semtimedop"),
    (libc::SYS_msgrcv, "msgrcv"),
    (libc::SYS_rt_sigtimedwait, "rt_sigtimedwait"),
    (libc::SYS_rt_sigsuspend, "rt_sigsuspend"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_poll, "poll"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_select, "select"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_epoll_wait, "epoll_wait"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_pause, "pause"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, "open"),
];

/// The number of the parent.
pub fn parent(pid: u32) -> Option<u32> {
    stat(pid)?.get(1)?.parse().ok().filter(|parent| *parent > 0)
}

/// For how long the process has existed.
pub fn age(pid: u32) -> Option<Duration> {
    /// The start is the 22nd field of the line, the state the third.
    const STARTED: usize = 22 - 3;
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

/// The number by which the process knows itself, which differs where it has a PID namespace of its own.
pub fn own_number(pid: u32) -> Option<u32> {
    let status = std::fs::read_to_string(file(pid, "status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_whitespace().next_back()?.parse().ok()
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
    fn this_process_is_known_and_a_child_goes_through_its_states() {
        let me = std::process::id();
        assert_eq!((own_number(me).is_some(), all().contains(&me)), (true, true));
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

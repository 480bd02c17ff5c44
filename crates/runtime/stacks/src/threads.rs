//! The threads of a process, by /proc.

use crate::error::StackError;
use std::fs;

/// A thread, and what the kernel says about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub(crate) tid: u32,
    /// `R`, `S`, `D`, `T`, `t`, `Z`, `X`, `I`.
    pub(crate) state: char,
}

/// All threads, the first one in front.
pub(crate) fn of_process(pid: u32) -> Vec<Thread> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let tids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut threads: Vec<Thread> =
        tids.filter_map(|tid| Some(Thread { tid, state: state(pid, tid)? })).collect();
    threads.sort_unstable_by_key(|thread| (thread.tid != pid, thread.tid));
    threads
}

fn state(pid: u32, tid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/task/{tid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// The number of the system call that a thread sleeps in.
#[cfg_attr(target_arch = "x86_64", allow(dead_code, reason = "there an interrupted call can be repaired"))]
pub(crate) fn system_call(pid: u32, tid: u32) -> Option<i64> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall")).ok()?;
    text.split(' ').next()?.trim().parse().ok()
}

/// The function of the kernel's that a thread sleeps in.
pub(crate) fn kernel_function(pid: u32, tid: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/wchan")).ok()?;
    Some(text.trim().to_string()).filter(|place| !place.is_empty() && place != "0")
}

fn status_number(pid: u32, field: &str) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Why the kernel does not let this process trace another one, as far as that can be seen.
pub(crate) fn refusal(pid: u32, cause: &str) -> StackError {
    let me = status_number(std::process::id(), "Uid:");
    match (status_number(pid, "TracerPid:"), status_number(pid, "Uid:")) {
        (None, _) => return StackError::Gone,
        (Some(by), _) if by != 0 => return StackError::Traced { by },
        (_, Some(user)) if me.is_some_and(|me| me != user && me != 0) => {
            return StackError::OtherUser { user };
        }
        _ => {}
    }
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok();
    match scope.and_then(|text| text.trim().parse().ok()) {
        Some(scope) if scope > 0 => StackError::Yama { scope },
        _ => StackError::Forbidden { cause: cause.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_thread_comes_first() {
        let me = std::process::id();
        let threads = of_process(me);
        assert!(threads.len() > 1 && threads[0].tid == me, "{threads:?}");
        assert_eq!(of_process(u32::MAX), []);
    }

    #[test]
    fn a_process_that_is_gone_refuses_by_itself() {
        assert_eq!(refusal(u32::MAX, "EPERM"), StackError::Gone);
    }
}

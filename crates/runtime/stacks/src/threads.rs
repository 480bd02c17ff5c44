//! The threads of a process, by /proc.

use crate::error::StackError;
use std::fs;
use std::time::Duration;

/// A thread that some look finds in another state has only read a page of a file, or started a program.
const LOOKS_AT_SLEEP: usize = 100;

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

/// The state of a thread: `D` only if each of [`LOOKS_AT_SLEEP`] looks found that.
pub(crate) fn lasting_state(pid: u32, tid: u32) -> Option<char> {
    const PAUSE: Duration = Duration::from_millis(1);
    for _ in 1..LOOKS_AT_SLEEP {
        let now = state(pid, tid);
        if now != Some('D') {
            return now;
        }
        std::thread::sleep(PAUSE);
    }
    state(pid, tid)
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
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    /// For each line of input, starts a process that sleeps for so many seconds, and sleeps uninterruptibly
    /// meanwhile, as `vfork` makes it.
    const STARTS_SLEEPERS: &str = "
import ctypes, os, signal, sys, time
CLONE_VFORK = 0x4000
number_of_clone = {'x86_64': 56}.get(os.uname().machine, 220)
print('ready', flush=True)
for seconds in sys.stdin:
    if ctypes.CDLL(None).syscall(number_of_clone, CLONE_VFORK | signal.SIGCHLD, 0, 0, 0, 0) == 0:
        time.sleep(float(seconds))
        os._exit(0)
    os.wait()
    print('went on', flush=True)
";

    #[test]
    fn only_a_long_uninterruptible_sleep_is_one() {
        let mut command = Command::new("python3");
        command.args(["-c", STARTS_SLEEPERS]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let Ok(mut child) = command.spawn() else { return };
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut stdin = child.stdin.take().unwrap();
        let mut sleep = |seconds| writeln!(stdin, "{seconds}").unwrap();
        let pid = child.id();
        let is_uninterruptible = || {
            std::thread::sleep(Duration::from_millis(1));
            state(pid, pid) == Some('D')
        };
        assert_eq!(lines.next().unwrap().unwrap(), "ready");
        // The machine may stand still for longer than a short sleep takes.
        let is_seen = (0..200).any(|_| {
            sleep("0.04");
            let slept = (0..1000).any(|_| is_uninterruptible());
            let lasting = lasting_state(pid, pid);
            assert_eq!(lines.next().unwrap().unwrap(), "went on");
            slept && lasting != Some('D')
        });
        assert!(is_seen, "each short sleep was taken for a long one");
        sleep("10");
        assert!((0..20_000).any(|_| is_uninterruptible()));
        let looked = crate::Observer::default().look(pid);
        child.kill().unwrap();
        child.wait().unwrap();
        match looked {
            Err(StackError::Uninterruptible { place }) => {
                assert!(place.is_none_or(|place| place.contains("fork") || place.contains("clone")));
            }
            other => panic!("{other:?}"),
        }
    }

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

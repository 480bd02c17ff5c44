//! Stacks of other processes: the right functions, and the processes go on as if nothing had been.

use evenkeel_stacks::{Language, Observer, StackError};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Ended when it goes.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: &mut Command) -> Running {
    Running(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts"))
}

/// The state of the first thread, as /proc has it.
fn state(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit_once(") ").unwrap().1[..1].to_string()
}

fn becomes(pid: u32, expected: &str) -> bool {
    (0..20_000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        state(pid) == expected
    })
}

/// Names of functions on the first thread's stack, once one of them contains `expected`.
fn functions(observer: &mut Observer, pid: u32, expected: &str) -> Vec<String> {
    let mut last = Vec::new();
    for _ in 0..2000 {
        // A process that gets no core does not stop in time.
        let Ok(stacks) = observer.look(pid) else { continue };
        last = stacks.threads[0].frames.iter().filter_map(|frame| frame.function.clone()).collect();
        if last.iter().any(|name| name.contains(expected)) {
            return last;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{expected} is not among {last:?}");
}

#[test]
fn a_sleeping_process_shows_what_it_sleeps_in_and_goes_on() {
    let child = start(Command::new("sleep").arg("60"));
    let (pid, mut observer) = (child.0.id(), Observer::default());
    assert!(functions(&mut observer, pid, "nanosleep").len() > 1);
    assert!(becomes(pid, "S"));
}

#[test]
fn a_stopped_process_stays_stopped() {
    let child = start(Command::new("sleep").arg("60"));
    let (pid, mut observer) = (child.0.id(), Observer::default());
    functions(&mut observer, pid, "nanosleep");
    Command::new("kill").args(["-STOP", &pid.to_string()]).status().unwrap();
    assert!(becomes(pid, "T"));
    assert!(functions(&mut observer, pid, "nanosleep").len() > 1);
    assert!(becomes(pid, "T"));
    Command::new("kill").args(["-CONT", &pid.to_string()]).status().unwrap();
    assert!(becomes(pid, "S"));
}

#[test]
fn what_is_not_there_is_gone() {
    let mut child = start(&mut Command::new("true"));
    child.0.wait().unwrap();
    assert_eq!(Observer::default().look(child.0.id()), Err(StackError::Gone));
}

/// Waits for events in the way that fails with EINTR when a thread is stopped in it.
const WAITS: &str = "
import ctypes, errno, os, select, sys
libc = ctypes.CDLL(None, use_errno=True)
epoll = libc.epoll_create1(0)
class Event(ctypes.Structure):
    _pack_ = 1
    _fields_ = [('events', ctypes.c_uint32), ('data', ctypes.c_uint64)]
event = Event(1, 0)
libc.epoll_ctl(epoll, 1, 0, ctypes.byref(event))

def waits_for_input():
    return libc.epoll_wait(epoll, ctypes.byref(event), 1, -1)

print('ready', flush=True)
found = waits_for_input()
print(found, errno.errorcode.get(ctypes.get_errno(), 'no error'), os.read(0, 1), flush=True)
";

#[test]
fn python_functions_are_named_and_an_interrupted_wait_goes_on() {
    let Ok(_) = Command::new("python3").arg("--version").output() else { return };
    let mut child = start(Command::new("python3").args(["-c", WAITS]));
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    let (pid, mut observer) = (child.0.id(), Observer::default());
    for _ in 0..5 {
        let names = functions(&mut observer, pid, "waits_for_input");
        assert_eq!(names.last().unwrap(), "<module>");
        assert!(becomes(pid, "S"));
    }
    let stacks = observer.look(pid).unwrap();
    let python: Vec<_> =
        stacks.threads[0].frames.iter().filter(|frame| frame.language == Language::Python).collect();
    assert_eq!((python.len(), python[1].line), (2, Some(15)), "{stacks:?}");
    child.0.stdin.take().unwrap().write_all(b"x").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "1 no error b'x'", "the stop was not noticed");
    let _ = lines.next().map(drop);
    let mut rest = String::new();
    child.0.stderr.take().map(|mut err| err.read_to_string(&mut rest));
}

//! Stops a thread for a moment, and copies its registers and its stack.
//!
//! `PTRACE_SEIZE` and `PTRACE_INTERRUPT` send no signal: the thread notices nothing, and a process that a
//! signal has stopped stays stopped. What is attached belongs to the thread that attached it: it ends after
//! the look, so that nothing stays attached even where something goes wrong on the way.

use crate::error::StackError;
use crate::registers::{self, UnwindRegisters};
use crate::threads;
use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::Signal;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use std::io::IoSliceMut;
use std::ops::Range;
use std::time::{Duration, Instant};

/// What is copied of a stack, at most.
const STACK_BYTES: u64 = 1 << 20;

/// Functions may use so much below the stack pointer (x86-64).
const RED_ZONE: u64 = 128;

/// How long is waited until a thread stands still: usually microseconds, but it may have no core.
const STOP_WITHIN: Duration = Duration::from_secs(2);

/// What was copied of a thread.
#[derive(Debug)]
pub(crate) struct Snapshot<T> {
    pub(crate) registers: UnwindRegisters,
    /// The address of the first byte of `stack`.
    pub(crate) stack_start: u64,
    pub(crate) stack: Vec<u8>,
    pub(crate) stood_still: Duration,
    /// What was looked at while the thread stood still.
    pub(crate) seen: T,
}

/// Stops a thread and copies its stack, up to the end of what `stack_of` says is mapped there. `meanwhile`
/// runs while it stands still.
pub(crate) fn snapshot<T: Send>(
    pid: u32,
    tid: u32,
    stack_of: impl Fn(u64) -> Option<Range<u64>> + Send,
    meanwhile: impl FnOnce() -> T + Send,
) -> Result<Snapshot<T>, StackError> {
    let call = (!registers::CAN_RESTART).then(|| threads::system_call(pid, tid)).flatten();
    if call.is_some_and(registers::is_interrupted_by_a_stop) {
        return Err(StackError::WouldDisturb);
    }
    std::thread::scope(|scope| {
        let look = scope.spawn(move || look(pid, tid, stack_of, meanwhile));
        look.join().unwrap_or_else(|_| Err(StackError::System { cause: "the look failed".into() }))
    })
}

fn look<T>(
    pid: u32,
    tid: u32,
    stack_of: impl Fn(u64) -> Option<Range<u64>>,
    meanwhile: impl FnOnce() -> T,
) -> Result<Snapshot<T>, StackError> {
    let thread = Pid::from_raw(tid as i32);
    ptrace::seize(thread, ptrace::Options::empty()).map_err(|errno| why(pid, errno))?;
    let asked = Instant::now();
    ptrace::interrupt(thread).map_err(|errno| why(pid, errno))?;
    let signal = wait_for_stop(pid, thread, asked)?;
    let copied = copy(pid, thread, stack_of);
    let seen = meanwhile();
    // Only a thread that has ended refuses this.
    let _ = ptrace::detach(thread, signal);
    let (registers, stack_start, stack) = copied?;
    Ok(Snapshot { registers, stack_start, stack, stood_still: asked.elapsed(), seen })
}

/// Waits until the thread stands still. Returns a signal that it was about to get, which it gets afterwards.
fn wait_for_stop(pid: u32, thread: Pid, asked: Instant) -> Result<Option<Signal>, StackError> {
    const FIRST_PAUSE: Duration = Duration::from_micros(5);
    const LONGEST_PAUSE: Duration = Duration::from_millis(1);
    let mut pause = FIRST_PAUSE;
    loop {
        match waitpid(thread, Some(WaitPidFlag::__WALL | WaitPidFlag::WNOHANG)) {
            // A signal that was on its way.
            Ok(WaitStatus::Stopped(_, signal)) => return Ok(Some(signal)),
            Ok(WaitStatus::PtraceEvent(..)) => return Ok(None),
            Ok(WaitStatus::StillAlive) => {}
            Ok(_) | Err(Errno::ECHILD) => return Err(StackError::Gone),
            Err(Errno::EINTR) => {}
            Err(errno) => return Err(why(pid, errno)),
        }
        if asked.elapsed() > STOP_WITHIN {
            let tid = thread.as_raw() as u32;
            if threads::lasting_state(pid, tid) == Some('D') {
                return Err(StackError::Uninterruptible { place: threads::kernel_function(pid, tid) });
            }
            return Err(StackError::DidNotStop { milliseconds: STOP_WITHIN.as_millis() as u64 });
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

type Copied = (UnwindRegisters, u64, Vec<u8>);

fn copy(pid: u32, thread: Pid, stack_of: impl Fn(u64) -> Option<Range<u64>>) -> Result<Copied, StackError> {
    let all = ptrace::getregs(thread).map_err(|errno| why(pid, errno))?;
    if let Some(restarted) = registers::restarted(&all) {
        ptrace::setregs(thread, restarted).map_err(|errno| why(pid, errno))?;
    }
    let registers = registers::for_unwinding(&all);
    let Some(mapped) = stack_of(registers.stack_pointer) else { return Ok((registers, 0, Vec::new())) };
    let start = registers.stack_pointer.saturating_sub(RED_ZONE).max(mapped.start);
    let mut stack = vec![0; (mapped.end - start).min(STACK_BYTES) as usize];
    let read = read_memory(pid, start, &mut stack).unwrap_or(0);
    stack.truncate(read);
    Ok((registers, start, stack))
}

/// Reads the memory of a process. Returns how many bytes could be read.
pub(crate) fn read_memory(pid: u32, address: u64, bytes: &mut [u8]) -> Result<usize, Errno> {
    let remote = [RemoteIoVec { base: address as usize, len: bytes.len() }];
    process_vm_readv(Pid::from_raw(pid as i32), &mut [IoSliceMut::new(bytes)], &remote)
}

fn why(pid: u32, errno: Errno) -> StackError {
    match errno {
        Errno::ESRCH => StackError::Gone,
        Errno::EPERM | Errno::EACCES | Errno::ENOSYS => threads::refusal(pid, errno.desc()),
        errno => StackError::System { cause: errno.desc().into() },
    }
}

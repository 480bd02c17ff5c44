//! Switching by SIGSTOP and SIGCONT, or by SCHED_IDLE.

use super::control_group::ControlGroup;
use super::mechanism::Mechanism;
use super::processes::{LikelyThread, Root, Running, is_stopped, look, marked, running, threads};
use super::steering::go_on_at;
use crate::process_id::ProcessId;
use crate::timetable::now_ns;
use rustix::process::{Signal, pidfd_send_signal};
use std::collections::HashSet;
use std::os::fd::OwnedFd;
use tracing::debug;

/// How often new processes are looked for, ns: seldom if there were none.
const LOOK_NS: std::ops::RangeInclusive<u64> = 20_000_000..=320_000_000;

/// A process of the job.
struct Member {
    pid: i32,
    fd: OwnedFd,
    is_stopped: bool,
    mechanism: Mechanism,
    /// The thread that ran when it was stopped, if it was the only one.
    only_running: Option<i32>,
    likely: Option<LikelyThread>,
}

impl Member {
    fn go_on(&mut self) {
        if !self.is_stopped {
            return;
        }
        self.is_stopped = false;
        if self.mechanism == Mechanism::Demote {
            set_idle(self.pid, false);
        } else {
            // An error means that it has ended.
            let _ = pidfd_send_signal(&self.fd, Signal::CONT);
        }
    }
}

/// The processes of a job.
pub(crate) struct SignalledGang {
    mechanism: Mechanism,
    root: Root,
    group: Option<ControlGroup>,
    members: Vec<Member>,
    /// Where the processes go on.
    pub(super) cores: Vec<usize>,
    new: Vec<ProcessId>,
    looked_at_ns: u64,
    look_after_ns: u64,
}

impl SignalledGang {
    pub(crate) fn new(mechanism: Mechanism, root: Root, group: Option<ControlGroup>) -> SignalledGang {
        let look_after_ns = *LOOK_NS.start();
        SignalledGang {
            mechanism,
            root,
            group,
            members: Vec::new(),
            cores: Vec::new(),
            new: Vec::new(),
            looked_at_ns: 0,
            look_after_ns,
        }
    }

    pub(crate) fn stop(&mut self) -> bool {
        self.look_for_new();
        let mut some_sleep = false;
        for member in self.members.iter_mut().filter(|member| !member.is_stopped) {
            if self.mechanism == Mechanism::Demote {
                set_idle(member.pid, true);
                member.is_stopped = true;
            } else {
                // One that a person has stopped does not run, and goes on when that person says so.
                let running = look(&mut member.likely, || Some(running(threads(member.pid))));
                member.only_running = running.only();
                some_sleep |= running == Running::None;
                let runs = running != Running::None;
                member.is_stopped = runs && pidfd_send_signal(&member.fd, Signal::STOP).is_ok();
            }
        }
        some_sleep
    }

    pub(crate) fn go_on(&mut self) {
        // A job that a person has stopped goes on when that person says so.
        let root_is_stopped = is_stopped(self.root.pid());
        if self.mechanism == Mechanism::Demote || !root_is_stopped {
            let cores = self.cores.iter().cycle().map(Some).chain(std::iter::repeat(None));
            for (member, core) in self.members.iter_mut().zip(cores).filter(|(member, _)| member.is_stopped) {
                match (member.only_running.take(), core) {
                    (Some(thread), Some(core)) => go_on_at(thread, *core, || member.go_on()),
                    _ => member.go_on(),
                }
            }
        }
        self.look_for_new();
    }

    /// `known` are processes of the job that may no longer be below its root.
    pub(crate) fn release(&mut self, known: &[ProcessId]) {
        let root_is_stopped = is_stopped(self.root.pid());
        self.members.iter_mut().for_each(Member::go_on);
        let known = known.iter().filter(|process| process.is_alive()).map(|process| process.pid);
        let all = self.found().into_iter().chain(known).chain(marked(self.root.pid()));
        let pids: HashSet<i32> = all.collect();
        for pid in pids {
            if self.mechanism == Mechanism::Demote {
                set_idle(pid, false);
            } else if is_stopped(pid) && !root_is_stopped {
                send(pid, Signal::CONT);
            }
        }
    }

    /// Processes that have been found since the last call.
    pub(crate) fn take_new(&mut self) -> Vec<ProcessId> {
        std::mem::take(&mut self.new)
    }

    /// The processes of the job at this moment.
    fn found(&self) -> Vec<i32> {
        match &self.group {
            None => self.root.descendants(),
            Some(group) => {
                let all = ControlGroup::processes(group.directory()).into_iter();
                all.filter(|pid| !self.root.is_launcher(*pid)).collect()
            }
        }
    }

    fn look_for_new(&mut self) {
        let now = now_ns();
        if now < self.looked_at_ns + self.look_after_ns {
            return;
        }
        let found = self.found();
        debug!("processes that are switched: {found:?}");
        let known: HashSet<i32> = self.members.iter().map(|member| member.pid).collect();
        let mut has_new = false;
        for pid in found.iter().filter(|pid| !known.contains(*pid)) {
            let process = ProcessId::of(*pid);
            let Some((process, fd)) = process.and_then(|process| Some((process, process.open()?))) else {
                continue; // it has ended
            };
            has_new = true;
            self.new.push(process);
            let mechanism = self.mechanism;
            self.members.push(Member {
                pid: *pid,
                fd,
                is_stopped: false,
                mechanism,
                only_running: None,
                likely: None,
            });
        }
        let there: HashSet<i32> = found.into_iter().collect();
        // One that is no longer found, because its parent has ended, is let go.
        self.members.iter_mut().filter(|member| !there.contains(&member.pid)).for_each(Member::go_on);
        self.members.retain(|member| there.contains(&member.pid));
        self.looked_at_ns = now;
        self.look_after_ns =
            if has_new { *LOOK_NS.start() } else { (self.look_after_ns * 2).min(*LOOK_NS.end()) };
    }
}

/// Sends a signal to a process that has this number now, and to no later one.
fn send(pid: i32, signal: Signal) {
    let Some(fd) = ProcessId::of(pid).and_then(ProcessId::open) else { return };
    // It may have ended meanwhile.
    let _ = pidfd_send_signal(&fd, signal);
}

/// Demotes all threads of a process, or undoes that.
fn set_idle(pid: i32, idle: bool) {
    let policy = if idle { libc::SCHED_IDLE } else { libc::SCHED_OTHER };
    for thread in threads(pid) {
        // SAFETY: the parameter lives during the call; the kernel only reads it. A thread that has ended is
        // an error, no more.
        unsafe {
            let parameter = std::mem::zeroed::<libc::sched_param>();
            // Policies that the program has chosen for itself stay.
            let now = libc::sched_getscheduler(thread) & !libc::SCHED_RESET_ON_FORK;
            if now == if idle { libc::SCHED_OTHER } else { libc::SCHED_IDLE } {
                libc::sched_setscheduler(thread, policy, &raw const parameter);
            }
        }
    }
}

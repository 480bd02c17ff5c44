//! The process that disturbs a run, beside it and as long as it.

use crate::commands::Injector;
use crate::errors::Failure;
use crate::inject::injection::{Spec, Stalls};
use crate::inject::injections::MARK;
use crate::inject::{control_group as group, rank_processes as ranks, resume_guarantee as mercy};
use crate::machine::limits as quota;
use evenkeel_random::Random;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::hint::black_box;
use std::process::Command;
use std::time::{Duration, Instant};

/// How often ranks are looked for: often until all are there, then for those that are started later.
const SEARCH: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));
/// After this they are on other machines, or no ranks at all; looking often would only disturb.
const EAGER: Duration = Duration::from_secs(20);

/// Disturbs until the launcher ends, then puts everything right.
pub fn act(arguments: &Injector) -> Result<(), Failure> {
    if !arguments.detached {
        return detach().map_err(|e| Failure::Inject { what: "anything".into(), why: e.to_string() });
    }
    for spec in &arguments.specs {
        if let Spec::Competitors(number) = spec {
            compete(*number);
        }
    }
    let stalls =
        arguments.specs.iter().find_map(|s| if let Spec::Stalls(stalls) = s { Some(stalls) } else { None });
    match stalls {
        Some(stalls) => stall(stalls, arguments),
        None => while !launcher_ended_within(Duration::from_secs(3600)) {},
    }
    if let Some(directory) = &arguments.group {
        // The ranks may take a moment to end after their launcher.
        let deadline = Instant::now() + Duration::from_secs(3);
        while !group::remove(directory) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

/// Starts the injector proper and leaves it to init. The launcher must not have it as a child: Hydra
/// takes any child that dies for one of its own that died badly, and ends the job.
fn detach() -> std::io::Result<()> {
    let mut again = Command::new(std::env::current_exe()?);
    again.args(std::env::args_os().skip(1)).arg("--detached").spawn().map(drop)
}

/// Sleeps that long, or until the launcher has ended; whether it has. The launcher's descriptor is
/// standard input.
fn launcher_ended_within(time: Duration) -> bool {
    let launcher = rustix::stdio::stdin();
    let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
    matches!(poll(&mut [PollFd::new(&launcher, PollFlags::IN)], Some(&timeout)), Ok(1..))
}

/// Threads that do nothing but compute, held on their cores; they end with the process.
fn compete(number: u32) {
    for core in quota::usable_cores() {
        for _ in 0..number {
            std::thread::spawn(move || {
                let mut set = CpuSet::new();
                set.set(core);
                let _ = sched_setaffinity(None, &set);
                loop {
                    // no pause instruction: hypervisors take the core away from those who pause
                    black_box(());
                }
            });
        }
    }
}

/// One rank that is stalled now and then.
struct Victim {
    pid: i32,
    process: OwnedFd,
    random: Random,
    stopped: bool,
    next: Instant,
}

impl Victim {
    fn is_due(&self) -> bool {
        self.next <= Instant::now()
    }

    /// Stops it, or lets it go on; an error means that it is no more.
    fn turn(&mut self, stalls: &Stalls) -> rustix::io::Result<()> {
        pidfd_send_signal(&self.process, if self.stopped { Signal::CONT } else { Signal::STOP })?;
        self.stopped = !self.stopped;
        self.next = Instant::now()
            + if self.stopped { &stalls.length } else { &stalls.interval }.draw(&mut self.random);
        Ok(())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.process, Signal::CONT);
    }
}

fn stall(stalls: &Stalls, arguments: &Injector) {
    let mut victims: Vec<Victim> = Vec::new();
    let mut pipes = arguments.pipes.iter();
    let wanted = stalls.ranks.as_ref().map_or(arguments.pipes.len() / mercy::FOR_EACH, Vec::len);
    let start = Instant::now();
    let mut search = start;
    let mut warned = false;
    loop {
        if search <= Instant::now() {
            for (rank, pid) in ranks::of(&ranks::processes(), MARK, &arguments.token) {
                let chosen = stalls.ranks.as_ref().is_none_or(|list| list.contains(&rank));
                if !chosen || victims.iter().any(|v| v.pid == pid) {
                    continue;
                }
                // No rank is stopped whose going on is not promised; ranks that were started again may find
                // no pipe left.
                let Some(pipe) = pipes.next() else { continue };
                match victim(rank, pid, *pipe, stalls) {
                    Ok(victim) => victims.push(victim),
                    Err(why) if !warned => {
                        warned = true;
                        eprintln!(
                            "evenkeel: cannot stall rank {rank} (process {pid}): {why}. It runs undisturbed."
                        );
                    }
                    Err(_) => {}
                }
            }
            let eager = victims.len() < wanted && start.elapsed() < EAGER;
            search = Instant::now() + if eager { SEARCH.0 } else { SEARCH.1 };
        }
        victims.retain_mut(|v| !v.is_due() || v.turn(stalls).is_ok());
        let next = victims.iter().map(|v| v.next).chain([search]).min().unwrap_or(search);
        if launcher_ended_within(next.saturating_duration_since(Instant::now())) {
            return;
        }
    }
}

fn victim(rank: usize, pid: i32, pipe: i32, stalls: &Stalls) -> Result<Victim, String> {
    let raw = Pid::from_raw(pid).ok_or("it is no process")?;
    let process = pidfd_open(raw, PidfdFlags::empty()).map_err(|e| e.to_string())?;
    mercy::promise(pipe, raw).map_err(|e| e.to_string())?;
    let mut random = Random::stream(stalls.seed, rank as u64);
    let next = Instant::now() + stalls.interval.draw(&mut random);
    Ok(Victim { pid, process, random, stopped: false, next })
}

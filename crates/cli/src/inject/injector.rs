//! The process that disturbs a run: it lives as long as the launcher.

use super::injection::{Injection, Stalls};
use super::injections::MARK;
use super::resume_guarantee::PIPES_PER_RANK;
use super::{control_group, rank_processes, resume_guarantee};
use crate::errors::InjectionError;
use crate::machine::cores;
use evenkeel_random::Random;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// How often the injector searches for ranks while some are missing, and later, for ranks that start late.
const SEARCH: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));
/// Ranks that are still missing after this time run on other machines, or do not call MPI at all. Frequent
/// searches would only disturb the others.
const SEARCHED_OFTEN: Duration = Duration::from_secs(20);
/// How long the injector waits for the control group to become empty after the launcher has ended.
const GROUP_REMOVAL: Duration = Duration::from_secs(3);

/// The injector's hidden command line.
#[derive(Debug, clap::Args)]
pub struct InjectorArguments {
    /// The value of the variable that marks the run's ranks.
    #[arg(long)]
    pub token: String,
    /// What it does.
    #[arg(long = "inject")]
    pub injections: Vec<Injection>,
    /// Descriptors of reading ends, see [`resume_guarantee`].
    #[arg(long = "pipe")]
    pub pipes: Vec<i32>,
    /// The control group that it removes at the end.
    #[arg(long)]
    pub group: Option<PathBuf>,
    /// The process is detached: it is not a child of the launcher.
    #[arg(long)]
    pub detached: bool,
}

/// Disturbs until the launcher ends, then undoes everything.
pub fn disturb(arguments: &InjectorArguments) -> Result<(), InjectionError> {
    if !arguments.detached {
        return detach()
            .map_err(|e| InjectionError::Refused { injection: "anything".into(), why: e.to_string() });
    }
    for injection in &arguments.injections {
        if let Injection::Competitors(number) = injection {
            compete(*number);
        }
    }
    let stalls = arguments.injections.iter().find_map(|injection| match injection {
        Injection::Stalls(stalls) => Some(stalls),
        _ => None,
    });
    match stalls {
        Some(stalls) => stall(stalls, arguments),
        None => while !launcher_ended_within(Duration::from_secs(3600)) {},
    }
    if let Some(directory) = &arguments.group {
        let deadline = Instant::now() + GROUP_REMOVAL;
        while !control_group::remove(directory) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}

/// Starts the injector proper, which then belongs to init. It must not be a child of the launcher: Hydra
/// takes any child that dies for one of its own that failed, and ends the run.
fn detach() -> std::io::Result<()> {
    let mut again = Command::new(std::env::current_exe()?);
    again.args(std::env::args_os().skip(1)).arg("--detached").spawn().map(drop)
}

/// Sleeps for this time, or until the launcher has ended, and returns whether it has. Standard input is the
/// launcher's descriptor.
fn launcher_ended_within(time: Duration) -> bool {
    let launcher = rustix::stdio::stdin();
    let timeout = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
    matches!(poll(&mut [PollFd::new(&launcher, PollFlags::IN)], Some(&timeout)), Ok(1..))
}

/// Starts threads that do nothing but compute, each held on a core. They end with the process.
fn compete(number: u32) {
    for core in cores::usable() {
        for _ in 0..number {
            std::thread::spawn(move || {
                let _ = cores::hold_on(&[core]);
                loop {
                    // No pause instruction: hypervisors take the core away from a thread that pauses.
                    black_box(());
                }
            });
        }
    }
}

/// A rank that is stopped repeatedly. It continues when this is dropped.
struct StalledRank {
    pid: i32,
    process: OwnedFd,
    random: Random,
    is_stopped: bool,
    next: Instant,
}

impl StalledRank {
    fn new(rank: usize, pid: i32, pipe: i32, stalls: &Stalls) -> Result<StalledRank, std::io::Error> {
        let raw = Pid::from_raw(pid).ok_or(std::io::ErrorKind::NotFound)?;
        let process = pidfd_open(raw, PidfdFlags::empty())?;
        resume_guarantee::guarantee(pipe, raw)?;
        let mut random = Random::stream(stalls.seed, rank as u64);
        let next = Instant::now() + stalls.interval.draw(&mut random);
        Ok(StalledRank { pid, process, random, is_stopped: false, next })
    }

    fn is_due(&self) -> bool {
        self.next <= Instant::now()
    }

    /// Stops the rank, or lets it continue. An error means that it has ended.
    fn stop_or_continue(&mut self, stalls: &Stalls) -> rustix::io::Result<()> {
        pidfd_send_signal(&self.process, if self.is_stopped { Signal::CONT } else { Signal::STOP })?;
        self.is_stopped = !self.is_stopped;
        let span = if self.is_stopped { &stalls.length } else { &stalls.interval };
        self.next = Instant::now() + span.draw(&mut self.random);
        Ok(())
    }
}

impl Drop for StalledRank {
    fn drop(&mut self) {
        let _ = pidfd_send_signal(&self.process, Signal::CONT);
    }
}

/// Stalls ranks until the launcher ends.
fn stall(stalls: &Stalls, arguments: &InjectorArguments) {
    let mut ranks = StalledRanks {
        stalls,
        token: &arguments.token,
        pipes: arguments.pipes.iter(),
        found: Vec::new(),
        has_warned: false,
    };
    let wanted = stalls.ranks.as_ref().map_or(arguments.pipes.len() / PIPES_PER_RANK, Vec::len);
    let start = Instant::now();
    let mut search = start;
    loop {
        if search <= Instant::now() {
            ranks.search();
            let often = ranks.found.len() < wanted && start.elapsed() < SEARCHED_OFTEN;
            search = Instant::now() + if often { SEARCH.0 } else { SEARCH.1 };
        }
        ranks.found.retain_mut(|rank| !rank.is_due() || rank.stop_or_continue(stalls).is_ok());
        let next = ranks.found.iter().map(|rank| rank.next).chain([search]).min().unwrap_or(search);
        if launcher_ended_within(next.saturating_duration_since(Instant::now())) {
            return;
        }
    }
}

/// The ranks of the run that are stalled.
struct StalledRanks<'a> {
    stalls: &'a Stalls,
    token: &'a str,
    /// Pipes that are still free.
    pipes: std::slice::Iter<'a, i32>,
    found: Vec<StalledRank>,
    has_warned: bool,
}

impl StalledRanks<'_> {
    /// Finds ranks that have been started since the last search.
    fn search(&mut self) {
        for (rank, pid) in rank_processes::of(&rank_processes::processes(), MARK, self.token) {
            let chosen = self.stalls.ranks.as_ref().is_none_or(|list| list.contains(&rank));
            if !chosen || self.found.iter().any(|found| found.pid == pid) {
                continue;
            }
            // A rank is stopped only if it is guaranteed to continue. For ranks that were started again there
            // may be no pipe left.
            let Some(pipe) = self.pipes.next() else { continue };
            match StalledRank::new(rank, pid, *pipe, self.stalls) {
                Ok(stalled) => self.found.push(stalled),
                Err(why) if !self.has_warned => {
                    self.has_warned = true;
                    eprintln!(
                        "evenkeel: cannot stall rank {rank} (process {pid}): {why}. It runs undisturbed."
                    );
                }
                Err(_) => {}
            }
        }
    }
}

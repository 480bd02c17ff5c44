//! `evenkeel run --inject`: disturbs a run on purpose, to see what unresponsive ranks cost and what
//! evenkeel saves.
//!
//! A run becomes its launcher, so there must be somebody else who disturbs it: a second process, the
//! *injector*, that watches the launcher and ends with it. What it does must not outlast it, whoever
//! dies and how:
//!
//! * competitors are threads of the injector;
//! * ranks that it has stopped go on when the launcher ends (the injector sees to it) and when the
//!   injector itself is killed (the kernel sees to it: [`mercy`]);
//! * the control group of a quota is removed by the injector; an empty one may be left if the injector
//!   is killed.
//!
//! [`spec`] is the grammar, [`random`] the distributions, [`ranks`] finds the ranks' processes,
//! [`group`] is about control groups; [`injector`] is the other process.

use super::injection::Spec;
use super::{control_group as group, resume_guarantee as mercy};
use crate::errors::Failure;
use crate::machine::limits as quota;
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The variable by which the injector knows the ranks' processes.
pub const MARK: &str = "EVENKEEL_INJECT";

/// What a run is to be disturbed by.
#[derive(Clone, Debug, PartialEq)]
pub struct Injections {
    specs: Vec<Spec>,
    /// The value of [`MARK`], of this run alone.
    token: String,
}

impl Injections {
    /// Refuses two of one kind: which of them was meant?
    pub fn of(specs: &[Spec]) -> Result<Injections, Failure> {
        for (i, spec) in specs.iter().enumerate() {
            if specs[..i].iter().any(|s| s.name() == spec.name()) {
                return Err(Failure::InjectedTwice { kind: spec.name() });
            }
        }
        Ok(Injections { specs: specs.to_vec(), token: std::process::id().to_string() })
    }

    /// Variables that the ranks must have.
    pub fn variables(&self) -> Vec<(String, String)> {
        let needed = self.specs.iter().any(|s| matches!(s, Spec::Stalls(_)));
        if needed { vec![(MARK.into(), self.token.clone())] } else { Vec::new() }
    }

    /// Whether a launcher that binds ranks to cores would undo it.
    pub fn restricts(&self) -> bool {
        self.specs.contains(&Spec::Doubled)
    }

    /// `doubled`: this process, and so all that it starts, gets the first half of its cores. To be called
    /// before anything counts cores.
    pub fn restrict(&self) -> Result<(), Failure> {
        if !self.restricts() {
            return Ok(());
        }
        let cores = quota::usable_cores();
        let kept = half(&cores)?;
        let mut set = CpuSet::new();
        kept.iter().for_each(|core| set.set(*core));
        sched_setaffinity(None, &set)
            .map_err(|e| Failure::Inject { what: Spec::Doubled.to_string(), why: e.to_string() })
    }

    /// Starts what disturbs; the caller must become the launcher of `ranks` ranks, or end.
    pub fn start(&self, ranks: u32) -> Result<(), Failure> {
        if self.specs.is_empty() {
            return Ok(());
        }
        let group =
            self.specs.iter().find_map(|s| if let Spec::Quota(share) = s { Some(*share) } else { None });
        let group = group.map(|share| group::make(share, quota::usable_cores().len())).transpose()?;
        let pipes = if self.variables().is_empty() { Vec::new() } else { mercy::pipes(ranks)? };
        let failed = |why: String| Failure::Inject { what: self.to_string(), why };
        let program = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
        let mut command = Command::new(program);
        command.arg("injector").args(["--token", &self.token]);
        command.args(self.specs.iter().flat_map(|spec| ["--inject".to_string(), spec.to_string()]));
        command.args(pipes.iter().flat_map(|pipe| ["--pipe".to_string(), pipe.number().to_string()]));
        if let Some(group) = &group {
            command.arg("--group").arg(group);
        }
        // A group of its own: ^C is for the launcher, with whose end the injector ends. The same session,
        // though: a kernel that schedules by session would otherwise give competitors as much as all ranks
        // together.
        let launcher = pidfd_open(getpid(), PidfdFlags::empty())
            .map_err(|e| failed(format!("pidfd_open, of Linux 5.3: {e}")))?;
        command.process_group(0).stdin(launcher).stdout(Stdio::null());
        match command.status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(failed(format!("the process that disturbs ended with {status}"))),
            Err(e) => return Err(failed(e.to_string())),
        }
        if let Some(group) = &group {
            group::join(group)?;
        }
        pipes.into_iter().for_each(mercy::Pipe::leave_to_launcher);
        Ok(())
    }
}

impl std::fmt::Display for Injections {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.specs.iter().map(Spec::to_string).collect::<Vec<_>>().join(", "))
    }
}

/// The first half of the cores, the larger one if they are odd.
fn half(cores: &[usize]) -> Result<&[usize], Failure> {
    if cores.len() < 2 {
        let why =
            "there is only one core to be used, which cannot be halved; start twice as many ranks instead"
                .into();
        return Err(Failure::Inject { what: Spec::Doubled.to_string(), why });
    }
    Ok(&cores[..cores.len().div_ceil(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_cores() {
        assert_eq!(half(&[0, 1]).unwrap(), [0]);
        assert_eq!(half(&[2, 3, 5]).unwrap(), [2, 3]);
        assert!(half(&[4]).is_err());
    }

    #[test]
    fn two_of_a_kind_are_refused() {
        let specs = |texts: &[&str]| texts.iter().map(|t| t.parse().unwrap()).collect::<Vec<Spec>>();
        assert!(Injections::of(&specs(&["competitors=1", "doubled", "quota=50%"])).is_ok());
        assert!(Injections::of(&specs(&["competitors=1", "competitors=2"])).is_err());
        assert!(Injections::of(&specs(&["doubled"])).unwrap().variables().is_empty());
        assert_eq!(Injections::of(&specs(&["stalls=fixed:1ms/1s"])).unwrap().variables().len(), 1);
    }
}

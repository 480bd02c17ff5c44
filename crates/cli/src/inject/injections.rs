//! The injections of one run: checked, and the injector started.

use super::control_group;
use super::injection::Injection;
use super::resume_guarantee::{self, Pipe};
use crate::errors::InjectionError;
use crate::machine::cores;
use rustix::process::{PidfdFlags, getpid, pidfd_open};
use std::fmt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The variable by which the injector recognises the ranks' processes.
pub const MARK: &str = "EVENKEEL_INJECT";

/// What a run is to be disturbed by.
#[derive(Clone, Debug, PartialEq)]
pub struct Injections {
    all: Vec<Injection>,
    /// The value of [`MARK`] for this run alone.
    token: String,
}

impl Injections {
    /// Refuses two injections of one kind, because it is not clear which of them is meant.
    pub fn new(all: &[Injection]) -> Result<Injections, InjectionError> {
        for (at, injection) in all.iter().enumerate() {
            if all[..at].iter().any(|before| before.name() == injection.name()) {
                return Err(InjectionError::Twice { kind: injection.name() });
            }
        }
        Ok(Injections { all: all.to_vec(), token: std::process::id().to_string() })
    }

    /// Variables that the ranks must have.
    pub fn variables(&self) -> Vec<(String, String)> {
        let needed = self.all.iter().any(|injection| matches!(injection, Injection::Stalls(_)));
        if needed { vec![(MARK.into(), self.token.clone())] } else { Vec::new() }
    }

    /// Whether ranks are restricted to some cores, which a launcher that binds ranks would undo.
    pub fn restricts_cores(&self) -> bool {
        self.all.contains(&Injection::Doubled)
    }

    /// `doubled`: holds this process, and so all that it starts, on the first half of its cores. To be called
    /// before anything counts cores.
    pub fn restrict_cores(&self) -> Result<(), InjectionError> {
        if !self.restricts_cores() {
            return Ok(());
        }
        let refused =
            |why: String| InjectionError::Refused { injection: Injection::Doubled.to_string(), why };
        let usable = cores::usable();
        let half = half(&usable).ok_or_else(|| {
            refused(
                "there is only one core, which cannot be halved; start twice as many ranks instead".into(),
            )
        })?;
        cores::hold_on(half).map_err(|e| refused(e.to_string()))
    }

    /// Starts the injector. The caller must then become the launcher of `ranks` ranks, or end.
    pub fn start(&self, ranks: u32) -> Result<(), InjectionError> {
        if self.all.is_empty() {
            return Ok(());
        }
        let quota = self.all.iter().find_map(|injection| match injection {
            Injection::Quota(share) => Some(*share),
            _ => None,
        });
        let group = quota.map(|share| control_group::make(share, cores::usable().len())).transpose()?;
        let pipes = if self.variables().is_empty() { Vec::new() } else { resume_guarantee::pipes(ranks)? };
        let mut injector = self.injector(&pipes, group.as_deref())?;
        match injector.status() {
            Ok(status) if status.success() => {}
            Ok(status) => return Err(self.refused(format!("the process that disturbs ended with {status}"))),
            Err(e) => return Err(self.refused(e.to_string())),
        }
        if let Some(group) = &group {
            control_group::join(group)?;
        }
        pipes.into_iter().for_each(Pipe::leave_to_launcher);
        Ok(())
    }

    /// The command line of the injector, which gets a descriptor of this process as standard input.
    fn injector(&self, pipes: &[Pipe], group: Option<&Path>) -> Result<Command, InjectionError> {
        let program = std::env::current_exe().map_err(|e| self.refused(e.to_string()))?;
        let mut command = Command::new(program);
        command.arg("injector").args(["--token", &self.token]);
        command.args(self.all.iter().flat_map(|injection| ["--inject".to_string(), injection.to_string()]));
        command.args(pipes.iter().flat_map(|pipe| ["--pipe".to_string(), pipe.number().to_string()]));
        if let Some(group) = group {
            command.arg("--group").arg(group);
        }
        let launcher = pidfd_open(getpid(), PidfdFlags::empty())
            .map_err(|e| self.refused(format!("pidfd_open, of Linux 5.3: {e}")))?;
        // A process group of its own: ^C is for the launcher, with whose end the injector ends. But the same
        // session: a kernel that schedules by session would otherwise give competitors as much as all ranks
        // together.
        command.process_group(0).stdin(launcher).stdout(Stdio::null());
        Ok(command)
    }

    fn refused(&self, why: String) -> InjectionError {
        InjectionError::Refused { injection: self.to_string(), why }
    }
}

impl fmt::Display for Injections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.all.iter().map(Injection::to_string).collect::<Vec<_>>().join(", "))
    }
}

/// The first half of the cores, the larger one if their number is odd. One core cannot be halved.
fn half(cores: &[usize]) -> Option<&[usize]> {
    (cores.len() >= 2).then(|| &cores[..cores.len().div_ceil(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_half_of_the_cores_stays() {
        assert_eq!(half(&[0, 1]), Some(&[0][..]));
        assert_eq!(half(&[2, 3, 5]), Some(&[2, 3][..]));
        assert_eq!(half(&[4]), None);
    }

    #[test]
    fn two_injections_of_one_kind_are_refused() {
        let injections = |texts: &[&str]| {
            Injections::new(&texts.iter().map(|t| t.parse().unwrap()).collect::<Vec<Injection>>())
        };
        assert!(injections(&["competitors=1", "doubled", "quota=50%"]).is_ok());
        assert!(injections(&["competitors=1", "competitors=2"]).is_err());
        assert!(injections(&["doubled"]).unwrap().variables().is_empty());
        assert_eq!(injections(&["stalls=fixed:1ms/1s"]).unwrap().variables().len(), 1);
    }
}

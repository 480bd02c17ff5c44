//! How processes are switched, and what of it works here.

use super::control_group::ControlGroup;
use crate::error::ShareError;
use std::fmt;

/// How a job's processes are kept from running outside their turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// By `cgroup.freeze`, of version 2.
    Freeze,
    /// By SIGSTOP and SIGCONT.
    Stop,
    /// By SCHED_IDLE: they run only where the others leave a core idle. It acts after some milliseconds.
    Demote,
}

impl Mechanism {
    /// All, the best first.
    pub const ALL: [Mechanism; 3] = [Mechanism::Freeze, Mechanism::Stop, Mechanism::Demote];

    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            Mechanism::Freeze => "freeze",
            Mechanism::Stop => "stop",
            Mechanism::Demote => "demote",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Mechanism> {
        Mechanism::ALL.into_iter().find(|mechanism| mechanism.name() == name)
    }

    /// The shortest quantum of which it keeps most, ns.
    pub(crate) fn shortest_quantum_ns(self) -> u64 {
        match self {
            Mechanism::Freeze | Mechanism::Stop => 0,
            Mechanism::Demote => 100_000_000,
        }
    }

    /// Whether it works here. Err: why not.
    pub(crate) fn attempt(self) -> Result<(), String> {
        match self {
            Mechanism::Freeze => ControlGroup::attempt(),
            Mechanism::Stop => Ok(()),
            Mechanism::Demote => may_undo_demotion(),
        }
    }

    /// The one that is wanted, or else the best.
    pub(crate) fn choose(wanted: Option<Mechanism>) -> Result<Mechanism, ShareError> {
        match wanted {
            Some(mechanism) => match mechanism.attempt() {
                Ok(()) => Ok(mechanism),
                Err(why) => Err(ShareError::Mechanism { mechanism: mechanism.name(), why }),
            },
            None if Mechanism::Freeze.attempt().is_ok() => Ok(Mechanism::Freeze),
            None => Ok(Mechanism::Stop),
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A process that has made itself SCHED_IDLE may become an ordinary one again only with this right.
fn may_undo_demotion() -> Result<(), String> {
    /// CAP_SYS_NICE of <linux/capability.h>.
    const CAP_SYS_NICE: u64 = 1 << 23;
    /// 20 minus the nice value 0.
    const NEEDED: u64 = 20;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let capabilities = line.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nice).current;
    if capabilities & CAP_SYS_NICE != 0 || limit.is_none_or(|limit| limit >= NEEDED) {
        return Ok(());
    }
    Err("this user may not undo SCHED_IDLE: that takes CAP_SYS_NICE, or a limit of at least 20 (`ulimit -e`)"
        .into())
}

/// A mechanism, tried.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Which one.
    pub mechanism: Mechanism,
    /// Err: why it does not work.
    pub result: Result<(), String>,
}

/// Tries all of them.
pub fn trials() -> Vec<Trial> {
    Mechanism::ALL.map(|mechanism| Trial { mechanism, result: mechanism.attempt() }).to_vec()
}

//! The processes of one job, and how they are switched.
//!
//! The launchers of the job go on: they take the ranks' output and the user's signals. Whatever ranks start
//! is switched with them. Only processes that run are stopped: of those that sleep in a system call some
//! would get EINTR from it.

mod control_group;
mod frozen;
mod mechanism;
mod processes;
mod signalled;
mod steering;

pub(crate) use control_group::ControlGroup;
pub use mechanism::{Mechanism, Trial, trials};
pub use processes::JOB_VARIABLE;
pub(crate) use processes::Root;
pub(crate) use steering::usable_cores;

use crate::error::ShareError;
use crate::process_id::ProcessId;
use frozen::FrozenGang;
use signalled::SignalledGang;

/// The processes of a job that are switched together.
pub(crate) enum Gang {
    Frozen(FrozenGang),
    Signalled(SignalledGang),
}

impl Gang {
    /// Of the job that `root` has started.
    pub(crate) fn new(
        mechanism: Mechanism,
        root: Root,
        group: Option<ControlGroup>,
    ) -> Result<Gang, ShareError> {
        match (mechanism, group) {
            (Mechanism::Freeze, Some(group)) => Ok(Gang::Frozen(FrozenGang::new(root, group))),
            (Mechanism::Freeze, None) => Err(ShareError::Mechanism {
                mechanism: mechanism.name(),
                why: "there is no control group of this user's".into(),
            }),
            (_, group) => Ok(Gang::Signalled(SignalledGang::new(mechanism, root, group))),
        }
    }

    /// The cores on which its processes go on, one after the other.
    pub(crate) fn set_cores(&mut self, cores: Vec<usize>) {
        match self {
            Gang::Frozen(gang) => gang.cores = cores,
            Gang::Signalled(gang) => gang.cores = cores,
        }
    }

    /// Its turn is over. Returns whether some of its processes were asleep, and are to be looked at again.
    pub(crate) fn stop(&mut self) -> bool {
        match self {
            Gang::Frozen(gang) => gang.stop(),
            Gang::Signalled(gang) => gang.stop(),
        }
    }

    /// Its turn begins.
    pub(crate) fn go_on(&mut self) {
        match self {
            Gang::Frozen(gang) => gang.go_on(),
            Gang::Signalled(gang) => gang.go_on(),
        }
    }

    /// Whatever a switcher has stopped goes on. `known` are processes that one has found.
    pub(crate) fn release(&mut self, known: &[ProcessId]) {
        match self {
            Gang::Frozen(gang) => gang.release(),
            Gang::Signalled(gang) => gang.release(known),
        }
    }

    /// Processes that have been found since the last call, if they must be known to release them.
    pub(crate) fn take_new(&mut self) -> Vec<ProcessId> {
        match self {
            Gang::Frozen(_) => Vec::new(),
            Gang::Signalled(gang) => gang.take_new(),
        }
    }

    /// The processor time of all its processes so far, us, where it can be had for little.
    pub(crate) fn processor_time_us(&self) -> Option<u64> {
        match self {
            Gang::Frozen(gang) => gang.processor_time_us(),
            Gang::Signalled(_) => None,
        }
    }
}

//! What this process remembers between calls of the interface, in one place.

use evenkeel_engine::communicator::node::lock;
use evenkeel_engine::job::bootstrap::Candidate;
use std::sync::{Mutex, MutexGuard};

/// The state of the interface; there is one MPI world, so there is one of these.
pub(crate) struct Process {
    /// The engine's start, from `ek_world_begin` to `ek_world_agree`.
    bootstrap: Mutex<Option<Candidate>>,
    names: Mutex<Names>,
}

/// What the shim said about itself, for the report.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    /// The host library and its version.
    pub(crate) mpi: String,
    /// The shim's own name.
    pub(crate) shim: String,
}

pub(crate) static PROCESS: Process = Process {
    bootstrap: Mutex::new(None),
    names: Mutex::new(Names { mpi: String::new(), shim: String::new() }),
};

impl Process {
    pub(crate) fn bootstrap(&self) -> MutexGuard<'_, Option<Candidate>> {
        lock(&self.bootstrap)
    }

    pub(crate) fn set_names(&self, names: Names) {
        *lock(&self.names) = names;
    }

    pub(crate) fn names(&self) -> Names {
        lock(&self.names).clone()
    }
}

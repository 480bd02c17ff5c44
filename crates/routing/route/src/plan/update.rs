//! A plan: its steps, the tables at its end, and what it could not achieve.

use crate::network::{Port, SwitchId};
use crate::table::{Destination, Table};
use thiserror::Error;

/// An entry of a table that gets a new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryChange {
    /// The switch.
    pub at: SwitchId,
    /// The destination of the entry.
    pub to: Destination,
    /// The new port.
    pub port: Port,
}

/// Entries that may change in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateStep {
    /// The entries, each at most once.
    pub changes: Vec<EntryChange>,
}

impl UpdateStep {
    /// The tables after all changes of the step.
    pub fn applied(&self, before: &Table) -> Table {
        let mut after = before.clone();
        for change in &self.changes {
            after.set(change.at, change.to, Some(change.port));
        }
        after
    }
}

/// The steps from old tables to new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdatePlan {
    /// The steps, in order.
    pub steps: Vec<UpdateStep>,
    /// The tables after the last step.
    pub end: Table,
    /// Switches without a path to a destination at the end, although the network connects them. The search
    /// did not find one.
    pub missing_paths: Vec<(SwitchId, Destination)>,
}

impl UpdatePlan {
    /// This plan or another one, whichever has fewer missing paths.
    pub(super) fn or(self, other: UpdatePlan) -> UpdatePlan {
        if other.missing_paths.len() < self.missing_paths.len() { other } else { self }
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlanError {
    /// The current tables can deadlock.
    #[error(
        "the current tables can deadlock already, so no state before they are replaced can be proved safe: \
         {cycle}"
    )]
    Cyclic {
        /// The dependency that closes a cycle.
        cycle: String,
    },
    /// The current tables have a loop.
    #[error("the current tables send packets in loops")]
    Loop,
}

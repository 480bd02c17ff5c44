//! Which ranks may run on a core, and before which others. May use: run.

use super::run::{ClusterRun, Progress};
use crate::policy::Policy;
use evenkeel_gang::{Class, Core, Turn, turn};

/// The rank may not run.
pub const OFF: u8 = 0;
/// It shares the core.
pub const SHARED: u8 = 1;
/// It runs before ranks that share the core.
pub const FIRST: u8 = 2;
/// It runs before all others.
pub const ALONE: u8 = 3;

impl ClusterRun<'_> {
    /// The level of a rank while the present slot is on.
    pub fn level(&self, rank: u32) -> u8 {
        let run = &self.ranks[rank as usize];
        let owner = self.slot.and_then(|slot| self.timetable.cell(slot, Core(run.core as usize)));
        let owner = owner.filter(|cell| !matches!(self.jobs[cell.job.0 as usize].progress, Progress::Ended));
        let is_owner = owner.is_some_and(|cell| cell.job.0 == u64::from(run.job));
        match self.policy {
            Policy::Pbcs if self.given[run.job as usize].has_priority => ALONE,
            Policy::Bcs | Policy::Pbcs if is_owner => FIRST,
            Policy::Fcs => {
                let class = |job: usize, rank: usize| self.jobs[job].classes.get(rank).copied();
                let of_owner = owner.and_then(|cell| class(cell.job.0 as usize, cell.rank.0));
                let own = class(run.job as usize, run.index as usize).unwrap_or(Class::CS);
                match turn(own, is_owner, of_owner) {
                    Turn::Alone => ALONE,
                    Turn::First => FIRST,
                    Turn::Gaps | Turn::Shared => SHARED,
                    Turn::Off => OFF,
                }
            }
            _ => SHARED,
        }
    }

    /// How long a rank spins for a message before it leaves its core. A rank that has the core to itself
    /// stays.
    pub fn spins_ns(&self, rank: u32) -> u64 {
        match self.policy {
            Policy::Bcs | Policy::Pbcs => 0,
            Policy::Fcs if self.ranks[rank as usize].level == ALONE => u64::MAX,
            _ => self.cluster.spin_ns,
        }
    }
}

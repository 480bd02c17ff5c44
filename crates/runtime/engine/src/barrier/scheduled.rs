//! A barrier by a schedule that a table names: the [`BarrierProgram`] made of it, and flags of its own.
//!
//! All members of a communicator have the same schedule or none has, since what they decide by is known
//! to all alike. A barrier that runs by messages cannot be left pending: only ranks that wait in it
//! move it on. So schedules are for jobs in which all barriers are strict. There the promise of bypass
//! holds: a rank waits in a barrier only for the other ranks' entering.

use super::program::{BarrierProgram, FlagLayout, UnsupportedScheduleError};
use crate::comm::part::NodePart;
use crate::comm::shared::Shared;
use evenkeel_schedule::{Rank, Schedule};
use evenkeel_segment::block::Block;
use evenkeel_segment::{FlagGeometry, Flags, Mapped};
use std::sync::OnceLock;

/// A communicator's schedule, and what is made of it when it is first needed.
pub struct ScheduledBarrier {
    schedule: Schedule,
    /// None: there is no room for the flags, for all members alike.
    ready: OnceLock<Option<ReadyBarrier>>,
}

/// A schedule that can be run.
pub(super) struct ReadyBarrier {
    pub(super) program: BarrierProgram,
    pub(super) flags: Flags<Mapped>,
    block: Block,
    geometry: FlagGeometry,
}

impl ScheduledBarrier {
    /// To be made by all members of a communicator, of the same schedule, or by none.
    pub fn new(schedule: Schedule) -> Result<ScheduledBarrier, UnsupportedScheduleError> {
        FlagLayout::of(&schedule)?;
        Ok(ScheduledBarrier { schedule, ready: OnceLock::new() })
    }

    /// The schedule's name.
    pub fn name(&self) -> String {
        self.schedule.name()
    }

    /// Whether barriers have been run by it.
    pub fn is_running(&self) -> bool {
        matches!(self.ready.get(), Some(Some(_)))
    }

    /// Shared memory that its flags take, once they are there.
    pub(crate) fn segment_bytes(&self) -> u64 {
        self.ready.get().and_then(Option::as_ref).map_or(0, |ready| ready.geometry.total_bytes as u64)
    }

    /// What is needed to run it; None if there is no room for the flags, for all members alike.
    #[inline(always)]
    pub(super) fn ready(&self, part: &NodePart) -> Option<&ReadyBarrier> {
        match self.ready.get() {
            Some(ready) => ready.as_ref(),
            None => self.make_ready(part),
        }
    }

    #[cold]
    fn make_ready(&self, part: &NodePart) -> Option<&ReadyBarrier> {
        let (shared, node) = (&part.shared, part.shared.node);
        let make = || {
            let layout = FlagLayout::of(&self.schedule).expect("it was checked when this was made");
            let block = node.allocator().flags(shared.block, &layout.geometry)?;
            let at = |offset: usize| node.segment.at(block.offset() + offset);
            let ranks = 0..layout.geometry.ranks;
            let eventcounts = ranks.map(|rank| at(layout.geometry.eventcount(rank))).collect();
            let flags = Flags { memory: at(0), eventcounts, fencing: shared.board.fencing };
            let program = BarrierProgram::of(&self.schedule, &layout, Rank(part.me as u32));
            Some(ReadyBarrier { program, flags, block, geometry: layout.geometry })
        };
        self.ready.get_or_init(make).as_ref()
    }

    /// Gives the flags back, if this rank has ever asked for them.
    pub(crate) fn release(&self, shared: &Shared) {
        if let Some(Some(ready)) = self.ready.get() {
            shared.node.allocator().drop_reference(ready.block, &ready.geometry);
        }
    }
}

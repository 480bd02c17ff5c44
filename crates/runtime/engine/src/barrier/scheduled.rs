//! A barrier that runs by a schedule of the job's table: a [`BarrierProgram`] and a block of flags.
//!
//! Either all members of a communicator have the same schedule or none has one, because the choice depends
//! on facts that all members know. A barrier that runs by messages cannot be left pending, since only ranks
//! that wait in it move it forward. Schedules are therefore for jobs in which all barriers are strict.
//! There a strict barrier waits for nothing but the entry of the other ranks, so application bypass loses
//! nothing.

use super::flag_layout::{FlagLayout, UnsupportedScheduleError};
use super::program::BarrierProgram;
use crate::comm::part::NodePart;
use crate::comm::shared::Shared;
use evenkeel_schedule::{Rank, Schedule};
use evenkeel_segment::block::Block;
use evenkeel_segment::{FlagGeometry, Flags, Mapped};
use std::sync::OnceLock;

/// A communicator's schedule, and its program and flags once they are needed.
pub struct ScheduledBarrier {
    schedule: Schedule,
    /// The inner `None` means that the segment has no room for the flags; then all members get it.
    ready: OnceLock<Option<ReadyBarrier>>,
}

/// A schedule with its program and flags.
pub(super) struct ReadyBarrier {
    pub(super) program: BarrierProgram,
    pub(super) flags: Flags<Mapped>,
    block: Block,
    geometry: FlagGeometry,
}

impl ScheduledBarrier {
    /// Checks that the engine can run the schedule. All members of a communicator must use the same one.
    pub fn new(schedule: Schedule) -> Result<ScheduledBarrier, UnsupportedScheduleError> {
        FlagLayout::of(&schedule)?;
        Ok(ScheduledBarrier { schedule, ready: OnceLock::new() })
    }

    /// The schedule's name.
    pub fn name(&self) -> String {
        self.schedule.name()
    }

    /// Returns whether it has run barriers.
    pub fn is_running(&self) -> bool {
        matches!(self.ready.get(), Some(Some(_)))
    }

    /// The size of the shared memory of its flags; 0 until they have been allocated.
    pub(crate) fn segment_bytes(&self) -> u64 {
        self.ready.get().and_then(Option::as_ref).map_or(0, |ready| ready.geometry.total_bytes as u64)
    }

    /// Its program and flags, made now if this is the first use. If the segment has no room for the flags,
    /// all members get `None`.
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
            let layout = FlagLayout::of(&self.schedule).expect("checked by `new`");
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

    /// Gives the flags back, if this rank has allocated them.
    pub(crate) fn release(&self, shared: &Shared) {
        if let Some(Some(ready)) = self.ready.get() {
            shared.node.allocator().drop_reference(ready.block, &ready.geometry);
        }
    }
}

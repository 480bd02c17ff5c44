//! What a communicator has on this node: its parts for blocking and nonblocking operations, and the
//! algorithm of its barriers. The members of these parts are all members of the communicator or, if it
//! spans nodes, the members on this node and the node's agent.

use crate::barrier::lateness;
use crate::barrier::scheduled::ScheduledBarrier;
use crate::comm::part::NodePart;
use crate::comm::shared::Shared;
use crate::comm::state::PartState;
use crate::nonblocking::request::Companion;
use crate::wait::crowding::yield_now;
use evenkeel_record::OpRecord;
use evenkeel_segment::block::Block;
use evenkeel_segment::eventcount::Fencing;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// The algorithm that runs the barriers of a communicator. It is chosen when the communicator is made, and
/// is the same on all members except for how a member waits.
pub enum BarrierKind {
    /// Two ranks exchange flags. Only one thread is in MPI.
    Pair,
    /// Each rank writes its epoch, and ranks that wait add to one counter. Only one thread is in MPI.
    /// Barriers may be deferred.
    Central,
    /// Like `Central`, but several threads may be in MPI while nothing is pending.
    Threaded,
    /// A schedule that the job's table names.
    Scheduled(Box<ScheduledBarrier>),
}

/// What a communicator has on this node.
pub struct NodeService {
    /// The part for blocking operations.
    pub part: NodePart,
    /// The algorithm of its barriers.
    pub barrier: BarrierKind,
    /// The part for nonblocking operations. It is made when the first of them is called, because most
    /// communicators never need it. The inner `None` means that the segment has no room for it.
    companion: OnceLock<Option<Arc<Companion>>>,
    /// How many duplicates have been made.
    duplicates: AtomicU64,
}

impl NodeService {
    /// The service for member `me`. `schedule` runs its barriers; `None` means the built-in algorithm. All
    /// members must pass the same.
    pub(crate) fn new(shared: Shared, me: usize, schedule: Option<ScheduledBarrier>) -> NodeService {
        let part = NodePart::new(shared, me);
        let barrier = match schedule {
            Some(schedule) => BarrierKind::Scheduled(Box::new(schedule)),
            None if part.is_threaded() => BarrierKind::Threaded,
            None if part.ranks == 2 && part.shared.board.fencing == Fencing::Sleeper => BarrierKind::Pair,
            None => BarrierKind::Central,
        };
        NodeService { part, barrier, companion: OnceLock::new(), duplicates: AtomicU64::new(0) }
    }

    /// The offset in the segment of the block for blocking operations.
    pub fn block_offset(&self) -> u64 {
        self.part.shared.block.offset() as u64
    }

    /// The part for nonblocking operations, made now if this is the first use. If the segment has no room
    /// for it, all members get `None`.
    pub fn companion(&self) -> Option<&Arc<Companion>> {
        let make = || {
            let shared = self.part.shared.companion()?;
            Some(Arc::new(Companion::new(NodePart::new(shared, self.part.me))))
        };
        self.companion.get_or_init(make).as_ref()
    }

    fn companion_if_made(&self) -> Option<&Arc<Companion>> {
        self.companion.get()?.as_ref()
    }

    /// Returns the number of the next duplicate.
    pub(crate) fn next_duplicate(&self) -> u64 {
        self.duplicates.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the block of duplicate `number`, which has `members` ranks. All members get the same block
    /// if they ask in the same order. `None` means that the segment has no room.
    pub(crate) fn duplicate_block(&self, members: usize, number: u64) -> Option<Block> {
        let shared = &self.part.shared;
        shared.node.allocator().duplicate(shared.block, &shared.board.geometry, members, number, yield_now)
    }

    /// Gives back this rank's reference to each of its blocks.
    pub(crate) fn release(&self) {
        self.part.shared.release();
        if let Some(companion) = self.companion_if_made() {
            companion.part.shared.release();
        }
        if let BarrierKind::Scheduled(schedule) = &self.barrier {
            schedule.release(&self.part.shared);
        }
    }

    /// The counters of both parts, by operation.
    pub(super) fn counters(&self) -> Vec<OpRecord> {
        let mut ops = self.part.with(|state| {
            lateness::settle(&self.part, state);
            state.records()
        });
        ops.extend(
            self.companion_if_made().iter().flat_map(|companion| companion.part.with(PartState::records)),
        );
        ops
    }

    /// The size of the shared memory that both parts use.
    pub(super) fn segment_bytes(&self) -> u64 {
        let bytes_of = |part: &NodePart| part.shared.board.geometry.total_bytes as u64;
        let scheduled = match &self.barrier {
            BarrierKind::Scheduled(schedule) => schedule.segment_bytes(),
            _ => 0,
        };
        bytes_of(&self.part) + self.companion_if_made().map_or(0, |c| bytes_of(&c.part)) + scheduled
    }

    /// The name of the schedule that has run barriers; empty if none has.
    pub(super) fn schedule_name(&self) -> String {
        match &self.barrier {
            BarrierKind::Scheduled(schedule) if schedule.is_running() => schedule.name(),
            _ => String::new(),
        }
    }
}

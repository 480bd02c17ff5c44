//! What a communicator has on this node: its parts for blocking and nonblocking operations, and the
//! kind of its barriers. Its members are all on this node, or they are those on this node and the
//! node's agent.

use crate::barrier::scheduled::ScheduledBarrier;
use crate::comm::part::NodePart;
use crate::comm::shared::Shared;
use crate::comm::state::State;
use crate::nonblocking::request::Companion;
use crate::wait::pause::yield_now;
use evenkeel_record::OpRecord;
use evenkeel_segment::block::Block;
use evenkeel_segment::eventcount::Fencing;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// By which algorithm the barriers of a communicator run; chosen when it is made, and the same at all
/// members but for how a member waits.
pub enum BarrierKind {
    /// Two ranks exchange flags, and one thread is in MPI.
    Pair,
    /// Ranks write epochs, and those that wait count at one place; one thread is in MPI. Barriers may be
    /// deferred.
    Central,
    /// The same where several threads may be in MPI.
    Threaded,
    /// By a schedule that a table names.
    Scheduled(Box<ScheduledBarrier>),
}

/// What a communicator has on this node.
pub struct NodeService {
    /// Its part for blocking operations.
    pub part: NodePart,
    /// How its barriers run.
    pub barrier: BarrierKind,
    /// Its part for nonblocking operations, made when the first is called: most communicators never need
    /// it. None: there is no room for it.
    companion: OnceLock<Option<Arc<Companion>>>,
    /// Duplicates that have been made of it.
    duplicates: AtomicU64,
}

impl NodeService {
    /// For member `me`. `schedule`: by which barriers run, which all members must say alike; None: by the
    /// built-in algorithm.
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

    /// Its part for nonblocking operations; None: there is no room for it, at all members alike.
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

    /// The number of the next duplicate.
    pub(crate) fn next_duplicate(&self) -> u64 {
        self.duplicates.fetch_add(1, Ordering::Relaxed)
    }

    /// The block of the next duplicate, for `members` ranks; all members get the same one if they ask in
    /// the same order. None: there is no room.
    pub(crate) fn duplicate_block(&self, members: usize, number: u64) -> Option<Block> {
        let shared = &self.part.shared;
        shared.node.allocator().duplicate(shared.block, &shared.board.geometry, members, number, yield_now)
    }

    /// Gives this rank's share of its blocks back.
    pub(crate) fn release(&self) {
        self.part.shared.release();
        if let Some(companion) = self.companion_if_made() {
            companion.part.shared.release();
        }
        if let BarrierKind::Scheduled(schedule) = &self.barrier {
            schedule.release(&self.part.shared);
        }
    }

    /// What has been counted on both parts, by operation.
    pub(super) fn counters(&self) -> Vec<OpRecord> {
        let mut ops = self.part.with(State::records);
        ops.extend(self.companion_if_made().iter().flat_map(|companion| companion.part.with(State::records)));
        ops
    }

    /// Shared memory that its parts take.
    pub(super) fn segment_bytes(&self) -> u64 {
        let bytes_of = |part: &NodePart| part.shared.board.geometry.total_bytes as u64;
        let scheduled = match &self.barrier {
            BarrierKind::Scheduled(schedule) => schedule.segment_bytes(),
            _ => 0,
        };
        bytes_of(&self.part) + self.companion_if_made().map_or(0, |c| bytes_of(&c.part)) + scheduled
    }

    /// The name of the schedule by which barriers have run; empty: by none.
    pub(super) fn schedule_name(&self) -> String {
        match &self.barrier {
            BarrierKind::Scheduled(schedule) if schedule.is_running() => schedule.name(),
            _ => String::new(),
        }
    }
}

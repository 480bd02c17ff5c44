//! What this process knows of the barriers that stamps name. The answers are cached, because a program may
//! receive thousands of messages sent after one barrier.

use super::visibility::{BarrierProgress, QueryKind, Strength, may_see};
use crate::comm::stamp::BarrierStamp;
use crate::deferral::pending::Deferral;
use crate::job::node::Node;
use evenkeel_segment::block::Block;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::{Board, Geometry};
use std::cell::Cell;

/// Caches the latest answers, because most queries are about the same barrier.
pub(super) struct KnownBarriers {
    node: &'static Node,
    deferral: &'static Deferral,
    strength: Strength,
    /// The latest barrier that is known to be complete. All earlier barriers of its communicator are too.
    complete: Cell<Option<BarrierStamp>>,
    /// The latest barrier that was not complete when it was checked, and how many members had entered it.
    incomplete: Cell<Option<(BarrierStamp, usize)>>,
}

impl KnownBarriers {
    pub(super) fn new(node: &'static Node, deferral: &'static Deferral, strength: Strength) -> KnownBarriers {
        KnownBarriers { node, deferral, strength, complete: Cell::new(None), incomplete: Cell::new(None) }
    }

    fn is_complete(&self, stamp: BarrierStamp) -> bool {
        if self.complete.get().is_some_and(|known| known.comm == stamp.comm && known.number >= stamp.number) {
            return true;
        }
        let mut entered =
            self.incomplete.get().filter(|(asked, _)| *asked == stamp).map_or(0, |(_, entered)| entered);
        let is_complete = is_complete(self.node, stamp, &mut entered);
        if is_complete {
            self.complete.set(Some(stamp));
        } else {
            self.incomplete.set(Some((stamp, entered)));
        }
        is_complete
    }

    /// Returns whether the program may see, with this kind of query, something that carries this stamp.
    #[inline(always)]
    pub(super) fn may_see(&self, query: QueryKind, stamp: Option<BarrierStamp>) -> bool {
        stamp.is_none_or(|stamp| self.may_see_stamped(query, stamp))
    }

    fn may_see_stamped(&self, query: QueryKind, stamp: BarrierStamp) -> bool {
        let progress = if self.is_complete(stamp) {
            BarrierProgress::Complete
        } else if self.deferral.is_pending_here(stamp) {
            BarrierProgress::Entered
        } else {
            BarrierProgress::Ahead
        };
        may_see(self.strength, query, progress)
    }
}

/// Returns whether all members of a communicator have entered a barrier. The segment says so, and this
/// process need not be a member. `entered` counts members that are known to have entered; the next check of
/// the same barrier continues there.
fn is_complete(node: &Node, stamp: BarrierStamp, entered: &mut usize) -> bool {
    let Some(block) = Block::from_id(stamp.comm) else { return true };
    let memory = node.segment.at(block.offset());
    let board = Board { memory, geometry: Geometry::new(stamp.ranks as usize), fencing: Fencing::Both };
    // If the block belongs to another communicator by now, the stamp's communicator has been freed, which
    // all its members agreed on after its last barrier.
    !node.allocator().is_current(block) || board.all_entered(stamp.number, entered)
}

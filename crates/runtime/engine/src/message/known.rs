//! What this process knows of the barriers that stamps name. A program may have thousands of messages
//! from after one barrier.

use super::visibility::{BarrierProgress, Look, Strength, may_see};
use crate::comm::stamp::BarrierStamp;
use crate::deferral::pending::Deferral;
use crate::job::node::Node;
use evenkeel_segment::block::Block;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::{Board, Geometry};
use std::cell::Cell;

/// Remembers the latest answers, since most questions are about one barrier.
pub(super) struct KnownBarriers {
    node: &'static Node,
    deferral: &'static Deferral,
    strength: Strength,
    /// The latest barrier that is known to be complete: all earlier ones of its communicator are too.
    complete: Cell<Option<BarrierStamp>>,
    /// The latest one that was not, and how many of its members had entered it.
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

    /// Whether a program that looks so may see what carries the stamp.
    pub(super) fn may_see(&self, look: Look, stamp: Option<BarrierStamp>) -> bool {
        let progress = |stamp| {
            if self.is_complete(stamp) {
                BarrierProgress::Complete
            } else if self.deferral.is_pending_here(stamp) {
                BarrierProgress::Entered
            } else {
                BarrierProgress::Ahead
            }
        };
        stamp.is_none_or(|stamp| may_see(self.strength, look, progress(stamp)))
    }

    /// Whether a receive from any source, or a probe, may have such a message.
    #[inline(always)]
    pub(super) fn is_visible(&self, stamp: Option<BarrierStamp>) -> bool {
        self.may_see(Look::Choose, stamp)
    }
}

/// Whether all members of a communicator have entered a barrier, by what the segment says: this process
/// need not be a member. `entered`: members that are known to have entered it; a later look at the same
/// barrier goes on there.
fn is_complete(node: &Node, stamp: BarrierStamp, entered: &mut usize) -> bool {
    let Some(block) = Block::from_id(stamp.comm) else { return true };
    let memory = node.segment.at(block.offset());
    let board = Board { memory, geometry: Geometry::new(stamp.ranks as usize), fencing: Fencing::Both };
    // Where its block is in use by another communicator it is gone: all members have agreed to that after
    // its last barrier.
    !node.allocator().is_current(block) || board.all_entered(stamp.number, entered)
}

//! What this process knows of the barriers that stamps name. A program may have thousands of messages
//! from after one barrier.

use super::visibility::{Look, Progress, Stamp, Strength, may_see};
use crate::deferral::pending as deferral;
use crate::job::node::World;
use std::cell::Cell;

/// Remembers the latest answers, as most questions are about the same barrier again.
#[derive(Default)]
pub(super) struct Known {
    strength: Strength,
    /// The latest barrier that is known to be complete: all earlier ones of its communicator are too.
    complete: Cell<Option<Stamp>>,
    /// The latest one that was not, and how many of its members had entered it.
    incomplete: Cell<Option<(Stamp, usize)>>,
}

impl Known {
    pub(super) fn with(strength: Strength) -> Known {
        Known { strength, ..Known::default() }
    }

    fn is_complete(&self, world: &World, stamp: Stamp) -> bool {
        if self.complete.get().is_some_and(|c| c.comm == stamp.comm && c.number >= stamp.number) {
            return true;
        }
        let mut seen = self.incomplete.get().filter(|(asked, _)| *asked == stamp).map_or(0, |(_, seen)| seen);
        let complete = world.is_complete(stamp, &mut seen);
        if complete {
            self.complete.set(Some(stamp));
        } else {
            self.incomplete.set(Some((stamp, seen)));
        }
        complete
    }

    /// Whether a program that looks so may see what carries the stamp.
    pub(super) fn may_see(&self, world: &World, look: Look, stamp: Option<Stamp>) -> bool {
        let progress = |stamp| match () {
            _ if self.is_complete(world, stamp) => Progress::Complete,
            _ if deferral::is_pending_here(stamp) => Progress::Entered,
            _ => Progress::Ahead,
        };
        stamp.is_none_or(|s| may_see(self.strength, look, progress(s)))
    }

    /// Whether a receive from any source, or a probe, may have such a message.
    #[inline(always)]
    pub(super) fn is_visible(&self, world: &World, stamp: Option<Stamp>) -> bool {
        self.may_see(world, Look::Choose, stamp)
    }
}

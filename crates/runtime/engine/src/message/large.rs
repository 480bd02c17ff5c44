//! The pipelines for large messages, which both ends of a message may copy at once
//! ([`evenkeel_segment::pipeline`]), and the choice of who copies.

use crate::copy::choice::Choice;
use crate::job::node::Node;
use evenkeel_segment::Mapped;
use evenkeel_segment::pipeline::{Pipelines, Sender};

/// From this size on both ends copy. Smaller messages are over before the sender has noticed.
pub(super) const WORTH_SHARING: usize = 192 * 1024;

/// Who copies large messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copiers {
    /// Their receivers.
    Receiver,
    /// Both ends.
    Both,
    /// Whichever has been faster.
    Faster,
}

/// Sizes are told apart by powers of two, the largest ones excepted: what is faster depends on the caches.
const SIZE_CLASSES: usize = 8;

/// The pipelines of this node's processes, and this process's own end.
pub(super) struct LargeMessages {
    copiers: Copiers,
    pub(super) pipelines: Pipelines,
    pub(super) own: Sender<Mapped>,
    /// Between the receiver alone and both ends, for each class of sizes.
    choices: [Choice; SIZE_CLASSES],
    /// How many bytes this process has copied for the receivers of its messages.
    pub(super) bytes_copied: u64,
}

impl LargeMessages {
    /// None if only receivers copy, or if the segment has no room for pipelines.
    pub(super) fn new(node: &Node, copiers: Copiers) -> Option<LargeMessages> {
        let pipelines = node.pipelines().filter(|_| copiers != Copiers::Receiver)?;
        let own = Sender::new(node.segment.at(pipelines.of(node.local_rank)));
        Some(LargeMessages { copiers, pipelines, own, choices: Default::default(), bytes_copied: 0 })
    }

    /// The choice for messages of this size, which is [`WORTH_SHARING`] or more.
    pub(super) fn choice(&mut self, bytes: usize) -> &mut Choice {
        let class = (bytes / WORTH_SHARING).ilog2() as usize;
        &mut self.choices[class.min(SIZE_CLASSES - 1)]
    }

    /// Returns whether both ends are to copy a message of this size.
    pub(super) fn are_both_wanted(&mut self, bytes: usize) -> bool {
        self.copiers == Copiers::Both || self.choice(bytes).takes_second()
    }
}

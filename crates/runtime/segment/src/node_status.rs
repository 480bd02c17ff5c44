//! What the processes of one node tell each other about themselves: which of them has finished, whether the
//! node's agent sleeps, which node and which rank the agent has found lost, and that the job's end has been
//! announced.
//!
//! Each fact is one word of the segment that is written by one process, or by the first of several, and stays
//! as it is once it is true (except for the agent's sleep). So a process may die at any moment and leaves the
//! others a valid word.
//!
//! May use: the segment's words. Must never: wait, or conclude anything from a process's silence.

use crate::layout::{
    AGENT_ASLEEP_AT, DEAD_RANK_AT, END_ANNOUNCED_AT, FIRST_CONTACT_AT, LINE, LOST_NODE_AT, MAX_PROCESSES,
    PROCESSES_AT,
};
use crate::sync::{AtomicU64, Ordering, Words, fence};

/// A process's word: 0 before it has joined.
const JOINED: u64 = 1;
const LEFT: u64 = 2;
/// It is ended by evenkeel because of another loss.
const ENDED: u64 = 3;

/// Set in the word of a lost node, above its number.
const UNREACHABLE: u64 = 1 << 32;

/// Why the agent has given a node up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeLoss {
    /// It has not been heard of for as long as the job's patience lasts.
    Silent,
    /// The network reports that it cannot be reached.
    Unreachable,
}

/// A node that the agent has given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostNode {
    /// The number of the node in the job.
    pub node: u32,
    /// Why.
    pub loss: NodeLoss,
}

impl LostNode {
    /// Never 0.
    fn to_word(self) -> u64 {
        let unreachable = if self.loss == NodeLoss::Unreachable { UNREACHABLE } else { 0 };
        1 + (u64::from(self.node) | unreachable)
    }

    fn from_word(word: u64) -> Option<LostNode> {
        let content = word.checked_sub(1)?;
        let loss = if content & UNREACHABLE != 0 { NodeLoss::Unreachable } else { NodeLoss::Silent };
        Some(LostNode { node: content as u32, loss })
    }
}

/// The status words of a node, in its segment.
pub struct NodeStatus<'a, M> {
    segment: &'a M,
}

impl<'a, M: Words> NodeStatus<'a, M> {
    /// The status words of the node that shares this segment.
    pub fn new(segment: &'a M) -> Self {
        NodeStatus { segment }
    }

    fn process(&self, place: usize) -> &'a AtomicU64 {
        assert!(place < MAX_PROCESSES);
        self.segment.word(PROCESSES_AT + place * LINE)
    }

    /// The process at a place of this node takes part from now on.
    ///
    /// # Panics
    /// If `place` is [`MAX_PROCESSES`] or more; so do the other two methods about processes.
    pub fn set_joined(&self, place: usize) {
        self.process(place).store(JOINED, Ordering::Release); // pairs with the load in `has_left`
    }

    /// The process at a place of this node has done its part in everything and may end.
    pub fn set_left(&self, place: usize) {
        // Release: pairs with the load in `has_left`; what the process has contributed comes before.
        self.process(place).store(LEFT, Ordering::Release);
    }

    /// Whether the process at a place of this node has done its part in everything.
    pub fn has_left(&self, place: usize) -> bool {
        self.process(place).load(Ordering::Acquire) == LEFT // pairs with the store in `set_left`
    }

    /// The process at a place of this node ends itself because something else was lost. Its end is no death.
    pub fn set_ended(&self, place: usize) {
        // Release: pairs with the load in `was_ended`; the announcement of the loss comes before.
        self.process(place).store(ENDED, Ordering::Release);
    }

    /// Whether the process at a place of this node has ended itself because something else was lost.
    pub fn was_ended(&self, place: usize) -> bool {
        self.process(place).load(Ordering::Acquire) == ENDED // pairs with the store in `set_ended`
    }

    /// The agent is about to sleep. It must look for work once more before it does: a rank that does not see
    /// this word has published its work before that look.
    pub fn set_agent_asleep(&self) {
        let word = self.segment.word(AGENT_ASLEEP_AT);
        word.store(1, Ordering::SeqCst);
        fence(Ordering::SeqCst); // pairs with the fence that `is_agent_asleep` asks of its caller
    }

    /// The agent is awake again.
    pub fn set_agent_awake(&self) {
        // Relaxed: a rank that misses it sends a wake-up too many.
        self.segment.word(AGENT_ASLEEP_AT).store(0, Ordering::Relaxed);
    }

    /// Whether the agent sleeps or is about to. To be asked after publishing work for it and a full fence,
    /// which pairs with the one in [`NodeStatus::set_agent_asleep`].
    #[inline]
    pub fn is_agent_asleep(&self) -> bool {
        self.segment.word(AGENT_ASLEEP_AT).load(Ordering::Relaxed) != 0
    }

    /// The agent has given a node up. The first such report stands.
    pub fn report_lost_node(&self, lost: LostNode) {
        // Release: pairs with the load in `lost_node`.
        let _ = self.segment.word(LOST_NODE_AT).compare_exchange(
            0,
            lost.to_word(),
            Ordering::Release,
            Ordering::Relaxed,
        );
    }

    /// The first node that the agent has given up, if any.
    pub fn lost_node(&self) -> Option<LostNode> {
        // Acquire: pairs with the exchange in `report_lost_node`.
        LostNode::from_word(self.segment.word(LOST_NODE_AT).load(Ordering::Acquire))
    }

    /// The agents have found that a process, by its rank in the job, died before its part was done. The first
    /// such report stands: later deaths follow from it.
    pub fn report_dead_rank(&self, world_rank: u32) {
        // Release: pairs with the load in `dead_rank`.
        let _ = self.segment.word(DEAD_RANK_AT).compare_exchange(
            0,
            1 + u64::from(world_rank),
            Ordering::Release,
            Ordering::Relaxed,
        );
    }

    /// The rank in the job of a process that died before its part was done, if the agent knows of any.
    pub fn dead_rank(&self) -> Option<u32> {
        // Acquire: pairs with the store in `report_dead_rank`.
        let word = self.segment.word(DEAD_RANK_AT).load(Ordering::Acquire);
        word.checked_sub(1).map(|rank| rank as u32)
    }

    /// The agent has found out whether it reaches the others: `missed` is a node that it does not reach.
    pub fn set_first_contact(&self, missed: Option<u32>) {
        let word = missed.map_or(1, |node| 2 + u64::from(node));
        self.segment.word(FIRST_CONTACT_AT).store(word, Ordering::Release); // pairs with the load below
    }

    /// Whether the agent reaches the others, once it has found out: a node that it does not reach, if there
    /// is one.
    pub fn first_contact(&self) -> Option<Result<(), u32>> {
        match self.segment.word(FIRST_CONTACT_AT).load(Ordering::Acquire) {
            0 => None,
            1 => Some(Ok(())),
            word => Some(Err((word - 2) as u32)),
        }
    }

    /// Claims the right to tell the user why the job ends; true for the first process of the node that asks.
    pub fn claim_end_announcement(&self) -> bool {
        // AcqRel: pairs with itself at the other processes; only one of them sees 0.
        self.segment.word(END_ANNOUNCED_AT).swap(1, Ordering::AcqRel) == 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Segment;

    #[test]
    fn the_first_report_of_a_lost_node_stands() {
        let segment = Segment::create(1 << 20, 1).unwrap();
        let status = NodeStatus::new(&segment);
        assert_eq!(status.lost_node(), None);
        for loss in [NodeLoss::Silent, NodeLoss::Unreachable] {
            let lost = LostNode { node: u32::MAX, loss };
            assert_eq!(LostNode::from_word(lost.to_word()), Some(lost));
        }
        let first = LostNode { node: 0, loss: NodeLoss::Unreachable };
        status.report_lost_node(first);
        status.report_lost_node(LostNode { node: 7, loss: NodeLoss::Silent });
        assert_eq!(status.lost_node(), Some(first));
    }

    #[test]
    fn each_process_has_a_state_of_its_own() {
        let segment = Segment::create(1 << 20, 1).unwrap();
        let status = NodeStatus::new(&segment);
        (0..MAX_PROCESSES).for_each(|place| status.set_joined(place));
        status.set_left(MAX_PROCESSES - 1);
        assert!((0..MAX_PROCESSES).all(|place| status.has_left(place) == (place == MAX_PROCESSES - 1)));
        status.set_ended(0);
        assert!(status.was_ended(0) && !status.has_left(0) && !status.was_ended(MAX_PROCESSES - 1));
        assert_eq!((status.lost_node(), status.dead_rank(), status.is_agent_asleep()), (None, None, false));
    }

    #[test]
    fn one_process_announces_the_end() {
        let segment = Segment::create(1 << 20, 1).unwrap();
        let status = NodeStatus::new(&segment);
        assert!(status.claim_end_announcement());
        assert!(!status.claim_end_announcement());
        status.report_dead_rank(0);
        status.report_dead_rank(3);
        assert_eq!(status.dead_rank(), Some(0), "the first report stands");
    }

    #[test]
    fn the_agent_says_whether_it_reaches_the_others() {
        let segment = Segment::create(1 << 20, 1).unwrap();
        let status = NodeStatus::new(&segment);
        assert_eq!(status.first_contact(), None);
        for missed in [None, Some(0), Some(u32::MAX)] {
            status.set_first_contact(missed);
            assert_eq!(status.first_contact(), Some(missed.map_or(Ok(()), Err)));
        }
    }
}

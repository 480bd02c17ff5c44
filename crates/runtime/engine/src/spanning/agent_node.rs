//! The node as its agent sees it, through the segment that the agent has inherited.

use crate::clock::Clock;
use crate::job::agent_commands::NodeSetup;
use crate::job::agent_process::INHERITED;
use crate::job::node::Node;
use evenkeel_segment::Segment;
use evenkeel_segment::memory::SegmentError;

/// Opens the segment that the agent has inherited. The agent's world rank follows those of all ranks, and
/// its local rank those of the ranks here.
///
/// # Errors
/// If the segment cannot be mapped, or is not the one that `setup` names.
pub fn open_node(setup: &NodeSetup) -> Result<&'static Node, SegmentError> {
    let segment = Segment::open(std::process::id(), INHERITED[0], setup.token)?;
    let here: Vec<(usize, u32)> = setup.here.iter().map(|&(rank, pid)| (rank as usize, pid)).collect();
    Ok(Box::leak(Box::new(Node::of_agent(segment, setup.ranks as usize, &here, Clock::MONOTONIC))))
}

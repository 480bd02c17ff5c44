//! The world of a node, as its agent sees it.

use crate::clock::Ticks;
use crate::collective::plan::NodeFacts;
use crate::job::agent_commands::NodeSetup;
use crate::job::agent_process::INHERITED;
use crate::job::neighbour::Neighbour;
use crate::job::node::World;
use crate::record::tally::Timeline;
use crate::wait::settings::{Policy, Waiting};
use evenkeel_segment::Segment;
use evenkeel_segment::eventcount::Fencing;
use evenkeel_segment::memory::SegmentError;
use std::sync::OnceLock;

/// Opens the segment that the agent has inherited, and makes that node this process's world. The agent is its
/// last member, behind all ranks.
///
/// # Errors
/// If the segment cannot be mapped, or is not the one that `setup` names.
pub fn open_world(setup: &NodeSetup) -> Result<&'static World, SegmentError> {
    let segment = Segment::open(std::process::id(), INHERITED[0], setup.token)?;
    let (ranks, here) = (setup.ranks as usize, setup.here.len());
    let mut local = vec![None; ranks + 1];
    setup.here.iter().enumerate().for_each(|(place, (rank, _))| local[*rank as usize] = Some(place));
    local[ranks] = Some(here);
    let neighbours = setup
        .here
        .iter()
        .map(|(rank, pid)| Neighbour { world_rank: *rank as usize, pid: *pid, watched: OnceLock::new() })
        .collect();
    Ok(crate::job::node::enter(World {
        segment,
        me: ranks,
        ranks,
        local,
        neighbours,
        my_place: here,
        facts: NodeFacts { cores: 1, direct_reads: false },
        fencing: Fencing::Both,
        enters_unfenced: false,
        waiting: Waiting { policy: Policy::Auto, ranks: here, cores: 1, yield_works: true },
        patience_ns: u64::MAX,
        threaded: false,
        recording: false,
        began: Ticks::now(),
        began_cpu_ns: 0,
        timeline: Timeline::default(),
        table: None,
        job: OnceLock::new(),
        reports_faults: OnceLock::new(),
    }))
}

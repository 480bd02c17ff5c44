//! The nodes of a job, and their agents: the first rank of each node starts the node's agent, and all ranks
//! receive the infos of all agents.
//!
//! Called after `ek_world_agree`; the functions about agents only if `ek_agents_count` says that there are
//! to be some.

use crate::text::slice;
use evenkeel_engine::job::agent_start::AGENT_INFO_BYTES;
use evenkeel_engine::process::Process;
use std::ffi::c_int;

/// An agent's description of itself: plain bytes, to be sent unchanged. Zeros mean that there is no agent.
#[repr(C)]
pub struct AgentInfo {
    pub bytes: [u8; 4096],
}

const _: () = assert!(size_of::<AgentInfo>() == AGENT_INFO_BYTES);

/// How many nodes the job has. The same on all ranks.
#[unsafe(no_mangle)]
pub extern "C" fn ek_nodes_count() -> c_int {
    Process::get().and_then(Process::nodes).map_or(0, |nodes| nodes.count() as c_int)
}

/// A number that tells this job from others, the same on all ranks. Never 0.
#[unsafe(no_mangle)]
pub extern "C" fn ek_job_number() -> u64 {
    Process::get().and_then(Process::nodes).map_or(1, |nodes| nodes.job)
}

/// How many nodes need an agent; 0 if none does. The same on all ranks.
#[unsafe(no_mangle)]
pub extern "C" fn ek_agents_count() -> c_int {
    let start = Process::get().map(Process::agent_start);
    start.as_deref().and_then(Option::as_ref).map_or(0, |start| start.node_count() as c_int)
}

/// Returns whether this rank of MPI_COMM_WORLD is the first of its node. The order of these ranks is the
/// order of the nodes.
#[unsafe(no_mangle)]
pub extern "C" fn ek_is_first_of_node(rank: c_int) -> bool {
    Process::get().and_then(Process::nodes).is_some_and(|nodes| nodes.is_leader(rank as usize))
}

/// Called by every rank. The first rank of each node starts the node's agent and fills in its info.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_nodes_start_agent(mine: *mut AgentInfo) {
    // SAFETY: a place for an info, by the interface.
    let mine = unsafe { &mut (*mine).bytes };
    mine.fill(0);
    if let Some(process) = Process::get() {
        if let Some(start) = process.agent_start().as_mut() {
            start.start(mine, &process.notes);
        }
    }
}

/// Receives the infos of all agents, in the order of the nodes. Returns this rank's answer for
/// `ek_nodes_agree`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_nodes_join(infos: *const AgentInfo, count: c_int) -> u8 {
    let Some(process) = Process::get() else { return 0 };
    // SAFETY: `count` infos, by the interface; an info is its bytes.
    let infos = unsafe { slice(infos.cast::<[u8; AGENT_INFO_BYTES]>(), count) };
    let mut start = process.agent_start();
    let (Some(node), Some(start)) = (process.node(), start.as_mut()) else { return 0 };
    start.join(node, infos, &process.notes)
}

/// Receives every rank's answer to `ek_nodes_join`, one byte each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_nodes_agree(joined: *const u8, ranks: c_int) {
    let Some(process) = Process::get() else { return };
    // SAFETY: one byte per rank, by the interface.
    let answers = unsafe { slice(joined, ranks) };
    let start = process.agent_start().take();
    if let (Some(node), Some(start)) = (process.node(), start) {
        start.agree(node, answers);
    }
}

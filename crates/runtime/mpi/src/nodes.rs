//! The agents of a job on several nodes: how each node's first rank starts its agent, and all ranks
//! learn of all agents.
//!
//! After `ek_world_agree`, where `ek_nodes_count` says that there are several nodes.

use crate::text::slice;
use evenkeel_engine::job::agent_start::AGENT_INFO_BYTES;
use evenkeel_engine::process::Process;
use std::ffi::c_int;

/// What an agent tells about itself: plain bytes, to be sent as they are. Zeros: there is no agent.
#[repr(C)]
pub struct AgentInfo {
    pub bytes: [u8; 4096],
}

const _: () = assert!(size_of::<AgentInfo>() == AGENT_INFO_BYTES);

/// How many nodes' agents are to be started; 0: none. The same at all ranks.
#[unsafe(no_mangle)]
pub extern "C" fn ek_nodes_count() -> c_int {
    let start = Process::get().map(Process::agent_start);
    start.as_deref().and_then(Option::as_ref).map_or(0, |start| start.node_count() as c_int)
}

/// Whether this rank of MPI_COMM_WORLD is the first of its node. Those ranks in their order are the
/// nodes in order.
#[unsafe(no_mangle)]
pub extern "C" fn ek_is_first_of_node(rank: c_int) -> bool {
    let start = Process::get().map(Process::agent_start);
    start.as_deref().and_then(Option::as_ref).is_some_and(|start| start.is_leader(rank as usize))
}

/// By every rank; the first of each node starts the node's agent and fills in what it tells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_nodes_start_agent(mine: *mut AgentInfo) {
    // SAFETY: room for an info, by the interface.
    let mine = unsafe { &mut (*mine).bytes };
    mine.fill(0);
    if let Some(process) = Process::get() {
        if let Some(start) = process.agent_start().as_mut() {
            start.start(mine, &process.notes);
        }
    }
}

/// What all agents tell, in the order of the nodes; true if this rank can speak to its agent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_nodes_join(infos: *const AgentInfo, count: c_int) -> bool {
    let Some(process) = Process::get() else { return false };
    // SAFETY: so many infos, by the interface; an info is its bytes.
    let infos = unsafe { slice(infos.cast::<[u8; AGENT_INFO_BYTES]>(), count) };
    let mut start = process.agent_start();
    let (Some(node), Some(start)) = (process.node(), start.as_mut()) else { return false };
    start.join(node, infos)
}

/// Every rank's answer to `ek_nodes_join`, one byte each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_nodes_agree(joined: *const u8, ranks: c_int) {
    let Some(process) = Process::get() else { return };
    // SAFETY: one byte for each rank, by the interface.
    let answers = unsafe { slice(joined, ranks) };
    let start = process.agent_start().take();
    if let (Some(node), Some(start)) = (process.node(), start) {
        start.agree(node, answers);
    }
}

//! The agents of a job on several nodes: how each node's first rank starts its agent, and all ranks
//! learn of all agents.
//!
//! After `ek_world_agree`, where `ek_nodes_count` says that there are several nodes.

use crate::text::slice;
use evenkeel_engine::job::agent_start::{self, AGENT_INFO_BYTES};
use evenkeel_engine::job::node::world;
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
    agent_start::count() as c_int
}

/// Whether this rank of MPI_COMM_WORLD is the first of its node. Those ranks in their order are the
/// nodes in order.
#[unsafe(no_mangle)]
pub extern "C" fn ek_is_first_of_node(rank: c_int) -> bool {
    agent_start::leads(rank as usize)
}

/// By every rank; the first of each node starts the node's agent and fills in what it tells.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_nodes_start_agent(mine: *mut AgentInfo) {
    // SAFETY: room for an info, by the interface.
    agent_start::start(unsafe { &mut (*mine).bytes });
}

/// What all agents tell, in the order of the nodes; true if this rank can speak to its agent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_nodes_join(infos: *const AgentInfo, count: c_int) -> bool {
    // SAFETY: so many infos, by the interface; an info is its bytes.
    agent_start::join(world(), unsafe { slice(infos.cast::<[u8; AGENT_INFO_BYTES]>(), count) })
}

/// Every rank's answer to `ek_nodes_join`, one byte each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ek_nodes_agree(joined: *const u8, ranks: c_int) {
    // SAFETY: one byte for each rank, by the interface.
    agent_start::agree(world(), unsafe { slice(joined, ranks) });
}

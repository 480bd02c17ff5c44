//! Which functions are interposed, and by what kind of wrapper.

/// What a wrapper does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// evenkeel carries it out or leaves it to the host.
    Collective,
    /// The same, through the shortest path there is.
    Barrier,
    /// Blocks until requests or messages are there: `ek_<name>` in waits.c while operations of ours are under way.
    Wait,
    /// Looks and returns: ours are moved on first, and the host if a collective of ours might have left it behind.
    Look,
    /// Makes an intracommunicator that evenkeel must get to know.
    Creates,
    /// Blocks inside the host and cannot be taken apart: escorted while operations of ours are under way.
    Escorted,
    Init,
    Finalize,
    Name,
    /// Frees what an operation under way may still need.
    Frees,
}

/// Every interposed function in its form with `int` counts; the large-count form goes the same way.
pub fn all() -> Vec<(String, Family)> {
    let mut list = vec![("MPI_Barrier".to_string(), Family::Barrier), ("MPI_Ibarrier".to_string(), Family::Collective)];
    for name in COLLECTIVES {
        list.push((format!("MPI_{name}"), Family::Collective));
        list.push((format!("MPI_I{}", name.to_lowercase()), Family::Collective));
    }
    let mut add = |names: &[&str], family| list.extend(names.iter().map(|n| (format!("MPI_{n}"), family)));
    add(WAITS, Family::Wait);
    add(LOOKS, Family::Look);
    add(CREATES, Family::Creates);
    add(ESCORTED, Family::Escorted);
    add(&["Init", "Init_thread"], Family::Init);
    add(&["Finalize"], Family::Finalize);
    add(&["Comm_set_name"], Family::Name);
    add(&["Op_free", "Type_free"], Family::Frees);
    list
}

pub const COLLECTIVES: &[&str] = &[
    "Bcast", "Reduce", "Allreduce", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv", "Alltoall",
    "Alltoallv", "Alltoallw", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Exscan",
];

/// MPI_Bsend is local and the nonblocking calls return at once: they need no wrapper.
const WAITS: &[&str] = &[
    "Wait", "Waitall", "Waitany", "Waitsome", "Send", "Ssend", "Rsend", "Recv", "Sendrecv", "Sendrecv_replace", "Probe",
    "Mprobe", "Mrecv",
];

const LOOKS: &[&str] = &[
    "Test", "Testall", "Testany", "Testsome", "Request_get_status", "Request_get_status_all", "Request_get_status_any",
    "Request_get_status_some", "Iprobe", "Improbe", "Win_test",
];

/// Duplicates are not here: the attribute's copy callback sees them.
const CREATES: &[&str] = &[
    "Comm_create", "Comm_create_group", "Comm_split", "Comm_split_type", "Cart_create", "Cart_sub", "Graph_create",
    "Dist_graph_create", "Dist_graph_create_adjacent", "Intercomm_merge",
];

const ESCORTED: &[&str] = &[
    "Comm_dup", "Comm_dup_with_info", "Comm_disconnect", "Intercomm_create", "Win_free", "Win_fence", "Win_start",
    "Win_complete", "Win_wait", "Win_lock", "Win_lock_all", "Win_unlock", "Win_unlock_all", "Win_flush", "Win_flush_all",
];

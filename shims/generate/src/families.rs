//! Which functions are interposed, and by what kind of wrapper.

/// What a wrapper does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Family {
    /// evenkeel carries it out or leaves it to the host.
    Collective,
    /// The same, through the shortest path there is.
    Barrier,
    /// Blocks until requests or messages are there: `ek_<name>` in waits.c while operations of ours are
    /// under way.
    Wait,
    /// Looks and returns: ours are moved on first, and the host if a collective of ours might have left it
    /// behind.
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
    /// Starts something of the host's that completes later.
    Starts,
    /// Reads the clock.
    Clock,
    /// Of interest only where messages are ours.
    Message,
}

/// Every interposed function in its form with `int` counts; the large-count form goes the same way.
pub fn all() -> Vec<(String, Family)> {
    let mut list =
        vec![("MPI_Barrier".to_string(), Family::Barrier), ("MPI_Ibarrier".to_string(), Family::Collective)];
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
    add(STARTS, Family::Starts);
    add(&["Wtime"], Family::Clock);
    add(MESSAGES_ALONE, Family::Message);
    list
}

pub const COLLECTIVES: &[&str] = &[
    "Bcast",
    "Reduce",
    "Allreduce",
    "Gather",
    "Gatherv",
    "Scatter",
    "Scatterv",
    "Allgather",
    "Allgatherv",
    "Alltoall",
    "Alltoallv",
    "Alltoallw",
    "Reduce_scatter",
    "Reduce_scatter_block",
    "Scan",
    "Exscan",
];

/// MPI_Bsend is local and the nonblocking calls return at once: they need no wrapper.
const WAITS: &[&str] = &[
    "Wait",
    "Waitall",
    "Waitany",
    "Waitsome",
    "Send",
    "Ssend",
    "Rsend",
    "Recv",
    "Sendrecv",
    "Sendrecv_replace",
    "Probe",
    "Mprobe",
    "Mrecv",
];

const LOOKS: &[&str] = &[
    "Test",
    "Testall",
    "Testany",
    "Testsome",
    "Request_get_status",
    "Request_get_status_all",
    "Request_get_status_any",
    "Request_get_status_some",
    "Iprobe",
    "Improbe",
    "Win_test",
];

const STARTS: &[&str] = &[
    "Isend",
    "Issend",
    "Irsend",
    "Ibsend",
    "Irecv",
    "Imrecv",
    "Start",
    "Startall",
    "Isendrecv",
    "Isendrecv_replace",
];

const MESSAGES_ALONE: &[&str] = &[
    "Bsend",
    "Send_init",
    "Bsend_init",
    "Ssend_init",
    "Rsend_init",
    "Recv_init",
    "Cancel",
    "Request_free",
    "Buffer_attach",
    "Buffer_detach",
    "Comm_attach_buffer",
];

/// Whether `ekm_<name>` in the shim is asked first while messages are ours. (Partitioned communication
/// is always the host's.)
pub fn has_to_do_with_messages(name: &str) -> bool {
    name != "Win_test" && [WAITS, LOOKS, STARTS, MESSAGES_ALONE].iter().any(|names| names.contains(&name))
}

/// Functions whose call nobody outside this process could notice, and that tell nothing about others:
/// pending barriers stay pending. Receiving is among them: what is sent after a barrier leaves its
/// sender when that barrier is complete, so whatever arrives was sent before the receiver's pending
/// barriers or after their completion.
pub fn is_private(name: &str) -> bool {
    PRIVATE.contains(&name)
}

const PRIVATE: &[&str] =
    &["Wait", "Waitall", "Waitany", "Waitsome", "Recv", "Probe", "Mprobe", "Mrecv", "Irecv", "Imrecv"];

/// Of those that have no wrapper: local questions, asked often.
const QUESTIONS: &[&str] = &[
    "Comm_rank",
    "Comm_size",
    "Comm_remote_size",
    "Comm_test_inter",
    "Comm_get_attr",
    "Attr_get",
    "Get_count",
    "Get_elements",
    "Get_elements_x",
    "Status_set_elements",
    "Status_set_cancelled",
    "Test_cancelled",
    "Initialized",
    "Finalized",
    "Is_thread_main",
    "Query_thread",
    "Type_size",
    "Type_size_x",
    "Type_get_extent",
    "Type_get_extent_x",
    "Type_get_true_extent",
    "Type_extent",
    "Type_lb",
    "Type_ub",
    "Get_address",
    "Address",
    "Aint_add",
    "Aint_diff",
    "Wtick",
    "Pcontrol",
    "Cart_coords",
    "Cart_rank",
    "Cart_shift",
    "Topo_test",
    "Get_version",
    "Group_rank",
    "Group_size",
    "Error_class",
];

/// Functions that are neither wrapped nor questions: before the host carries them out, pending barriers
/// are completed. `declared` are all functions of the library.
pub fn observers(declared: &std::collections::BTreeSet<String>) -> Vec<String> {
    let wrapped: std::collections::BTreeSet<String> = all().into_iter().map(|(name, _)| name).collect();
    let base = |name: &str| name.strip_suffix("_c").unwrap_or(name).to_string();
    let left_alone = |name: &str| {
        let short = base(name).trim_start_matches("MPI_").to_string();
        QUESTIONS.contains(&short.as_str())
            || short.starts_with("T_")
            || ["_c2f", "_f2c", "_toint", "_fromint", "_f082c", "_c2f08", "_f2f08", "_f082f"]
                .iter()
                .any(|s| short.ends_with(s))
            || short.ends_with("_FN")
    };
    declared.iter().filter(|name| !wrapped.contains(&base(name)) && !left_alone(name)).cloned().collect()
}

/// Of those: they make a one-sided window.
pub fn makes_window(name: &str) -> bool {
    ["MPI_Win_create", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_create_dynamic"]
        .contains(&name.strip_suffix("_c").unwrap_or(name))
}

/// Duplicates are not here: the attribute's copy callback sees them.
const CREATES: &[&str] = &[
    "Comm_create",
    "Comm_create_group",
    "Comm_split",
    "Comm_split_type",
    "Cart_create",
    "Cart_sub",
    "Graph_create",
    "Dist_graph_create",
    "Dist_graph_create_adjacent",
    "Intercomm_merge",
];

const ESCORTED: &[&str] = &[
    "Comm_dup",
    "Comm_dup_with_info",
    "Comm_disconnect",
    "Intercomm_create",
    "Comm_spawn",
    "Comm_accept",
    "Comm_connect",
    "Comm_join",
    "Win_create",
    "Win_allocate",
    "Win_allocate_shared",
    "Win_create_dynamic",
    "Win_free",
    "Win_fence",
    "Win_start",
    "Win_complete",
    "Win_wait",
    "Win_lock",
    "Win_lock_all",
    "Win_unlock",
    "Win_unlock_all",
    "Win_flush",
    "Win_flush_all",
    "Win_flush_local",
    "Win_flush_local_all",
    "Neighbor_allgather",
    "Neighbor_allgatherv",
    "Neighbor_alltoall",
    "Neighbor_alltoallv",
    "Neighbor_alltoallw",
    "File_open",
    "File_close",
    "File_set_size",
    "File_preallocate",
    "File_set_view",
    "File_set_atomicity",
    "File_sync",
    "File_seek_shared",
    "File_read_all",
    "File_write_all",
    "File_read_at_all",
    "File_write_at_all",
    "File_read_ordered",
    "File_write_ordered",
    "File_read_all_end",
    "File_write_all_end",
    "File_read_at_all_end",
    "File_write_at_all_end",
    "File_read_ordered_end",
    "File_write_ordered_end",
    "File_read_all_begin",
    "File_write_all_begin",
    "File_read_at_all_begin",
    "File_write_at_all_begin",
    "File_read_ordered_begin",
    "File_write_ordered_begin",
];

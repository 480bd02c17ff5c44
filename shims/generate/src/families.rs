//! Which functions are interposed, and which template each of them has.

use std::collections::BTreeSet;

/// Functions that are wrapped alike.
pub struct Family {
    /// The wrapper, one of `shims/templates`.
    pub template: &'static str,
    /// Names without `MPI_`, in the form with `int` counts; the large-count form is wrapped the same way.
    pub functions: &'static [&'static str],
    /// `ek_try_<name>` is asked first while messages are evenkeel's.
    pub carries_messages: bool,
}

macro_rules! template {
    ($name:literal) => {
        include_str!(concat!("../../templates/", $name, ".c.in"))
    };
}

/// The beginning of the generated file.
pub const HEAD: &str = template!("head");

/// How a wrapper finds the next definition.
pub const NEXT: &str = template!("next");

/// What a wrapper of [`Family::carries_messages`] begins with.
pub const TRY_MESSAGE: &str = template!("try_message");

/// Every family. Partitioned communication is the host's: only the question that programs poll is here.
pub const FAMILIES: &[Family] = &[
    Family { template: template!("barrier"), functions: &["Barrier"], carries_messages: false },
    Family { template: template!("collective"), functions: COLLECTIVES, carries_messages: false },
    Family { template: template!("wait"), functions: WAITS, carries_messages: true },
    Family { template: template!("test"), functions: TESTS, carries_messages: true },
    Family { template: template!("probe"), functions: PROBES, carries_messages: true },
    Family { template: template!("probe"), functions: &["Win_test", "Parrived"], carries_messages: false },
    Family { template: template!("send"), functions: SENDS, carries_messages: true },
    Family { template: template!("receive"), functions: RECEIVES, carries_messages: true },
    Family { template: template!("start_send"), functions: STARTED_SENDS, carries_messages: true },
    Family { template: template!("start_receive"), functions: STARTED_RECEIVES, carries_messages: true },
    Family { template: template!("send_buffered"), functions: BUFFERED_SENDS, carries_messages: true },
    Family {
        template: template!("start_persistent"),
        functions: &["Start", "Startall"],
        carries_messages: true,
    },
    Family { template: template!("init_buffered"), functions: &["Bsend_init"], carries_messages: true },
    Family { template: template!("block_in_host"), functions: &["Buffer_detach"], carries_messages: true },
    Family { template: template!("init_persistent"), functions: PERSISTENT, carries_messages: true },
    Family { template: template!("free_request"), functions: &["Request_free"], carries_messages: true },
    Family { template: template!("message"), functions: LOCAL_MESSAGE_CALLS, carries_messages: true },
    Family { template: template!("clock"), functions: &["Wtime"], carries_messages: false },
    Family {
        template: template!("create_communicator"),
        functions: NEW_COMMUNICATORS,
        carries_messages: false,
    },
    Family {
        template: template!("duplicate_later"),
        functions: &["Comm_idup", "Comm_idup_with_info"],
        carries_messages: false,
    },
    Family {
        template: template!("name_communicator"),
        functions: &["Comm_set_name"],
        carries_messages: false,
    },
    Family { template: template!("free_op"), functions: &["Op_free"], carries_messages: false },
    Family { template: template!("free_type"), functions: &["Type_free"], carries_messages: false },
    Family { template: template!("make_window"), functions: NEW_WINDOWS, carries_messages: false },
    Family { template: template!("free_window"), functions: &["Win_free"], carries_messages: false },
    Family { template: template!("file"), functions: FILES, carries_messages: false },
    Family { template: template!("block_in_host"), functions: BLOCKING_IN_HOST, carries_messages: false },
    Family { template: template!("block_in_host"), functions: NEIGHBORS, carries_messages: false },
    Family {
        template: template!("block_in_host"),
        functions: PERSISTENT_COLLECTIVES,
        carries_messages: false,
    },
    Family { template: template!("message"), functions: STARTED_NEIGHBORS, carries_messages: false },
    Family { template: template!("set_errhandler"), functions: ERRHANDLER_SETTERS, carries_messages: false },
    Family { template: template!("init"), functions: &["Init", "Init_thread"], carries_messages: false },
    Family { template: template!("finalize"), functions: &["Finalize"], carries_messages: false },
];

/// Blocking ones and, with an I, nonblocking ones.
#[rustfmt::skip]
const COLLECTIVES: &[&str] = &[
    "Ibarrier",
    "Bcast", "Ibcast", "Reduce", "Ireduce", "Allreduce", "Iallreduce",
    "Gather", "Igather", "Gatherv", "Igatherv", "Scatter", "Iscatter", "Scatterv", "Iscatterv",
    "Allgather", "Iallgather", "Allgatherv", "Iallgatherv",
    "Alltoall", "Ialltoall", "Alltoallv", "Ialltoallv", "Alltoallw", "Ialltoallw",
    "Reduce_scatter", "Ireduce_scatter", "Reduce_scatter_block", "Ireduce_scatter_block",
    "Scan", "Iscan", "Exscan", "Iexscan",
];

const WAITS: &[&str] = &["Wait", "Waitall", "Waitany", "Waitsome"];

const TESTS: &[&str] = &["Test", "Testall", "Testany", "Testsome"];

const PROBES: &[&str] = &[
    "Request_get_status",
    "Request_get_status_all",
    "Request_get_status_any",
    "Request_get_status_some",
    "Iprobe",
    "Improbe",
];

const SENDS: &[&str] = &["Send", "Ssend", "Rsend", "Sendrecv", "Sendrecv_replace"];

const RECEIVES: &[&str] = &["Recv", "Probe", "Mprobe", "Mrecv"];

#[rustfmt::skip]
const STARTED_SENDS: &[&str] = &[
    "Isend", "Issend", "Irsend", "Isendrecv", "Isendrecv_replace",
];

const BUFFERED_SENDS: &[&str] = &["Bsend", "Ibsend"];

const STARTED_RECEIVES: &[&str] = &["Irecv", "Imrecv"];

const PERSISTENT: &[&str] = &["Send_init", "Ssend_init", "Rsend_init", "Recv_init"];

const LOCAL_MESSAGE_CALLS: &[&str] = &["Cancel", "Buffer_attach", "Comm_attach_buffer"];

#[rustfmt::skip]
const NEW_COMMUNICATORS: &[&str] = &[
    "Comm_create", "Comm_create_group", "Comm_split", "Comm_split_type", "Cart_create", "Cart_sub",
    "Graph_create", "Dist_graph_create", "Dist_graph_create_adjacent", "Intercomm_merge",
];

const NEW_WINDOWS: &[&str] = &["Win_create", "Win_allocate", "Win_allocate_shared", "Win_create_dynamic"];

#[rustfmt::skip]
const FILES: &[&str] = &[
    "File_open", "File_close", "File_set_size", "File_preallocate", "File_set_view", "File_set_atomicity",
    "File_sync", "File_seek_shared", "File_read_all", "File_write_all", "File_read_at_all",
    "File_write_at_all", "File_read_ordered", "File_write_ordered",
    "File_read_all_begin", "File_write_all_begin", "File_read_at_all_begin", "File_write_at_all_begin",
    "File_read_ordered_begin", "File_write_ordered_begin",
    "File_read_all_end", "File_write_all_end", "File_read_at_all_end", "File_write_at_all_end",
    "File_read_ordered_end", "File_write_ordered_end",
];

const ERRHANDLER_SETTERS: &[&str] =
    &["Comm_set_errhandler", "Win_set_errhandler", "File_set_errhandler", "Session_set_errhandler"];

#[rustfmt::skip]
const BLOCKING_IN_HOST: &[&str] = &[
    "Comm_dup", "Comm_dup_with_info", "Comm_disconnect", "Intercomm_create",
    "Comm_spawn", "Comm_spawn_multiple", "Comm_create_from_group", "Intercomm_create_from_groups",
    "Comm_accept", "Comm_connect", "Comm_join",
    "Win_fence", "Win_start", "Win_complete", "Win_wait", "Win_lock", "Win_lock_all", "Win_unlock",
    "Buffer_flush", "Comm_flush_buffer", "Comm_detach_buffer", "Session_flush_buffer",
    "Session_detach_buffer",
    "Win_unlock_all", "Win_flush", "Win_flush_all", "Win_flush_local", "Win_flush_local_all",
];

/// Collectives of neighbours are the host's.
#[rustfmt::skip]
const NEIGHBORS: &[&str] = &[
    "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv",
    "Neighbor_alltoallw",
];

#[rustfmt::skip]
const STARTED_NEIGHBORS: &[&str] = &[
    "Ineighbor_allgather", "Ineighbor_allgatherv", "Ineighbor_alltoall", "Ineighbor_alltoallv",
    "Ineighbor_alltoallw",
];

/// They may synchronize the ranks. What they make is started and completed as the host's requests are.
#[rustfmt::skip]
const PERSISTENT_COLLECTIVES: &[&str] = &[
    "Barrier_init", "Bcast_init", "Reduce_init", "Allreduce_init", "Gather_init", "Gatherv_init",
    "Scatter_init", "Scatterv_init", "Allgather_init", "Allgatherv_init", "Alltoall_init", "Alltoallv_init",
    "Alltoallw_init", "Reduce_scatter_init", "Reduce_scatter_block_init", "Scan_init", "Exscan_init",
    "Neighbor_allgather_init", "Neighbor_allgatherv_init", "Neighbor_alltoall_init",
    "Neighbor_alltoallv_init", "Neighbor_alltoallw_init",
];

/// Whether a function is a collective with arguments of its own, `MPI_Barrier` not among them.
pub fn is_collective(base: &str) -> bool {
    [COLLECTIVES, NEIGHBORS, STARTED_NEIGHBORS, PERSISTENT_COLLECTIVES].iter().any(|all| all.contains(&base))
}

/// Local questions, asked often: no wrapper, as no other process could notice them.
#[rustfmt::skip]
const QUESTIONS: &[&str] = &[
    "Comm_rank", "Comm_size", "Comm_remote_size", "Comm_test_inter", "Comm_get_attr", "Attr_get",
    "Get_count", "Get_elements", "Get_elements_x", "Status_set_elements", "Status_set_cancelled",
    "Test_cancelled", "Initialized", "Finalized", "Is_thread_main", "Query_thread",
    "Type_size", "Type_size_x", "Type_get_extent", "Type_get_extent_x", "Type_get_true_extent",
    "Type_extent", "Type_lb", "Type_ub", "Get_address", "Address", "Aint_add", "Aint_diff",
    "Wtick", "Pcontrol", "Cart_coords", "Cart_rank", "Cart_shift", "Topo_test", "Get_version",
    "Group_rank", "Group_size", "Error_class",
];

/// Ends of names of conversions, which are local too.
#[rustfmt::skip]
const CONVERSIONS: &[&str] =
    &["_c2f", "_f2c", "_toint", "_fromint", "_f082c", "_c2f08", "_f2f08", "_f082f", "_FN"];

/// `MPI_Send` of `MPI_Send_c`.
pub fn without_suffix(name: &str) -> &str {
    name.strip_suffix("_c").unwrap_or(name)
}

/// Functions that are neither wrapped nor questions, of all that a library declares: pending barriers are
/// completed before the host carries them out.
pub fn forwarded(declared: &BTreeSet<String>) -> Vec<&String> {
    let wrapped: BTreeSet<&str> = FAMILIES.iter().flat_map(|family| family.functions).copied().collect();
    let is_left_alone = |name: &str| {
        QUESTIONS.contains(&name)
            || (name.starts_with("T_") && name != "T_event_register_callback")
            || CONVERSIONS.iter().any(|conversion| name.ends_with(conversion))
    };
    let is_forwarded = |name: &&String| {
        let short = without_suffix(name).trim_start_matches("MPI_");
        !wrapped.contains(short) && !is_left_alone(short)
    };
    declared.iter().filter(is_forwarded).collect()
}

//! What wrappers say in the process's line, in C: see `shims/src/process/call_line.h`.

use crate::families;
use crate::standard::Function;

/// Blocking collectives that need other members if there are any data, by the argument that counts them on
/// every member. Others may return early for members that send or receive nothing.
const NEED_OTHERS: &[(&str, &str)] = &[
    ("Bcast", "count"),
    ("Reduce", "count"),
    ("Allreduce", "count"),
    ("Scan", "count"),
    ("Exscan", "count"),
    ("Allgather", "recvcount"),
    ("Alltoall", "recvcount"),
    ("Reduce_scatter_block", "recvcount"),
];

/// The communicator, peer or root, and tag of a call.
pub fn caller(function: &Function) -> String {
    let name_of = |names: &[&str]| {
        let found = names.iter().find_map(|name| function.parameters.iter().find(|p| p.name == *name));
        found.map(|p| p.name.clone())
    };
    let comm = function.parameters.iter().find(|p| p.kind == "COMMUNICATOR" && !p.out);
    let comm = comm.filter(|p| p.name != "comm_ptr").map_or("0".to_string(), |p| p.name.clone());
    let peer = name_of(&["source", "dest", "root"]).unwrap_or("EK_NONE".into());
    let tag = name_of(&["recvtag", "tag"]).unwrap_or_else(|| needs_others(function));
    format!("{comm}, {peer}, {tag}")
}

/// What stands in place of a tag.
fn needs_others(function: &Function) -> String {
    let base = families::without_suffix(&function.name["MPI_".len()..]);
    match NEED_OTHERS.iter().find(|(name, _)| *name == base) {
        Some((_, count)) => format!("{count} > 0 ? EK_NEEDS_OTHERS : EK_NONE"),
        None if base == "Barrier" => "EK_NEEDS_OTHERS".into(),
        None => "EK_NONE".into(),
    }
}

/// The lines before and after a call that the host carries out.
pub fn counting(base: &str) -> (&'static [&'static str], &'static [&'static str]) {
    match base {
        "Send" | "Ssend" | "Rsend" | "Bsend" => (&["ek_count_sent(dest);"], &["ek_count_result(code);"]),
        "Sendrecv" | "Sendrecv_replace" => {
            (&["ek_count_sent(dest);"], &["ek_count_received(code, source != MPI_PROC_NULL);"])
        }
        "Recv" => (&[], &["ek_count_received(code, source != MPI_PROC_NULL);"]),
        "Mrecv" => (
            &["bool from_a_rank = *message != MPI_MESSAGE_NO_PROC;"],
            &["ek_count_received(code, from_a_rank);"],
        ),
        "Isend" | "Issend" | "Irsend" | "Ibsend" => {
            (&["ek_count_started();", "ek_count_sent(dest);"], &["ek_count_result(code);"])
        }
        "Irecv" => (&["ek_count_receive_started(source != MPI_PROC_NULL);"], &["ek_count_result(code);"]),
        "Imrecv" => {
            (&["ek_count_receive_started(*message != MPI_MESSAGE_NO_PROC);"], &["ek_count_result(code);"])
        }
        // What these start is completed by the same calls as counted requests, or never; or it comes from
        // other worlds.
        "Isendrecv"
        | "Isendrecv_replace"
        | "Send_init"
        | "Ssend_init"
        | "Rsend_init"
        | "Bsend_init"
        | "Recv_init"
        | "Cancel"
        | "Comm_spawn"
        | "Comm_spawn_multiple"
        | "Comm_idup"
        | "Comm_idup_with_info"
        | "Comm_create_from_group"
        | "Intercomm_create_from_groups"
        | "Comm_accept"
        | "Comm_connect"
        | "Comm_join" => (&["ek_count_uncountable();"], &[]),
        // So that those who look from outside find it, even if only the host uses it.
        "Comm_dup" | "Comm_dup_with_info" => {
            (&[], &["if (code == MPI_SUCCESS && ek_serves_caller())", "    (void)ek_comm_find(*newcomm);"])
        }
        _ if base.ends_with("_init") => (&["ek_count_uncountable();"], &[]),
        _ if base.starts_with('I') && base != "Intercomm_create" => (&["ek_count_uncountable();"], &[]),
        _ => (&[], &[]),
    }
}

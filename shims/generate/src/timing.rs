//! What wrappers do while calls are timed, in C: see `shims/src/trace/times.h`.

use crate::checking;
use crate::families;
use crate::standard::{Function, Parameter};

/// The lines that a wrapper begins with, of a function with this name without `MPI_` and `_c`. `reentered`:
/// what is called with the same arguments, in C; the wrapper itself, by a name that no tool in front of the
/// shim has.
pub fn timed(function: &Function, base: &str, reentered: &str) -> String {
    if is_left_alone(base) {
        return String::new();
    }
    let call = format!("int code = {reentered}({});", function.arguments());
    let mut block = vec![
        format!("static const ek_timed_function function = {{\"{}\"}};", function.name),
        format!("EK_TIMED_CALL(&function, {});", arguments(function, base)),
    ];
    block.extend(checking::before(function, base));
    block.extend(data(function, base));
    let (before, after) = around(base);
    block.extend(before.iter().map(|line| line.to_string()));
    if reentered != "host" {
        block.extend(checking::before_reentry(function, base));
    }
    block.push(call);
    block.push("ek_timed_over(&timed, code);".into());
    block.extend(checking::after(function, base));
    block.extend(after.iter().map(|line| line.to_string()));
    block.extend(new_comm(function, base));
    let condition = if checking::is_for_checks_alone(function) { "EK_CHECKS_CALL" } else { "EK_TIMES_CALL" };
    let mut lines = vec![format!("if ({condition}) {{")];
    if base == "Finalize" {
        // The file ends after the call.
        lines.extend(["    int result;".into(), "    {".into()]);
        lines.extend(block.iter().map(|line| format!("        {line}")));
        lines.extend(
            ["        result = code;", "    }", "    ek_times_end();", "    return result;"]
                .map(String::from),
        );
    } else {
        block.push("return code;".into());
        lines.extend(block.iter().map(|line| format!("    {line}")));
    }
    lines.push("}".into());
    lines.extend(checking::within(function, base));
    lines.join("\n")
}

/// The time itself is no call worth a record, and MPI_Init has a template of its own.
pub fn is_left_alone(base: &str) -> bool {
    matches!(base, "Wtime" | "Init" | "Init_thread")
}

fn is_handle(parameter: &Parameter, c_type: &str) -> bool {
    parameter.c_type.trim() == c_type
}

/// Communicator, peer, tag and role, in C.
fn arguments(function: &Function, base: &str) -> String {
    let has = |name: &str| function.parameters.iter().any(|p| p.name == name && is_handle(p, "int"));
    let comm = function.parameters.iter().find(|p| is_handle(p, "MPI_Comm") && !p.out);
    // A program may give an error handler to a communicator that is not ready: its members cannot be asked.
    let comm = comm.filter(|_| base != "Comm_set_errhandler");
    let comm = comm.map_or("0", |p| p.name.as_str());
    let sends = matches!(role(base), "SEND" | "SEND_RECEIVE" | "SEND_POST");
    let peers: &[&str] = if sends { &["dest"] } else { &["source", "dest", "root", "target_rank", "rank"] };
    let peer = peers.iter().find(|name| has(name));
    let peer = peer.map_or("EK_TIMES_NO_PEER".to_string(), |name| format!("ek_times_peer({name})"));
    let tag = ["sendtag", "tag"].into_iter().find(|name| has(name));
    let tag = tag.map_or("EK_TIMES_NO_TAG".to_string(), |name| format!("ek_times_tag({name})"));
    format!("{comm}, {peer}, {tag}, EK_TIMES_{}", role(base))
}

/// What a function does to messages.
fn role(base: &str) -> &'static str {
    match base {
        "Send" | "Ssend" | "Rsend" | "Bsend" | "Isend" | "Issend" | "Irsend" | "Ibsend" => "SEND",
        "Recv" | "Mprobe" => "RECEIVE",
        "Sendrecv" | "Sendrecv_replace" => "SEND_RECEIVE",
        "Irecv" => "POST",
        "Isendrecv" | "Isendrecv_replace" => "SEND_POST",
        "Barrier"
        | "Comm_dup"
        | "Comm_dup_with_info"
        | "Comm_idup"
        | "Comm_idup_with_info"
        | "Comm_create"
        | "Comm_split"
        | "Comm_split_type"
        | "Cart_create"
        | "Cart_sub"
        | "Graph_create"
        | "Dist_graph_create"
        | "Dist_graph_create_adjacent"
        | "Intercomm_merge"
        | "Win_create"
        | "Win_allocate"
        | "Win_allocate_shared"
        | "Win_create_dynamic"
        | "File_open" => "COLLECTIVE",
        _ if families::is_collective(base) => "COLLECTIVE",
        _ => "OTHER",
    }
}

/// How much data there is: of what the rank contributes to a collective, or gets if it contributes none. Only
/// arguments that matter on this rank may be looked at.
fn data(function: &Function, base: &str) -> Option<String> {
    let named = |name: &str, types: &[&str]| {
        function.parameters.iter().any(|p| p.name == name && types.contains(&p.c_type.as_str()))
    };
    let pair = |count: &str, datatype: &str| {
        let is_there = named(count, &["int", "MPI_Count"]) && named(datatype, &["MPI_Datatype"]);
        is_there.then(|| format!("ek_timed_data(&timed, {count}, {datatype});"))
    };
    let blocking = base.strip_suffix("_init").unwrap_or(base).trim_start_matches('I').to_lowercase();
    let line = if blocking.starts_with("scatter") {
        pair("recvcount", "recvtype")
    } else {
        let pairs = [
            ("count", "datatype"),
            ("sendcount", "sendtype"),
            ("origin_count", "origin_datatype"),
            ("recvcount", "datatype"),
        ];
        pairs.into_iter().find_map(|(count, datatype)| pair(count, datatype))
    }?;
    let mut conditions = Vec::new();
    if families::is_collective(base) {
        let buffer = if line.contains("recvtype") { "recvbuf" } else { "sendbuf" };
        if line.contains("sendtype") || line.contains("recvtype") {
            conditions.push(format!("{buffer} != MPI_IN_PLACE"));
        }
        if named("root", &["int"]) {
            conditions.push("root >= 0".into());
        }
    }
    Some(if conditions.is_empty() {
        line
    } else {
        format!("if ({})\n        {line}", conditions.join(" && "))
    })
}

type Lines = &'static [&'static str];

/// What is done before the call, and after it.
fn around(base: &str) -> (Lines, Lines) {
    match base {
        "Recv" | "Mprobe" => (
            &["ek_timed_receive(&timed, source, tag, &status);"],
            &["if (code == MPI_SUCCESS)", "    ek_timed_received(&timed, status);"],
        ),
        "Improbe" => (
            &["ek_timed_receive(&timed, source, tag, &status);"],
            &[
                "if (code == MPI_SUCCESS && *flag) {",
                "    ek_timed_received(&timed, status);",
                "    timed.call.role = EK_TIMES_RECEIVE;",
                "}",
            ],
        ),
        "Sendrecv" | "Sendrecv_replace" => (
            &["ek_timed_receive(&timed, source, recvtag, &status);"],
            &["if (code == MPI_SUCCESS)", "    ek_timed_received_second(&timed, status);"],
        ),
        "Irecv" => (
            &[
                "timed.call.marks |= source == MPI_ANY_SOURCE ? EK_TIMES_ANY_SOURCE : 0;",
                "timed.call.marks |= tag == MPI_ANY_TAG ? EK_TIMES_ANY_TAG : 0;",
            ],
            &[
                "if (code == MPI_SUCCESS && source != MPI_PROC_NULL)",
                "    timed.call.posted = (uintptr_t)*request;",
            ],
        ),
        "Isendrecv" => (
            &["ek_timed_second(&timed, source, recvtag, recvcount, recvtype);"],
            &[
                "if (code == MPI_SUCCESS && source != MPI_PROC_NULL)",
                "    timed.call.posted = (uintptr_t)*request;",
            ],
        ),
        "Isendrecv_replace" => (
            &["ek_timed_second(&timed, source, recvtag, count, datatype);"],
            &[
                "if (code == MPI_SUCCESS && source != MPI_PROC_NULL)",
                "    timed.call.posted = (uintptr_t)*request;",
            ],
        ),
        "Send_init" | "Ssend_init" | "Rsend_init" | "Bsend_init" => {
            (&[], &["if (code == MPI_SUCCESS)", "    ek_timed_persistent(&timed, *request, true);"])
        }
        "Recv_init" => {
            (&[], &["if (code == MPI_SUCCESS)", "    ek_timed_persistent(&timed, *request, false);"])
        }
        "Start" => (&["ek_timed_start(&timed, 1, request);"], &[]),
        "Startall" => (&["ek_timed_start(&timed, count, array_of_requests);"], &[]),
        "Wait" => (
            &["ek_timed_await(&timed, 1, request, &status);"],
            &["if (code == MPI_SUCCESS)", "    ek_timed_all_complete(&timed, status);"],
        ),
        "Test" => (
            &["ek_timed_await(&timed, 1, request, &status);"],
            &[
                "if (code == MPI_SUCCESS && *flag)",
                "    ek_timed_all_complete(&timed, status);",
                "else",
                "    timed.call.request_count = 0;",
            ],
        ),
        "Waitall" => (
            &["ek_timed_await(&timed, count, array_of_requests, &array_of_statuses);"],
            &["if (code == MPI_SUCCESS)", "    ek_timed_all_complete(&timed, array_of_statuses);"],
        ),
        "Testall" => (
            &["ek_timed_await(&timed, count, array_of_requests, &array_of_statuses);"],
            &[
                "if (code == MPI_SUCCESS && *flag)",
                "    ek_timed_all_complete(&timed, array_of_statuses);",
                "else",
                "    timed.call.request_count = 0;",
            ],
        ),
        "Waitany" => (
            &["ek_timed_await(&timed, count, array_of_requests, &status);"],
            &["if (code == MPI_SUCCESS)", "    ek_timed_one_complete(&timed, *index, status);"],
        ),
        "Testany" => (
            &["ek_timed_await(&timed, count, array_of_requests, &status);"],
            &["if (code == MPI_SUCCESS)", "    ek_timed_one_complete(&timed, *flag ? *index : -1, status);"],
        ),
        "Waitsome" | "Testsome" => (
            &["ek_timed_await(&timed, incount, array_of_requests, &array_of_statuses);"],
            &[
                "if (code == MPI_SUCCESS)",
                "    ek_timed_some_complete(&timed, *outcount, array_of_indices, array_of_statuses);",
            ],
        ),
        "Cancel" => (&["ek_times.has_cancelled = true;"], &[]),
        "Request_free" => (&["if (request)", "    ek_timed_forget_request(*request);"], &[]),
        "Type_free" => (&["timed.frees_handle = true;"], &[]),
        "Comm_free" | "Comm_disconnect" => (&["ek_timed_comm_freed(&timed, *comm);"], &[]),
        "Comm_set_name" => (&[], &["if (code == MPI_SUCCESS)", "    ek_timed_comm_named(comm, comm_name);"]),
        _ => (&[], &[]),
    }
}

/// The line that makes a new communicator known, so that all members number it alike.
fn new_comm(function: &Function, base: &str) -> Option<String> {
    let made = function.parameters.iter().find(|p| p.kind == "COMMUNICATOR" && p.out)?;
    // One is freed by the call; two may be used only when their request is complete.
    let is_usable = !matches!(base, "Comm_free" | "Comm_disconnect" | "Comm_idup" | "Comm_idup_with_info");
    is_usable.then(|| format!("if (code == MPI_SUCCESS)\n        ek_timed_comm_made(*{});", made.name))
}

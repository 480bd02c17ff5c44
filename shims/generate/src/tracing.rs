//! What wrappers do while a trace is written or repeated, in C: see `shims/src/trace`.

use crate::families;

/// How a call is traced.
pub enum Traced {
    /// Its wrapper is entered again, between these lines. They may change the arguments.
    Around(&'static [&'static str], &'static [&'static str]),
    /// A function `ek_traced_x` takes its place; it may find nothing.
    Asks,
    /// The same, but it always finds something.
    Instead,
    /// As `Around`, and what is done looks at all of the call's arguments.
    Collective,
    /// The same, for a call that makes a request.
    PersistentCollective,
}

/// The calls that are traced.
pub fn of(base: &str) -> Option<Traced> {
    use Traced::{Around, Asks, Collective, Instead, PersistentCollective};
    const RECEIVE: &str = "ek_traced_receive traced;";
    const POST: &str = "ek_traced_post post;";
    Some(match base {
        "Send" | "Ssend" | "Rsend" | "Bsend" | "Isend" | "Issend" | "Irsend" | "Ibsend" => {
            Around(&["ek_trace_send(buf, count, datatype, dest, tag);"], &[])
        }
        "Recv" => Around(
            &[RECEIVE, "ek_trace_receive(&traced, &source, &tag, &status);"],
            &["ek_trace_received(&traced, code, buf, datatype);"],
        ),
        "Mrecv" => Around(
            &[RECEIVE, "ek_trace_receive_matched(&traced, &status);"],
            &["ek_trace_received(&traced, code, buf, datatype);"],
        ),
        "Sendrecv" => Around(
            &[
                RECEIVE,
                "ek_trace_send(sendbuf, sendcount, sendtype, dest, sendtag);",
                "ek_trace_receive(&traced, &source, &recvtag, &status);",
            ],
            &["ek_trace_received(&traced, code, recvbuf, recvtype);"],
        ),
        "Sendrecv_replace" => Around(
            &[
                RECEIVE,
                "ek_trace_send(buf, count, datatype, dest, sendtag);",
                "ek_trace_receive(&traced, &source, &recvtag, &status);",
            ],
            &["ek_trace_received(&traced, code, buf, datatype);"],
        ),
        "Irecv" => Around(
            &[POST, "ek_trace_post_receive(&post, &source, &tag, &comm);"],
            &["ek_trace_receive_posted(&post, code, *request, buf, datatype);"],
        ),
        "Isendrecv" => Around(
            &[
                POST,
                "ek_trace_send(sendbuf, sendcount, sendtype, dest, sendtag);",
                "ek_trace_post_receive(&post, &source, &recvtag, NULL);",
            ],
            &["ek_trace_receive_posted(&post, code, *request, recvbuf, recvtype);"],
        ),
        "Isendrecv_replace" => Around(
            &[
                POST,
                "ek_trace_send(buf, count, datatype, dest, sendtag);",
                "ek_trace_post_receive(&post, &source, &recvtag, NULL);",
            ],
            &["ek_trace_receive_posted(&post, code, *request, buf, datatype);"],
        ),
        "Imrecv" => Around(&[], &["ek_trace_matched_receive_started(code, *request, buf, datatype);"]),
        "Send_init" | "Ssend_init" | "Rsend_init" | "Bsend_init" => {
            Around(&[], &["ek_trace_send_made(code, *request, buf, count, datatype, dest, tag);"])
        }
        "Recv_init" => Around(
            &[
                "ek_traced_request made;",
                "ek_trace_make_receive(&made, buf, count, datatype, &source, &tag, &comm);",
            ],
            &["ek_trace_receive_made(&made, code, *request);"],
        ),
        "Test" | "Testall" | "Testany" | "Testsome" | "Request_get_status" | "Iprobe" | "Improbe" => Asks,
        "Wait" | "Waitall" | "Waitany" | "Waitsome" | "Probe" | "Mprobe" | "Start" | "Startall"
        | "Cancel" | "Request_free" => Instead,
        _ if families::is_collective(base) => {
            if base.ends_with("_init") {
                PersistentCollective
            } else {
                Collective
            }
        }
        _ => return None,
    })
}

/// Parts of names of functions after which a repetition is not promised to be equal.
#[rustfmt::skip]
const UNPROMISED: &[&str] = &[
    "Win_create", "Win_allocate", "Comm_spawn", "Comm_accept", "Comm_connect", "Comm_join", "Session_init",
    "_shared", "_ordered", "Psend_init", "Precv_init", "Parrived", "Request_get_status_a",
    "Request_get_status_some", "Comm_revoke", "Comm_shrink", "Comm_agree", "Comm_iagree", "Grequest_start",
];

/// Whether equality is promised if this function is called.
pub fn is_promised(base: &str) -> bool {
    !UNPROMISED.iter().any(|part| base.contains(part))
}

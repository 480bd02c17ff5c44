//! What wrappers record about a point-to-point call that the host carries out, in C: see
//! `shims/src/message/recorded_call.h`.

/// The lines for a send or receive, or for a function that makes or starts such requests.
pub fn of_message(base: &str) -> Option<&'static [&'static str]> {
    Some(match base {
        "Send" | "Ssend" | "Rsend" => &["ek_record_send(&recorded, count, datatype, dest, comm);"],
        "Bsend" => &["ek_record_sent(count, datatype, dest, comm);"],
        "Recv" | "Probe" | "Mprobe" => &["ek_record_receive(&recorded, source, comm, &status);"],
        // The message has come already, and a probe has noted from where.
        "Mrecv" => &[],
        "Imrecv" => &["ek_record_receive_request(MPI_PROC_NULL, ek_handles.comm_null, *request);"],
        "Sendrecv" => &[
            "ek_record_send(&recorded, sendcount, sendtype, dest, comm);",
            "ek_record_receive(&recorded, source, comm, &status);",
        ],
        "Sendrecv_replace" => &[
            "ek_record_send(&recorded, count, datatype, dest, comm);",
            "ek_record_receive(&recorded, source, comm, &status);",
        ],
        "Isend" | "Issend" | "Irsend" | "Ibsend" => {
            &["ek_record_sent(count, datatype, dest, comm);", "ek_record_send_request(dest, comm, *request);"]
        }
        "Isendrecv" => &[
            "ek_record_sent(sendcount, sendtype, dest, comm);",
            "ek_record_receive_request(source, comm, *request);",
        ],
        "Isendrecv_replace" => &[
            "ek_record_sent(count, datatype, dest, comm);",
            "ek_record_receive_request(source, comm, *request);",
        ],
        "Irecv" | "Recv_init" => &["ek_record_receive_request(source, comm, *request);"],
        "Send_init" | "Ssend_init" | "Rsend_init" | "Bsend_init" => {
            &["ek_record_send_init(count, datatype, dest, comm, *request);"]
        }
        "Start" => &["ek_record_starts(1, request);"],
        "Startall" => &["ek_record_starts(count, array_of_requests);"],
        _ => return None,
    })
}

/// The lines before and after a wait for requests.
pub fn of_wait(base: &str) -> Option<(&'static [&'static str], &'static [&'static str])> {
    Some(match base {
        "Wait" => (
            &["ek_record_wait(&recorded, &status);"],
            &["ek_record_ended_by(&recorded, &before, 0, status);"],
        ),
        "Waitany" => (
            &["ek_record_wait(&recorded, &status);"],
            &["ek_record_ended_by(&recorded, &before, *index, status);"],
        ),
        "Waitsome" => (
            &[],
            &[
                "int first = *outcount > 0 ? array_of_indices[0] : -1;",
                "bool has_status = array_of_statuses != MPI_STATUSES_IGNORE;",
                "ek_record_ended_by(&recorded, &before, first, has_status ? array_of_statuses : NULL);",
            ],
        ),
        "Waitall" => (&["ek_record_wait_for_all(&recorded, &before);"], &[]),
        _ => return None,
    })
}

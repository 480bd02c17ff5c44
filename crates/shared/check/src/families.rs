//! What functions do, as far as rules ask.

use crate::arguments::Field;
use evenkeel_record::COLLECTIVES;

/// When a send is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Standard, synchronous or ready: perhaps only when it is received.
    Standard,
    /// Whether it is received or not.
    Buffered,
}

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// It sends a message, and may receive one, or post a receive.
    Send {
        /// When it is complete.
        mode: Mode,
        /// It returns when it is.
        is_blocking: bool,
        /// It also receives.
        receives: bool,
        /// It also posts a receive.
        posts: bool,
    },
    /// It receives, or posts a receive.
    Receive {
        /// It returns when the message is there.
        is_blocking: bool,
    },
    /// All members of the communicator call it in the same order.
    Collective {
        /// It returns when it is complete.
        is_blocking: bool,
        /// It makes a persistent request.
        is_persistent: bool,
    },
    /// It makes a persistent request that sends.
    InitSend(Mode),
    /// The same that receives.
    InitReceive,
    /// It starts persistent requests.
    Start,
    /// It waits for requests, or asks for them.
    Wait {
        /// It may return before all are complete.
        is_any: bool,
        /// It returns in any case.
        is_test: bool,
    },
    /// It looks for a message, and may take it out for a receive that follows.
    Probe,
    /// That receive.
    MatchedReceive {
        /// It returns when it is complete.
        is_blocking: bool,
    },
    /// It frees what it is passed.
    Free,
    /// MPI_Finalize.
    Finalize,
    /// Anything else.
    Other,
}

impl Family {
    /// Whether datatypes and operators that it is passed must be ready to be used.
    pub fn is_communication(self) -> bool {
        matches!(
            self,
            Family::Send { .. }
                | Family::Receive { .. }
                | Family::Collective { .. }
                | Family::InitSend(_)
                | Family::InitReceive
                | Family::MatchedReceive { .. }
        )
    }
}

/// Collectives of neighbours.
const NEIGHBORHOOD_COLLECTIVES: [&str; 5] = [
    "neighbor_allgather",
    "neighbor_allgatherv",
    "neighbor_alltoall",
    "neighbor_alltoallv",
    "neighbor_alltoallw",
];

/// Collectives that make something.
const MAKERS: [&str; 18] = [
    "Comm_dup",
    "Comm_dup_with_info",
    "Comm_create",
    "Comm_split",
    "Comm_split_type",
    "Cart_create",
    "Cart_sub",
    "Graph_create",
    "Dist_graph_create",
    "Dist_graph_create_adjacent",
    "Intercomm_merge",
    "Win_create",
    "Win_allocate",
    "Win_allocate_shared",
    "Win_create_dynamic",
    "File_open",
    "Comm_idup",
    "Comm_idup_with_info",
];

/// What a function does; its name without `MPI_` and `_c`.
pub fn of(base: &str) -> Family {
    let send = |mode, is_blocking, receives, posts| Family::Send { mode, is_blocking, receives, posts };
    match base {
        "Send" | "Ssend" | "Rsend" => send(Mode::Standard, true, false, false),
        "Bsend" => send(Mode::Buffered, true, false, false),
        "Isend" | "Issend" | "Irsend" => send(Mode::Standard, false, false, false),
        "Ibsend" => send(Mode::Buffered, false, false, false),
        "Sendrecv" | "Sendrecv_replace" => send(Mode::Standard, true, true, false),
        "Isendrecv" | "Isendrecv_replace" => send(Mode::Standard, false, false, true),
        "Recv" => Family::Receive { is_blocking: true },
        "Irecv" => Family::Receive { is_blocking: false },
        "Mrecv" => Family::MatchedReceive { is_blocking: true },
        "Imrecv" => Family::MatchedReceive { is_blocking: false },
        "Probe" | "Mprobe" | "Improbe" => Family::Probe,
        "Send_init" | "Ssend_init" | "Rsend_init" => Family::InitSend(Mode::Standard),
        "Bsend_init" => Family::InitSend(Mode::Buffered),
        "Recv_init" => Family::InitReceive,
        "Start" | "Startall" => Family::Start,
        "Wait" | "Waitall" => Family::Wait { is_any: false, is_test: false },
        "Waitany" | "Waitsome" => Family::Wait { is_any: true, is_test: false },
        "Test"
        | "Testall"
        | "Testany"
        | "Testsome"
        | "Request_get_status"
        | "Request_get_status_all"
        | "Request_get_status_any"
        | "Request_get_status_some" => Family::Wait { is_any: true, is_test: true },
        "Finalize" => Family::Finalize,
        _ if crate::objects::frees(base).is_some() => Family::Free,
        _ if MAKERS.contains(&base) => {
            Family::Collective { is_blocking: !base.starts_with("Comm_idup"), is_persistent: false }
        }
        _ => data_collective(base).unwrap_or(Family::Other),
    }
}

fn data_collective(base: &str) -> Option<Family> {
    let is_persistent = base.ends_with("_init");
    let name = base.strip_suffix("_init").unwrap_or(base).to_lowercase();
    let is = |name: &str| COLLECTIVES.contains(&name) || NEIGHBORHOOD_COLLECTIVES.contains(&name);
    if is(&name) {
        return Some(Family::Collective { is_blocking: !is_persistent, is_persistent });
    }
    let is_nonblocking = !is_persistent && name.strip_prefix('i').is_some_and(is);
    is_nonblocking.then_some(Family::Collective { is_blocking: false, is_persistent: false })
}

/// A buffer of a collective.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Where.
    pub buffer: Field,
    /// How many elements.
    pub count: Field,
    /// Of what.
    pub datatype: Field,
    /// So many for each rank.
    pub for_all: bool,
    /// It matters at the root only.
    pub at_root_only: bool,
}

/// The buffers of a collective with the same count for all ranks.
#[derive(Clone, Copy, Debug, Default)]
pub struct CollectiveBuffers {
    /// What is read.
    pub sent: Option<Part>,
    /// What is written.
    pub received: Option<Part>,
    /// The root reads what others write.
    pub root_reads: bool,
}

/// The buffers of a collective, if they are of this kind.
pub fn buffers(base: &str) -> Option<CollectiveBuffers> {
    let part =
        |buffer, count, datatype| Part { buffer, count, datatype, for_all: false, at_root_only: false };
    let sent = part(Field::SendBuf, Field::SendCount, Field::SendType);
    let received = part(Field::RecvBuf, Field::RecvCount, Field::RecvType);
    let sent_alike = part(Field::SendBuf, Field::Count, Field::Datatype);
    let received_alike = part(Field::RecvBuf, Field::Count, Field::Datatype);
    let for_all = |part| Part { for_all: true, ..part };
    let at_root = |part| Part { at_root_only: true, ..part };
    let both =
        |sent, received| CollectiveBuffers { sent: Some(sent), received: Some(received), root_reads: false };
    let lower = base.to_lowercase();
    let name = lower.strip_prefix('i').unwrap_or(&lower);
    Some(match name {
        "bcast" => CollectiveBuffers {
            sent: None,
            received: Some(part(Field::Buf, Field::Count, Field::Datatype)),
            root_reads: true,
        },
        "reduce" => both(sent_alike, at_root(received_alike)),
        "allreduce" | "scan" | "exscan" => both(sent_alike, received_alike),
        "gather" => both(sent, at_root(for_all(received))),
        "scatter" => both(at_root(for_all(sent)), received),
        "allgather" => both(sent, for_all(received)),
        "alltoall" => both(for_all(sent), for_all(received)),
        "reduce_scatter_block" => both(
            for_all(part(Field::SendBuf, Field::RecvCount, Field::Datatype)),
            part(Field::RecvBuf, Field::RecvCount, Field::Datatype),
        ),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_functions_do() {
        assert_eq!(of("Iallreduce"), Family::Collective { is_blocking: false, is_persistent: false });
        assert_eq!(of("Bcast_init"), Family::Collective { is_blocking: false, is_persistent: true });
        assert_eq!(of("Ibarrier"), Family::Collective { is_blocking: false, is_persistent: false });
        assert_eq!(of("Barrier"), Family::Collective { is_blocking: true, is_persistent: false });
        assert_eq!(
            of("Ineighbor_alltoallw"),
            Family::Collective { is_blocking: false, is_persistent: false }
        );
        assert_eq!(of("Comm_free"), Family::Free);
        assert_eq!(of("Iprobe"), Family::Other);
        assert!(buffers("Iallgather").is_some() && buffers("Gatherv").is_none());
    }
}

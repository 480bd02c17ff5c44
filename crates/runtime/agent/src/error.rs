//! Why an agent cannot go on.

use crate::message::MessageError;
use evenkeel_engine::job::agent_commands::CommandError;
use evenkeel_fabric::tls::{NetworkChoiceError, TlsError};
use evenkeel_fabric::ucx::UcxError;
use evenkeel_schedule::Place;
use evenkeel_segment::memory::SegmentError;
use evenkeel_spanning::PieceDescription;
use thiserror::Error;

/// Why an agent cannot go on. It then ends, and the ranks of its node end the job.
#[derive(Debug, Error)]
pub enum AgentError {
    /// A call queue holds words that describe no collective.
    #[error(
        "a rank here has posted a call that describes no collective ({words:x?}). Check whether all ranks \
         of this node use the same build of evenkeel"
    )]
    UnknownCall {
        /// The words.
        words: [u64; 2],
    },
    /// Ranks of two nodes have called different collectives under the same number.
    #[error(
        "a rank here has called {} where another node's ranks have called {} (number {number} of a \
         communicator); all members of a communicator have to call the same, in the same order and with the \
         same root and length. Look what the ranks of this node do there, or let a checker of MPI calls look",
        sentence(here),
        sentence(elsewhere)
    )]
    Mismatch {
        /// The number of the collective in its stream.
        number: u64,
        /// What was called here.
        here: PieceDescription,
        /// What was called on another node.
        elsewhere: PieceDescription,
    },
    /// Another agent has asked this one to forward what is never forwarded.
    #[error(
        "another node has sent a piece of {} to be forwarded, and agents forward broadcasts only. Look \
         whether all nodes have the same build of evenkeel",
        sentence(.0)
    )]
    NotForwardable(PieceDescription),
    /// A message does not fit into the schedule that this agent follows.
    #[error(
        "another node has sent {bytes} bytes for {place:?} of a buffer of {buffer_bytes}. Check whether \
         all nodes have the same build of evenkeel"
    )]
    MisplacedData {
        /// Length of the data.
        bytes: usize,
        /// Where they should go.
        place: Place,
        /// Length of the buffer that they should go to.
        buffer_bytes: usize,
    },
    /// A message cannot be read.
    #[error("another node has sent bytes, and {0}. Check whether all nodes have the same build of evenkeel")]
    Message(#[from] MessageError),
    /// What came over the pipe cannot be read.
    #[error("{0}. Check whether all ranks of this node use the same build of evenkeel")]
    Command(#[from] CommandError),
    /// The first command does not set the agent up.
    #[error(
        "the first command of a rank did not set it up. Check whether all ranks use the same build of \
         evenkeel"
    )]
    NotSetUp,
    /// Another command does.
    #[error("it has been set up twice. Check whether all ranks use the same build of evenkeel")]
    SetUpTwice,
    /// The pipe cannot be read.
    #[error("the pipe from the ranks cannot be read: {0}")]
    Pipe(std::io::Error),
    /// The rank that has started the agent does not listen.
    #[error("the rank that has started it does not listen: {0}")]
    NoListener(std::io::Error),
    /// UCX cannot be opened.
    #[error("{0}")]
    Ucx(#[from] UcxError),
    /// The fabric over TLS cannot be opened.
    #[error("{0}")]
    Tls(#[from] TlsError),
    /// The option for the network has no such value.
    #[error("{0}")]
    UnknownNetwork(#[from] NetworkChoiceError),
    /// The option for the fabric has no such value.
    #[error("'{0}' names no fabric; EVENKEEL_FABRIC is auto, tls or ucx")]
    UnknownFabric(String),
    /// The option for the ports has no such value.
    #[error("'{0}' names no ports; write EVENKEEL_PORTS=10000-10100, for example")]
    UnknownPorts(String),
    /// UCX is asked for, and there is nothing for it to use.
    #[error(
        "there is no hardware for RDMA here, and without UCX_TLS agents do not let UCX use TCP. Leave \
         EVENKEEL_FABRIC at auto"
    )]
    NoRdma,
    /// The agents have opened different fabrics.
    #[error("the nodes have no fabric in common. Set EVENKEEL_FABRIC to the same value on all of them")]
    NoCommonFabric,
    /// Other nodes have sent too much about communicators that are not known here.
    #[error(
        "other nodes have sent {0} bytes about communicators that no rank of this node has made. Look what \
         the ranks of this node do"
    )]
    TooMuchUnclaimed(usize),
    /// The processes of the ranks cannot be watched.
    #[error("the ranks of this node cannot be watched: {0}. Check the limit of open files (ulimit -n)")]
    NoWatch(std::io::Error),
    /// The node's segment cannot be opened.
    #[error("{0}")]
    Segment(#[from] SegmentError),
    /// A communicator needs two blocks of the segment, and there is only one.
    #[error(
        "the segment has no room for the nonblocking collectives of a communicator. Free communicators \
         that are no longer used, or set EVENKEEL_NODES=library"
    )]
    NoRoom,
}

/// A collective, for a sentence.
fn sentence(piece: &PieceDescription) -> String {
    let PieceDescription { kind, root, bytes, .. } = piece;
    format!("MPI_{kind:?} of {bytes} bytes with member {} of node {} as its root", root.local_rank, root.node)
}

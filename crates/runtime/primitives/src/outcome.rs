//! What comes of an operation, or of a call that makes none.

use evenkeel_fabric::NodeId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A call that makes no sense. It is refused before anything is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// An operation needs one node at least.
    #[error("the set of nodes is empty")]
    EmptySet,
    /// The job has fewer nodes.
    #[error("{0} is not one of the {1} nodes of this job")]
    NoSuchNode(NodeId, usize),
    /// The operation would reach beyond global memory.
    #[error("bytes {at} to {end} do not lie within the {bytes} bytes of global memory")]
    OutOfRange {
        /// The first byte.
        at: usize,
        /// The first byte behind the last one.
        end: usize,
        /// Size of global memory.
        bytes: usize,
    },
    /// Callers begin transfers as [`Operation::Xfer`](crate::Operation::Xfer).
    #[error("only the primitives themselves order transfers whose data were sent ahead")]
    StagedTransfer,
    /// A variable's offset is no multiple of 8.
    #[error("a variable lies at a multiple of 8, and {0} is none")]
    Misaligned(usize),
}

/// An operation failed because a node did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct OperationError {
    /// The node that failed.
    pub node: NodeId,
    /// How it failed.
    pub failure: NodeFailure,
    /// The operation was carried out on no node and never will be. If this is false, it is carried out on all
    /// nodes or on none, now or when the failed node is heard again; the caller cannot be told which.
    pub undone: bool,
}

/// How a node failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeFailure {
    /// It has not been heard of for the limit.
    Silent,
    /// It was cut off from the sequencer, and when it was asked the other nodes had already settled the
    /// operation.
    CutOff,
    /// It has been declared dead.
    Evicted,
}

impl fmt::Display for OperationError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let OperationError { node, failure, undone } = self;
        match failure {
            NodeFailure::Silent => write!(out, "{node} did not answer in time")?,
            NodeFailure::CutOff => write!(out, "{node} was cut off from the node that orders operations")?,
            NodeFailure::Evicted => write!(out, "{node} has been declared dead")?,
        }
        out.write_str(if *undone {
            "; the operation was carried out on no node"
        } else {
            "; whether the operation is carried out, on all nodes or none, is not known here"
        })
    }
}

/// What comes of an operation. True: it was carried out (a comparison without a write: it held). False: its
/// comparison did not hold. An error: a node failed.
pub type Outcome = Result<bool, OperationError>;

//! What nodes send to each other, encoded by postcard. Every message makes sense alone, twice, late, or
//! never.

use crate::node_set::NodeSet;
use crate::operation::{Operation, OperationNumber};
use crate::outcome::Outcome;
use crate::view::{View, Viewstamp};
use evenkeel_fabric::NodeId;
use serde::{Deserialize, Serialize};

/// A message from one node's machine to another's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(pub(crate) Body);

impl Message {
    /// The bytes to send.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_allocvec(&self.0).expect("messages have no part that cannot be encoded")
    }

    /// None for bytes that are no message.
    pub fn decode(bytes: &[u8]) -> Option<Message> {
        postcard::from_bytes(bytes).ok().map(Message)
    }
}

/// The answer to a [`Prepare`], of a node together with all nodes below it in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Vote {
    Yes,
    /// The comparison does not hold.
    No,
    /// This node does not take part: it was cut off, and the others have settled the operation.
    Refused(NodeId),
    /// This node did not answer.
    Silent(NodeId),
}

impl Vote {
    /// The vote of both together: a failure outweighs No, and No outweighs Yes.
    pub fn and(self, other: Vote) -> Vote {
        let weight = |vote: Vote| match vote {
            Vote::Yes => 0,
            Vote::No => 1,
            Vote::Refused(_) => 2,
            Vote::Silent(_) => 3,
        };
        if weight(other) > weight(self) { other } else { self }
    }
}

/// What became of a decision in a part of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ack {
    /// It is about the node that sends it, not about those below it.
    pub direct: bool,
    /// Some node has carried the operation out.
    pub applied: bool,
    /// Some node never will: the nodes settled the operation without the sequencer.
    pub overruled: bool,
    /// Nodes about which nothing is known, because they, or a node above them in the tree, do not answer.
    pub missing: Vec<NodeId>,
}

/// What a node knows of an operation about which another node is in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Knowledge {
    /// The sequencer is still at it: wait for its decision.
    Pending,
    /// In doubt here, too; and this node will not follow the sequencer's decision any more, should it come.
    Terminating,
    Applied,
    Aborted,
    /// Settled long ago.
    Forgotten,
}

/// Asks whether an operation can be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Prepare {
    pub stamp: Viewstamp,
    /// All operations of the same view before this place are settled.
    pub horizon: Viewstamp,
    pub set: NodeSet,
    pub operation: Operation,
}

/// Tells nodes to carry an operation out, or not to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decide {
    pub stamp: Viewstamp,
    /// As in [`Prepare`].
    pub horizon: Viewstamp,
    pub set: NodeSet,
    pub commit: bool,
    /// It is for one node, which does not pass it on.
    pub direct: bool,
}

/// Data of one transfer, or one half of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct TransferKey {
    pub origin: NodeId,
    pub number: OperationNumber,
    /// 0 or 1: which half. Data that are not halved are half 0.
    pub half: u8,
}

/// Data of a transfer that has not been ordered yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chunk {
    pub key: TransferKey,
    pub set: NodeSet,
    /// Bytes in all.
    pub total: usize,
    /// Offset of these bytes.
    pub at: usize,
    /// Empty: the sender asks how far the receiver is, having sent all bytes before `at`.
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
}

/// How far the data of a transfer have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChunkProgress {
    pub key: TransferKey,
    /// Bytes that the sender of this message has.
    pub own: usize,
    /// Bytes that it and all nodes below it have.
    pub all: usize,
    /// If this answers a question: the `at` of that question.
    pub asked: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Body {
    /// From an origin to the sequencer: its operation `number`. It needs no outcome of those below `settled`
    /// any more.
    Request { number: OperationNumber, settled: OperationNumber, set: NodeSet, operation: Operation },
    /// From the sequencer to an origin: the operation is queued or under way.
    Underway { number: OperationNumber },
    /// From the sequencer to an origin.
    Outcome { number: OperationNumber, outcome: Outcome },

    /// Down the tree.
    Prepare(Prepare),
    /// Up the tree.
    Vote { stamp: Viewstamp, vote: Vote },
    /// Up the tree: this node lives, and cannot answer yet.
    Busy { stamp: Viewstamp },
    /// Down the tree, or to one node directly.
    Decide(Decide),
    /// Up the tree.
    Ack { stamp: Viewstamp, ack: Ack },

    /// From a node that is in doubt: what became of this operation?
    Inquiry { stamp: Viewstamp },
    /// The answer.
    InquiryAnswer { stamp: Viewstamp, knowledge: Knowledge },

    /// Down the chain or tree of a transfer's data.
    Chunk(Chunk),
    /// Up again.
    ChunkProgress(ChunkProgress),
    /// Up again: a node below does not answer.
    ChunkLost { key: TransferKey, node: NodeId },

    /// From a node to which the sequencer of a view does not answer, to all others.
    Suspect { view: View },
    /// To the sequencer: are you there?
    Probe,
    /// The answer.
    Alive,
    /// From a node that wants to order operations in this view.
    Campaign { view: View },
    /// To that node: this node follows no lower view any more.
    Promise { view: View },
    /// To a node that acts in a lower view: this view is the current one.
    NewView { view: View },

    /// From the sequencer: a decision that cannot be overruled any more.
    FinalDecision { stamp: Viewstamp, commit: bool },
}

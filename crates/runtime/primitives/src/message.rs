//! What nodes say to each other. Encoded by postcard; every message makes sense alone, twice, late, or never.

use crate::operation::{NodeSet, Operation, Outcome};
use crate::view::View;
use evenkeel_fabric::NodeId;
use serde::{Deserialize, Serialize};

/// The place of an operation in the order of all: the view in which a sequencer gave it, and its number
/// there, from 1 on.
pub type Turn = u64;

/// What a node, with all below it in the tree, says to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Vote {
    Yes,
    /// The comparison does not hold.
    No,
    /// This node took no part: it was out of touch, and others have settled the matter.
    Refused(NodeId),
    /// This node did not answer.
    Silent(NodeId),
}

impl Vote {
    /// The vote of both together: a failure before No, No before Yes.
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
pub struct Ack {
    /// Only the node that sends it is meant, not those below it.
    pub alone: bool,
    /// Some node has carried the operation out.
    pub applied: bool,
    /// Some node never will: they settled it without the sequencer.
    pub overruled: bool,
    /// Nodes of whom nothing is known, because they, or a node above them in the tree, do not answer.
    pub missing: Vec<NodeId>,
}

/// What a node tells another one that is in doubt about an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// The sequencer is at it; wait for its word.
    Pending,
    /// Undecided here too, and the sequencer's word, should it still come, will not be followed.
    Promised,
    Applied,
    Aborted,
    /// Settled long ago.
    Forgotten,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// From an origin to the sequencer: its operation `number`. It has no more interest in those below
    /// `settled`.
    Request {
        number: u64,
        settled: u64,
        set: NodeSet,
        operation: Operation,
    },
    /// From the sequencer to an origin: it is being worked at.
    Underway {
        number: u64,
    },
    Outcome {
        number: u64,
        outcome: Outcome,
    },

    /// Down the tree: can this be carried out? All turns below `horizon` are settled.
    Prepare {
        turn: Turn,
        horizon: Turn,
        set: NodeSet,
        operation: Operation,
    },
    /// Up the tree.
    Vote {
        turn: Turn,
        vote: Vote,
    },
    /// Up the tree: I live, and am not ready to answer.
    Busy {
        turn: Turn,
    },
    /// Down the tree, or to one node alone: carry it out, or do not.
    Decide {
        turn: Turn,
        horizon: Turn,
        set: NodeSet,
        commit: bool,
        alone: bool,
    },
    /// Up the tree.
    Ack {
        turn: Turn,
        ack: Ack,
    },

    /// From a node that is in doubt: what became of this turn?
    Ask {
        turn: Turn,
    },
    Tell {
        turn: Turn,
        told: Told,
    },
    /// Down the chain or tree: bytes of a half of a transfer that has not been ordered yet, `total` in all.
    /// None: how far are you?
    Data {
        origin: NodeId,
        number: u64,
        half: u8,
        set: NodeSet,
        total: usize,
        at: usize,
        #[serde(with = "serde_bytes")]
        bytes: Vec<u8>,
    },
    /// Up again: how many of them the sender has, and it and all below it; and the `at` of the question
    /// that this answers.
    Have {
        origin: NodeId,
        number: u64,
        half: u8,
        own: usize,
        all: usize,
        asked: Option<usize>,
    },
    /// Up again: a node below does not answer.
    Broken {
        origin: NodeId,
        number: u64,
        half: u8,
        node: NodeId,
    },

    /// From a node that the sequencer of a view does not answer, to all others.
    Suspect {
        view: View,
    },
    /// To the sequencer: are you there?
    Probe,
    Alive,
    /// From a node that would order operations in this view.
    Campaign {
        view: View,
    },
    /// To it: this node follows no lower view any more.
    Promise {
        view: View,
    },
    /// To who speaks from a lower view: this is the one.
    View {
        view: View,
    },

    /// From the sequencer, and never to be overruled.
    Final {
        turn: Turn,
        commit: bool,
    },
}

impl Message {
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_allocvec(self).expect("messages have no part that cannot be encoded")
    }

    /// None for bytes that are no message.
    pub fn decode(bytes: &[u8]) -> Option<Message> {
        postcard::from_bytes(bytes).ok()
    }
}

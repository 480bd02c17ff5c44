//! What this process knows of a communicator: by whom its calls are carried out, and what that takes.
//!
//! May use: comm, nonblocking, spanning, the types of barriers. Must never carry a call out: that is
//! done above.

pub mod host;
pub mod identity;
pub mod node;
pub mod registry;
pub mod service;
pub mod spanning;

use evenkeel_record::CommRecord;
use host::HostCommunicator;
use identity::Identity;
use node::NodeCommunicator;
use service::NodeService;
use spanning::SpanningCommunicator;

/// A communicator, by where its calls are carried out. All members have the same kind.
#[allow(
    clippy::large_enum_variant,
    reason = "a communicator lives on the heap, and a box around a variant would cost each call an \
              indirection"
)]
pub enum Communicator {
    /// The host library serves it.
    Host(HostCommunicator),
    /// All members share this node.
    Node(NodeCommunicator),
    /// Members are on several nodes that have agents.
    Spanning(SpanningCommunicator),
}

impl Communicator {
    /// Which communicator it is.
    pub fn identity(&self) -> &Identity {
        match self {
            Communicator::Host(host) => &host.identity,
            Communicator::Node(node) => &node.identity,
            Communicator::Spanning(spanning) => &spanning.identity,
        }
    }

    /// What it has on this node, if evenkeel serves it.
    #[inline(always)]
    pub fn service(&self) -> Option<&NodeService> {
        match self {
            Communicator::Host(_) => None,
            Communicator::Node(node) => Some(&node.service),
            Communicator::Spanning(spanning) => Some(&spanning.service),
        }
    }

    /// What has been counted; None if nothing was called on it.
    pub(crate) fn record(&self) -> Option<CommRecord> {
        match self {
            Communicator::Host(host) => host.record(),
            Communicator::Node(node) => node.record(),
            Communicator::Spanning(spanning) => spanning.record(),
        }
    }
}

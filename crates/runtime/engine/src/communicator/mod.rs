//! What this process knows of a communicator: whether the host library, the engine or the engine and the
//! agents carry out its calls, and what each of them needs for it.
//!
//! May use: comm, nonblocking, spanning, the types of barriers. Must never: carry out a call; modules above
//! do that.

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

/// A communicator, by what carries out its calls. All members have the same variant.
#[allow(
    clippy::large_enum_variant,
    reason = "a communicator lives on the heap, and boxing a variant would cost each call an indirection"
)]
// With a tag of its own: a tag in a niche would put the variants at different offsets.
#[repr(u8)]
pub enum Communicator {
    /// The host library serves it.
    Host(HostCommunicator),
    /// All members share this node.
    Node(NodeCommunicator),
    /// Members are on several nodes that have agents.
    Spanning(SpanningCommunicator),
}

impl Communicator {
    /// Its members and name.
    pub fn identity(&self) -> &Identity {
        match self {
            Communicator::Host(host) => &host.identity,
            Communicator::Node(node) => &node.identity,
            Communicator::Spanning(spanning) => &spanning.identity,
        }
    }

    /// Its parts on this node; `None` if the host library serves it.
    #[inline(always)]
    pub fn service(&self) -> Option<&NodeService> {
        match self {
            Communicator::Host(_) => None,
            Communicator::Node(node) => Some(&node.service),
            Communicator::Spanning(spanning) => Some(&spanning.service),
        }
    }

    /// Its record; `None` if nothing was called on it.
    pub(crate) fn record(&self) -> Option<CommRecord> {
        match self {
            Communicator::Host(host) => host.record(),
            Communicator::Node(node) => node.record(),
            Communicator::Spanning(spanning) => spanning.record(),
        }
    }
}

//! Messages of the protocols.

use crate::reconfiguration::link_reversal::ReversalMessage;

/// A message to a neighbour, or what a timer of a switch stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum ProtocolMessage {
    /// Invites a switch to join the tree.
    Join,
    /// The sender had already joined the tree.
    AlreadyJoined,
    /// The topology of the sender's subtree.
    Collected,
    /// The topology of the whole network.
    Topology,
    /// Timer: the switch has computed its adaptive tables.
    MinimalTablesReady,
    /// Timer: the switch has computed its escape tables.
    EscapeTablesReady,
    /// The change alone, without a topology.
    Change,
    /// The region of the sender.
    Region,
    /// The borders between regions in the sender's subtree.
    BorderReport,
    /// Tells this border switch to begin its merge.
    StartMerge(u32),
    /// The border with this number announces itself on its way up to the false root.
    Mark(u32),
    /// The answer of the false root to this border.
    Marked(u32),
    /// A link is reversed.
    Reversal(ReversalMessage),
    /// The distances of the sender.
    Distances,
}

/// A message and the number of the reconfiguration that it belongs to.
pub(crate) type EpochMessage = (u8, ProtocolMessage);

//! Direct collectives: small collectives across nodes that the ranks carry themselves, over datagrams,
//! without the agent.
//!
//! The node of the root is the hub. Every other node tells it what its ranks contribute together, in one
//! datagram that the last of them sends; the hub tells the others the result, in one datagram for each. The
//! hub of a collective without a root is the communicator's first node.
//!
//! | | to the hub | from the hub |
//! |---|---|---|
//! | Barrier | all ranks of the node are there | all ranks are there |
//! | Reduce | the node's part of the result | |
//! | Allreduce | the node's part of the result | the result |
//! | Bcast | | the data |
//!
//! Between two nodes each tells the other its part of a barrier or allreduce, and both compute the result.
//!
//! No rank waits for a rank that does not contribute to what it needs: ranks that only contribute return at
//! once, and no node passes on what is meant for another. What comes is taken by whichever rank waits, and
//! stays in the socket while none does.
//!
//! Datagrams may be lost. A rank that waits for long asks its agent, and the agents tell each other what
//! their nodes have said ([`answer`]).
//!
//! May use: the communicator's part on this node, statements, datagrams. Must never: need the agent while
//! nothing is lost.

pub mod answer;
pub mod collective;
pub mod description;
pub mod part;

//! The node that orders all operations: it starts each when its turn has come, asks all nodes of its set for
//! their votes, decides, and tells the origin the outcome.
//!
//! Two operations whose order matters, and any two of the same origin, are never under way at the same
//! time. A decision to abort is final when it is made. A decision to commit is *final* once some other
//! node is known to have carried the operation out: until then the other nodes, should they lose sight of
//! this one, may settle the operation the other way. Hence this node itself, if it is in the set, carries
//! it out last.
//!
//! May use: the context, collectors, the tree. Must never: carry an operation out, or take over what another
//! sequencer ordered.

mod decision;
mod ordering;
mod queue;
mod requests;
mod timers;

pub(crate) use queue::Sequencer;

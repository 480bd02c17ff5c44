//! A node's part in operations: it votes on each, waits for the decision, carries it out, and passes all
//! of that up and down the tree.
//!
//! From its vote to the decision a node is *in doubt*: what the operation would change is not read. If
//! the sequencer falls silent meanwhile, the nodes in doubt settle the operation among themselves. First
//! each ceases to follow the sequencer (it is *terminating*). If one of them has carried the operation
//! out, or has aborted it, so do all. If all are terminating, none has carried it out and none ever will,
//! so all abort it.
//!
//! This is two-phase commit with cooperative termination (Skeen 1981; Bernstein et al. 1987, chapter 7).
//! That terminating nodes do not follow the sequencer any more is what keeps a sequencer that was only
//! cut off from being obeyed late.
//!
//! ```text
//! Blocked ──► Prepared ──► Applied | Aborted        by decision of the sequencer
//!                 └──► Terminating ──► Applied | Aborted        among the nodes in doubt
//! ```
//!
//! May use: the context, collectors, the tree. Must never: order operations.

mod decision;
mod records;
mod termination;
mod timers;
mod voting;

pub(crate) use records::Participant;

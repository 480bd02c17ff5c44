//! When a message from after a pending barrier may be seen, and how messages are sent while barriers
//! are pending.
//!
//! A message that follows a pending barrier is sent at once and carries that barrier's stamp
//! ([`BarrierStamp`](crate::comm::stamp::BarrierStamp)). The rules here are pure; the reasons stand
//! with each.

/// What is known of the barrier of a stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierProgress {
    /// This process has not entered it.
    Ahead,
    /// This process has entered it; another member may not have.
    Entered,
    /// All members have entered it.
    Complete,
}

/// How a program looks at something that may come from after a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// It waits for this and nothing else: `MPI_Recv` with a source, `MPI_Wait`, `MPI_Waitall`. It cannot
    /// tell when the thing happened, only that it did. With a barrier that waits, the thing would have come
    /// when all have entered. It comes earlier here, but what this process does upon it still carries the
    /// stamp of the same barrier, as that is pending here too: it must have been entered, no more.
    Wait,
    /// It learns whether something is there, or which of several things came first: `MPI_Test`,
    /// `MPI_Iprobe`, `MPI_Probe`, `MPI_Waitany`, and the choice of a receive from any source. That
    /// something from after the barrier is there says that all have entered, so they must have: a receive
    /// from any source that was posted before the barrier could take a message from after it, and leave
    /// without a receive somebody who cannot enter before it is received.
    Choose,
}

/// How much of a barrier is kept up for messages (the two kinds of barrier semantics in Pakin 2001).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strength {
    /// Nothing that was sent after a barrier is seen before all have entered it: as with a barrier that
    /// waits.
    #[default]
    Strong,
    /// Nothing is seen before its receiver has entered the barrier. A program that takes messages from any
    /// source, tests or probes can tell: a receive from before the barrier may take a message from after
    /// it.
    Weak,
}

/// Whether what carries such a stamp may be seen.
#[inline]
pub fn may_see(strength: Strength, look: Look, progress: BarrierProgress) -> bool {
    match (strength, look) {
        (Strength::Strong, Look::Choose) => progress == BarrierProgress::Complete,
        _ => progress != BarrierProgress::Ahead,
    }
}

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamping {
    /// At once; no barrier is pending.
    Plain,
    /// At once, with a stamp. Its receiver need not be a member of the communicator: whether a barrier is
    /// complete is written where every process of the node can read it.
    Stamped,
    /// After the pending barriers have been completed: a message has room for one stamp.
    CompletedFirst,
}

/// For a process with pending barriers of so many communicators. The same goes for a receive, whose
/// stamp a synchronous sender gets back.
#[inline]
pub fn stamping(communicators: usize) -> Stamping {
    match communicators {
        0 => Stamping::Plain,
        1 => Stamping::Stamped,
        _ => Stamping::CompletedFirst,
    }
}

//! What a message says about its sender's pending barriers, and who may see it when.
//!
//! A message that follows a pending barrier goes at once and carries the *stamp* of that barrier. The
//! rules, pure; the reasons stand with each.

/// The latest barrier that its carrier has entered and that was pending then: all earlier ones of the
/// communicator are implied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The communicator's id.
    pub comm: u64,
    /// Its number of members.
    pub ranks: u32,
    /// Number of the barrier, from 0.
    pub number: u64,
}

/// What is known of the barrier of a stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This process has not entered it.
    Ahead,
    /// This process has entered it; somebody may not have.
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
pub fn may_see(strength: Strength, look: Look, progress: Progress) -> bool {
    match (strength, look) {
        (Strength::Strong, Look::Choose) => progress == Progress::Complete,
        _ => progress != Progress::Ahead,
    }
}

/// How a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Going {
    /// Nothing is pending.
    Plain,
    /// At once, with a stamp. Its receiver need be no member of the communicator: whether a barrier is
    /// complete is written where every process of the node can read it.
    Stamped,
    /// After what is pending has been completed: there is room for one stamp.
    Completed,
}

/// For a process with pending barriers of so many communicators. The same goes for a receive, whose
/// stamp a synchronous sender gets back.
#[inline]
pub fn going(comms: usize) -> Going {
    match comms {
        0 => Going::Plain,
        1 => Going::Stamped,
        _ => Going::Completed,
    }
}

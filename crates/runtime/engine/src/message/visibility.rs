//! When the program may see a message that was sent after a pending barrier, and how messages are sent
//! while barriers are pending.
//!
//! A message that is sent after a pending barrier is sent at once, with that barrier's stamp
//! ([`BarrierStamp`](crate::comm::stamp::BarrierStamp)). The rules here are pure. Each is given with its
//! reason.

/// The progress of the barrier that a stamp names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierProgress {
    /// This process has not entered it.
    Ahead,
    /// This process has entered it; another member may not have.
    Entered,
    /// All members have entered it.
    Complete,
}

/// How a program finds out about something that may come from after a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKind {
    /// The program waits for this event and nothing else: `MPI_Recv` with a source, `MPI_Wait`,
    /// `MPI_Waitall`. It learns that the event happened, but not when. With a strict barrier, the event
    /// would have come after all ranks had entered. It may come earlier here, but whatever this process
    /// sends next still carries the stamp of the same barrier, which is pending here too. So it is enough
    /// that this process has entered.
    Wait,
    /// The program learns whether an event has happened, or which of several came first: `MPI_Test`,
    /// `MPI_Iprobe`, `MPI_Probe`, `MPI_Waitany`, and the choice of a receive from any source. A message from
    /// after the barrier would show that all ranks have entered, so they must have. Otherwise a receive from
    /// any source that was posted before the barrier could take a message from after it. Another rank's
    /// message, sent before the barrier, would then find no receive, and that rank could not enter.
    Choose,
}

/// How strictly barriers order messages (the two kinds of barrier semantics in Pakin 2001).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strength {
    /// No message that was sent after a barrier is seen before all ranks have entered it, as with a strict
    /// barrier.
    #[default]
    Strong,
    /// No message is seen before its receiver has entered the barrier. A program that receives from any
    /// source, tests or probes can notice the difference: a receive from before the barrier may get a
    /// message from after it.
    Weak,
}

/// Returns whether the program may see, with this kind of query, something whose stamp names a barrier with
/// this progress.
#[inline]
pub fn may_see(strength: Strength, query: QueryKind, progress: BarrierProgress) -> bool {
    match (strength, query) {
        (Strength::Strong, QueryKind::Choose) => progress == BarrierProgress::Complete,
        _ => progress != BarrierProgress::Ahead,
    }
}

/// How a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamping {
    /// At once; no barrier is pending.
    Plain,
    /// At once, with a stamp. The receiver need not be a member of the stamp's communicator, because the
    /// segment shows every process of the node whether a barrier is complete.
    Stamped,
    /// After the pending barriers have been completed, because a message has room for one stamp only.
    CompletedFirst,
}

/// How a process with pending barriers of this many communicators sends. The same holds for receives, whose
/// stamp goes back to a synchronous sender.
#[inline]
pub fn stamping(communicators: usize) -> Stamping {
    match communicators {
        0 => Stamping::Plain,
        1 => Stamping::Stamped,
        _ => Stamping::CompletedFirst,
    }
}

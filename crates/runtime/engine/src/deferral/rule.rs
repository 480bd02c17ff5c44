//! The rule: which pending barriers must be complete before a rank acts. Pure.

/// What a rank is about to do while barriers of its are pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Enter another barrier.
    EnterBarrier,
    /// Take part in a collective to which it only contributes.
    Contribute,
    /// Send, receive from a collective, look for what is not there, or anything outside MPI.
    Observe,
}

/// Which barriers are pending, seen from the communicator that the act is about.
#[derive(Clone, Copy, Debug)]
pub struct PendingBarriers {
    /// All of them are of this communicator.
    pub same: bool,
    /// All of them are of communicators of which this one has all members, or that have all members of this
    /// one.
    pub nested: bool,
}

/// Whether pending barriers must be complete before the act. Receiving a message is not here: it may
/// always go on.
///
/// * Nothing may leave a rank that others could take for a sign that it has passed a barrier, before
///   all have entered that barrier. So messages wait at their sender.
/// * What is contributed to a collective of the same communicator reaches members only. They have
///   entered the same barriers and complete them before they receive it.
/// * To enter a barrier is such a sign too, for its members. Where one communicator has all members of
///   the other, they have entered the barriers of both in the same order, so what they learn from one
///   they may know of the other. Where the two only overlap, a member of one could tell a rank that has
///   not entered the first one.
#[inline]
pub fn must_complete(act: Act, pending: PendingBarriers) -> bool {
    match act {
        Act::EnterBarrier => !pending.nested,
        Act::Contribute => !pending.same,
        Act::Observe => true,
    }
}

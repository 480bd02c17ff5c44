//! The rule that says which pending barriers must be complete before a rank acts. Pure.

/// What a rank is about to do while some of its barriers are pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAction {
    /// Enter another barrier.
    EnterBarrier,
    /// Take part in a collective to which it only contributes.
    Contribute,
    /// Send a message, receive the result of a collective, test for something that is not there yet, or do
    /// anything outside MPI.
    Observe,
}

/// Which barriers are pending, seen from the communicator on which the rank acts.
#[derive(Clone, Copy, Debug)]
pub struct PendingBarriers {
    /// All of them belong to this communicator.
    pub same: bool,
    /// For each of their communicators: it contains all members of this communicator, or this one contains
    /// all of its members.
    pub nested: bool,
}

/// Returns whether pending barriers must be complete before the action. Receiving a message is not an
/// action here, because it is always allowed.
///
/// * Until all ranks have entered a barrier, nothing may leave a rank that others could take as a sign that
///   the rank has passed it. So messages wait at their sender.
/// * A contribution to a collective of the same communicator reaches only members. They have entered the
///   same barriers, and complete them before they receive it.
/// * Entering a barrier is itself such a sign, for the members of its communicator. If one communicator
///   contains all members of the other, they have entered the barriers of both in the same order, and may
///   conclude from one what they could know from the other. If the two only overlap, a member of one could
///   pass the information to a rank that has not entered the first barrier.
#[inline]
pub fn must_complete(action: NextAction, pending: PendingBarriers) -> bool {
    match action {
        NextAction::EnterBarrier => !pending.nested,
        NextAction::Contribute => !pending.same,
        NextAction::Observe => true,
    }
}

//! The latest barrier that a process has entered, as messages carry it.

/// The latest barrier that the sender has entered and that was pending at the time. It implies all earlier
/// barriers of the communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierStamp {
    /// The communicator's id, which names its block of the segment.
    pub comm: u64,
    /// The communicator's number of members.
    pub ranks: u32,
    /// The barrier's number, counted from 0.
    pub number: u64,
}

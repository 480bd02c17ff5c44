//! Which barrier a process has entered last, as messages carry it.

/// The latest barrier that its carrier has entered and that was pending then. All earlier barriers of
/// the communicator are implied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BarrierStamp {
    /// The communicator's id, which names its block of the segment.
    pub comm: u64,
    /// Its number of members.
    pub ranks: u32,
    /// Number of the barrier, from 0.
    pub number: u64,
}

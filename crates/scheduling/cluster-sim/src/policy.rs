//! How jobs share the cluster. May use: std.

use evenkeel_gang::QueuePolicy;

/// How jobs share the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// Batch: cores of its own for each job, first come first served.
    Fcfs,
    /// Batch with backfilling.
    Easy,
    /// Gang scheduling: the slots of the matrix take turns.
    Gs,
    /// Spin-block: no turns; a rank that waits spins for a while, then leaves its core to others.
    Sb,
    /// Flexible coscheduling: turns, which ranks that do not profit from them share.
    Fcs,
    /// Buffered coscheduling: turns; messages are exchanged between short time slices, and a rank that waits
    /// leaves its core at once.
    Bcs,
    /// As BCS; jobs with priority run whenever they can.
    Pbcs,
}

impl Policy {
    /// All policies.
    pub const ALL: [Policy; 7] =
        [Policy::Fcfs, Policy::Easy, Policy::Gs, Policy::Sb, Policy::Fcs, Policy::Bcs, Policy::Pbcs];

    /// The short name.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Fcfs => "FCFS",
            Policy::Easy => "EASY",
            Policy::Gs => "GS",
            Policy::Sb => "SB",
            Policy::Fcs => "FCS",
            Policy::Bcs => "BCS",
            Policy::Pbcs => "PBCS",
        }
    }

    /// The short name as it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Policy::Fcfs => "fcfs",
            Policy::Easy => "easy",
            Policy::Gs => "gs",
            Policy::Sb => "sb",
            Policy::Fcs => "fcs",
            Policy::Bcs => "bcs",
            Policy::Pbcs => "pbcs",
        }
    }

    /// What it is, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Policy::Fcfs => "Batch, first come first served",
            Policy::Easy => "Batch with backfilling",
            Policy::Gs => "Gang scheduling",
            Policy::Sb => "Spin, then leave the core",
            Policy::Fcs => "Flexible coscheduling",
            Policy::Bcs => "Buffered coscheduling",
            Policy::Pbcs => "Buffered coscheduling with priority",
        }
    }

    /// Whether each job has its cores to itself.
    pub fn is_batch(self) -> bool {
        matches!(self, Policy::Fcfs | Policy::Easy)
    }

    /// Whether messages wait for the end of short time slices.
    pub fn is_buffered(self) -> bool {
        matches!(self, Policy::Bcs | Policy::Pbcs)
    }

    /// The queue, where jobs that share time wait in this one.
    pub fn queue(self, otherwise: QueuePolicy) -> QueuePolicy {
        match self {
            Policy::Fcfs => QueuePolicy::Fcfs,
            Policy::Easy => QueuePolicy::Easy,
            _ => otherwise,
        }
    }
}

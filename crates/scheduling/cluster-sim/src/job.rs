//! Synthetic jobs. May use: std.

use evenkeel_gang::Core;

/// How ranks of a job wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Communication {
    /// Not at all.
    None,
    /// After each computation a rank sends a short message to its right neighbour in a ring, and needs the
    /// one of its left neighbour. Sends return at once, receives block.
    Ring,
    /// As a ring, but a rank needs the message one iteration later.
    OverlappedRing,
}

/// A bulk-synchronous job: each rank computes, then communicates, again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntheticJob {
    /// When it is submitted, in ns.
    pub arrival_ns: u64,
    /// How long each rank computes in an iteration, in ns; at least one rank, and no zero.
    pub compute_ns: Vec<u64>,
    /// How often it does so; at least once.
    pub iterations: u32,
    /// How ranks wait for each other.
    pub communication: Communication,
    /// The user's upper bound of the run time on cores of its own, in ns.
    pub estimate_ns: u64,
    /// Whether the policy PBCS prefers it.
    pub has_priority: bool,
    /// The first and the last core that it may use. None: all.
    pub within: Option<(Core, Core)>,
}

impl SyntheticJob {
    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.compute_ns.len()
    }

    /// Whether its ranks wait for each other.
    pub fn communicates(&self) -> bool {
        self.communication != Communication::None && self.ranks() > 1
    }

    /// The time of an iteration on cores of its own: what the slowest rank computes, or the mean of all and a
    /// message where that is more, because messages go round the ring.
    pub fn period_ns(&self, latency_ns: u64) -> u64 {
        let slowest = self.compute_ns.iter().copied().max().unwrap_or(1);
        let mean = self.compute_ns.iter().sum::<u64>() / self.ranks().max(1) as u64;
        match self.communication {
            Communication::Ring if self.communicates() => slowest.max(mean + latency_ns),
            _ => slowest,
        }
    }

    /// The run time on cores of its own, in ns.
    pub fn dedicated_ns(&self, latency_ns: u64) -> u64 {
        self.period_ns(latency_ns) * u64::from(self.iterations)
    }
}

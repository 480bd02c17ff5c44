//! The machine and the parameters of its scheduler. May use: std.

use evenkeel_gang::{Packing, QueuePolicy, Thresholds};

/// A cluster and its scheduler. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cluster {
    /// The cores.
    pub cores: usize,
    /// The quantum of a slot. Jobs start and leave the matrix between quanta.
    pub quantum_ns: u64,
    /// The largest number of slots for policies that share time.
    pub slots: usize,
    /// What a switch between ranks of a core costs.
    pub switch_ns: u64,
    /// What a message takes.
    pub latency_ns: u64,
    /// How long a rank spins for a message before it leaves its core.
    pub spin_ns: u64,
    /// How long the operating system lets a rank run before it looks for one that has had less.
    pub local_quantum_ns: u64,
    /// The time slice of buffered coscheduling.
    pub slice_ns: u64,
    /// On which cores a job goes.
    pub packing: Packing,
    /// The queue of policies that share time.
    pub queue: QueuePolicy,
    /// Limits of the classes of flexible coscheduling.
    pub thresholds: Thresholds,
}

impl Cluster {
    /// A cluster with the defaults: quanta of 50 ms, 6 slots, switches of 20 µs, messages of 5 µs; ranks
    /// spin for two switches; the operating system's quantum is 10 ms; slices of 250 µs; buddy packing,
    /// backfilling.
    pub fn with_cores(cores: usize) -> Cluster {
        Cluster {
            cores,
            quantum_ns: 50_000_000,
            slots: 6,
            switch_ns: 20_000,
            latency_ns: 5_000,
            spin_ns: 40_000,
            local_quantum_ns: 10_000_000,
            slice_ns: 250_000,
            packing: Packing::Buddy,
            queue: QueuePolicy::Easy,
            thresholds: Thresholds::for_switch_cost_ns(20_000),
        }
    }
}

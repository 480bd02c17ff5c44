//! Quanta of a shared clock. May use: std.

/// The number of a quantum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quantum(pub u64);

/// Strobes by clock: every quantum begins at a time that all nodes compute alike, so that nothing is sent.
///
/// Times are nanoseconds of the shared clock.
///
/// ```
/// use evenkeel_gang::{Quantum, Strobes};
/// let strobes = Strobes::new(10);
/// assert_eq!((strobes.quantum_at(39), strobes.start_ns(Quantum(3))), (Quantum(3), 30));
/// // From quantum 3 on quanta are longer.
/// let longer = strobes.with_quantum_ns(Quantum(3), 50);
/// assert_eq!((longer.quantum_at(79), longer.quantum_at(80)), (Quantum(3), Quantum(4)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strobes {
    first: Quantum,
    origin_ns: u64,
    quantum_ns: u64,
}

impl Strobes {
    /// Quanta of this length (at least 1 ns); quantum 0 begins at time 0.
    pub const fn new(quantum_ns: u64) -> Strobes {
        let quantum_ns = if quantum_ns == 0 { 1 } else { quantum_ns };
        Strobes { first: Quantum(0), origin_ns: 0, quantum_ns }
    }

    /// Quanta of another length from a quantum on, which begins when it would have begun.
    pub const fn with_quantum_ns(self, from: Quantum, quantum_ns: u64) -> Strobes {
        Strobes { first: from, origin_ns: self.start_ns(from), ..Strobes::new(quantum_ns) }
    }

    /// The length of a quantum.
    pub const fn quantum_ns(self) -> u64 {
        self.quantum_ns
    }

    /// The quantum at a time. Before the first quantum: the first.
    pub const fn quantum_at(self, time_ns: u64) -> Quantum {
        Quantum(self.first.0 + time_ns.saturating_sub(self.origin_ns) / self.quantum_ns)
    }

    /// When a quantum begins. Before the first quantum: when that begins.
    pub const fn start_ns(self, quantum: Quantum) -> u64 {
        self.origin_ns.saturating_add(quantum.0.saturating_sub(self.first.0).saturating_mul(self.quantum_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantum_holds_from_its_start_to_the_next() {
        let strobes = Strobes::new(7).with_quantum_ns(Quantum(5), 3);
        for number in 5..50 {
            let start_ns = strobes.start_ns(Quantum(number));
            assert_eq!(strobes.quantum_at(start_ns), Quantum(number));
            assert_eq!(strobes.quantum_at(strobes.start_ns(Quantum(number + 1)) - 1), Quantum(number));
        }
        assert_eq!((strobes.start_ns(Quantum(5)), strobes.quantum_at(0)), (35, Quantum(5)));
        assert_eq!(Strobes::new(0).quantum_ns(), 1);
    }
}

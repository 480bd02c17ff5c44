//! Names of policies on the command line.

use clap::ValueEnum;
use evenkeel_cluster_sim::Policy;

/// A policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PolicyName {
    /// Batch, first come first served
    Fcfs,
    /// Batch with backfilling
    Easy,
    /// Gang scheduling
    Gs,
    /// Spin, then leave the core
    Sb,
    /// Flexible coscheduling
    Fcs,
    /// Buffered coscheduling
    Bcs,
    /// Buffered coscheduling with priority
    Pbcs,
}

impl PolicyName {
    /// The policy.
    pub fn policy(self) -> Policy {
        Policy::ALL[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_policies() {
        for name in PolicyName::value_variants() {
            let word = name.to_possible_value().unwrap().get_name().to_uppercase();
            assert_eq!(word, name.policy().name());
        }
        assert_eq!(PolicyName::value_variants().len(), Policy::ALL.len());
    }
}

//! Any number of ranks as a power of two of groups, each one rank or two neighbours.
//!
//! Of the first 2·(P - 2^k) ranks, each even one hands its part to the odd one above it, which acts for
//! both. Groups hold neighbours, so that groups of groups hold consecutive ranks, and the order of
//! ranks can be kept.

use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::step::Rank;

/// The groups of a problem's ranks.
#[derive(Clone, Copy)]
pub struct Halves {
    /// How many times the number of groups can be halved.
    pub stages: u32,
    pairs: u32,
}

/// What a rank is in its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It acts for itself alone, as this group.
    Alone(u32),
    /// It acts for itself and the rank below, as this group.
    ForTwo(u32),
    /// The rank above acts for it.
    Represented,
}

impl Halves {
    pub fn of(problem: &Problem) -> Halves {
        let stages = floor_log(2, problem.ranks);
        Halves { stages, pairs: problem.ranks - power(2, stages) }
    }

    pub fn role(self, rank: Rank) -> Role {
        match rank.0 {
            r if r >= 2 * self.pairs => Role::Alone(r - self.pairs),
            r if r % 2 == 1 => Role::ForTwo(r / 2),
            _ => Role::Represented,
        }
    }

    /// The rank that acts for a group.
    pub fn acting(self, group: u32) -> Rank {
        Rank(if group < self.pairs { 2 * group + 1 } else { group + self.pairs })
    }

    /// The first rank of a group; of the one after the last: the number of ranks.
    pub fn first(self, group: u32) -> u32 {
        group + group.min(self.pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_is_in_the_group_that_acts_for_it() {
        for ranks in 1..70 {
            let halves = Halves::of(&Problem::new(ranks));
            assert_eq!(halves.first(power(2, halves.stages)), ranks);
            for rank in (0..ranks).map(Rank) {
                let group = match halves.role(rank) {
                    Role::Alone(group) | Role::ForTwo(group) => {
                        assert_eq!(halves.acting(group), rank);
                        group
                    }
                    Role::Represented => match halves.role(Rank(rank.0 + 1)) {
                        Role::ForTwo(group) => group,
                        other => panic!("{rank:?} {other:?}"),
                    },
                };
                assert!((halves.first(group)..halves.first(group + 1)).contains(&rank.0));
            }
        }
    }
}

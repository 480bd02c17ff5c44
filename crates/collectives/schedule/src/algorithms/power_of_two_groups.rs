//! Any number of ranks as a power of two of groups, each of one rank or two neighbours.
//!
//! Of the first 2·(P - 2^k) ranks, each even one gives its part to the odd one above it, which represents
//! both. Groups contain neighbours, so groups of groups contain consecutive ranks and an algorithm can
//! keep the order of ranks.

use crate::problem::Problem;
use crate::radix::{floor_log, power};
use crate::step::Rank;

/// The groups of a problem's ranks.
#[derive(Clone, Copy)]
pub struct PowerOfTwoGroups {
    /// How many times the number of groups can be halved.
    pub stages: u32,
    pairs: u32,
}

/// What a rank does for its group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupRole {
    /// It is alone in this group.
    Single(u32),
    /// It acts for itself and the rank below, as this group.
    Representative(u32),
    /// The rank above acts for it.
    Represented,
}

impl PowerOfTwoGroups {
    pub fn of(problem: &Problem) -> PowerOfTwoGroups {
        let stages = floor_log(2, problem.ranks);
        PowerOfTwoGroups { stages, pairs: problem.ranks - power(2, stages) }
    }

    pub fn role(self, rank: Rank) -> GroupRole {
        match rank.0 {
            r if r >= 2 * self.pairs => GroupRole::Single(r - self.pairs),
            r if r % 2 == 1 => GroupRole::Representative(r / 2),
            _ => GroupRole::Represented,
        }
    }

    /// The rank that acts for a group.
    pub fn representative(self, group: u32) -> Rank {
        Rank(if group < self.pairs { 2 * group + 1 } else { group + self.pairs })
    }

    /// The first rank of a group. For the group after the last one: the number of ranks.
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
            let groups = PowerOfTwoGroups::of(&Problem::new(ranks));
            assert_eq!(groups.first(power(2, groups.stages)), ranks);
            for rank in (0..ranks).map(Rank) {
                let group = match groups.role(rank) {
                    GroupRole::Single(group) | GroupRole::Representative(group) => {
                        assert_eq!(groups.representative(group), rank);
                        group
                    }
                    GroupRole::Represented => match groups.role(Rank(rank.0 + 1)) {
                        GroupRole::Representative(group) => group,
                        other => panic!("{rank:?} {other:?}"),
                    },
                };
                assert!((groups.first(group)..groups.first(group + 1)).contains(&rank.0));
            }
        }
    }
}

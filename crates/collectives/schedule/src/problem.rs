//! The problem that a schedule solves: ranks, root, elements, parameters and nodes.

use crate::nodes::Nodes;
use crate::partition::part_start;
use crate::step::Rank;

/// The largest number of parameters of any algorithm.
pub const MAX_PARAMETERS: usize = 4;

/// The values of an algorithm's parameters, in the order of its list of parameters.
pub type ParameterValues = [u32; MAX_PARAMETERS];

/// The size of a collective call: everything that is equal at all ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Number of ranks, at least 1.
    pub ranks: u32,
    /// The root, for collectives that have one; 0 for the others.
    pub root: Rank,
    /// Elements of the vector or, for collectives that exchange parts, of one part: see
    /// [`Collective`](crate::Collective).
    pub elements: u32,
    /// The values of the parameters, filled by [`Schedule::new`](crate::Schedule::new).
    pub values: ParameterValues,
    /// Which ranks share a node. Hierarchical algorithms without a map assume blocks of the size given by
    /// their parameter `node`.
    pub nodes: Option<Nodes>,
}

impl Problem {
    /// A problem with one element and root 0.
    pub fn new(ranks: u32) -> Problem {
        Problem { ranks, root: Rank(0), elements: 1, values: [0; MAX_PARAMETERS], nodes: None }
    }

    /// The same problem with other elements.
    pub fn with_elements(self, elements: u32) -> Problem {
        Problem { elements, ..self }
    }

    /// The same problem with another root.
    pub fn with_root(self, root: Rank) -> Problem {
        Problem { root, ..self }
    }

    /// The same problem with a map of nodes.
    pub fn with_nodes(self, nodes: Nodes) -> Problem {
        Problem { nodes: Some(nodes), ..self }
    }

    /// Where the `i`-th of `parts` parts of the vector begins: see [`part_start`].
    pub fn part(&self, i: u32, parts: u32) -> u32 {
        part_start(self.elements.into(), i, parts) as u32
    }

    /// A rank's distance from the root, counted upwards with wrap-around.
    pub fn from_root(&self, rank: Rank) -> u32 {
        (rank.0 + self.ranks - self.root.0) % self.ranks
    }

    /// The rank at a distance from the root, the inverse of [`Problem::from_root`].
    pub fn to_rank(&self, distance: u32) -> Rank {
        self.around(self.root, distance)
    }

    /// The rank `distance` above `rank`, with wrap-around; `distance` is less than the number of ranks.
    pub fn around(&self, rank: Rank, distance: u32) -> Rank {
        Rank(((u64::from(rank.0) + u64::from(distance)) % u64::from(self.ranks)) as u32)
    }

    /// The rank `distance` below `rank`, with wrap-around; `distance` is less than the number of ranks.
    pub fn back(&self, rank: Rank, distance: u32) -> Rank {
        self.around(rank, self.ranks - distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_the_vector() {
        let problem = Problem::new(4).with_elements(10);
        let begins: Vec<u32> = (0..=4).map(|i| problem.part(i, 4)).collect();
        assert_eq!(begins, [0, 2, 5, 7, 10]);
    }

    #[test]
    fn distances_wrap_around() {
        let problem = Problem::new(5).with_root(Rank(3));
        assert_eq!((problem.from_root(Rank(1)), problem.to_rank(3)), (3, Rank(1)));
        assert_eq!((problem.around(Rank(4), 2), problem.back(Rank(1), 2)), (Rank(1), Rank(4)));
    }
}

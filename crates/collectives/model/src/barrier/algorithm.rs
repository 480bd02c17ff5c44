//! The barriers and their rounds.

use crate::rounds::{ceil_log, floor_log};
use serde::{Deserialize, Serialize};

/// The barriers of the literature.
///
/// The methods panic if a parameter is too small: n and f of the trees must be at least 2, n of
/// dissemination and exchange at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "barrier")]
pub enum Barrier {
    /// Rank 0 counts all arrivals and then releases the ranks (Freudenthal and Gottlieb 1991).
    CentralCounter,
    /// Groups of n, whose leaders form groups of n (Yew et al. 1987).
    CombiningTree {
        /// Ranks in a group.
        n: u64,
    },
    /// Pairs, whose winners play on. The winners are known in advance (Hensgen et al. 1988).
    Tournament,
    /// Games of f (Grunwald and Vajracharya 1994).
    FWayTournament {
        /// Contestants in a game.
        f: u64,
    },
    /// A heap in which each rank has n children (Mellor-Crummey and Scott 1991).
    Mcs {
        /// Children of a rank.
        n: u64,
    },
    /// A binomial spanning tree (Tzeng and Kongmunvattana 1997).
    BinomialTree,
    /// In stage s pairs at distance 2^s exchange a handshake (Brooks 1986).
    Butterfly,
    /// The same with messages. The ranks beyond a power of two report before and are released afterwards
    /// (Gupta et al. 2002).
    PairwiseExchange,
    /// In round r each rank signals the rank 2^r above it (Hensgen et al. 1988).
    Dissemination,
    /// In round r each rank signals the n ranks i·(n+1)^r above it (Höfler 2005).
    NWayDissemination {
        /// Messages of a rank in a round.
        n: u64,
    },
    /// Groups of n + 1 exchange in each round (Höfler 2005, corrected).
    NWiseExchange {
        /// Messages of a rank in a round.
        n: u64,
    },
}

/// How a barrier that gathers at one rank releases the others. Its time is t_bc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// One after the other.
    Linear,
    /// Along a binomial tree.
    #[default]
    Binomial,
    /// One message that reaches all ranks: the best case of a network with multicast.
    Multicast,
}

impl Barrier {
    /// Whether one rank learns that all ranks have entered and releases the others.
    pub fn has_release(&self) -> bool {
        use Barrier::*;
        matches!(
            self,
            CentralCounter
                | CombiningTree { .. }
                | Tournament
                | FWayTournament { .. }
                | Mcs { .. }
                | BinomialTree
        )
    }

    /// The number of rounds until one rank, or every rank, knows that all ranks have entered, without the
    /// release. 0 for one rank.
    pub fn rounds(&self, ranks: u64) -> u32 {
        use Barrier::*;
        if ranks < 2 {
            return 0;
        }
        match *self {
            CentralCounter => 1,
            CombiningTree { n } => ceil_log(n, ranks),
            FWayTournament { f } => ceil_log(f, ranks),
            Mcs { n } => heap_height(n, ranks),
            Tournament | BinomialTree | Dissemination => ceil_log(2, ranks),
            // A rank that acts for a missing one does the work of both, one after the other.
            Butterfly if !ranks.is_power_of_two() => 2 * ceil_log(2, ranks),
            Butterfly => ceil_log(2, ranks),
            PairwiseExchange => floor_log(2, ranks) + if ranks.is_power_of_two() { 0 } else { 2 },
            NWayDissemination { n } => ceil_log(n + 1, ranks),
            NWiseExchange { n } => floor_log(n + 1, ranks) + if max_reporters(n, ranks) > 0 { 2 } else { 0 },
        }
    }
}

/// The height of a heap of `ranks` ranks in which each rank has up to n children.
fn heap_height(n: u64, ranks: u64) -> u32 {
    let (mut height, mut level, mut held) = (0, 1_u64, 1_u64);
    while held < ranks {
        level = level.saturating_mul(n);
        held = held.saturating_add(level);
        height += 1;
    }
    height
}

/// For n-wise exchange: the largest number of ranks beyond the largest power of n + 1 that report to one
/// rank within.
pub(super) fn max_reporters(n: u64, ranks: u64) -> u64 {
    let within = (n + 1).pow(floor_log(n + 1, ranks));
    (ranks - within).div_ceil(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_height_of_a_heap_is_the_depth_of_its_last_rank() {
        for n in 1..=5_u64 {
            for ranks in 1..=400_u64 {
                let mut rank = ranks - 1;
                let mut depth = 0;
                while rank > 0 {
                    rank = (rank - 1) / n;
                    depth += 1;
                }
                assert_eq!(heap_height(n, ranks), depth, "{n}, {ranks}");
            }
        }
    }

    #[test]
    fn reporters_are_the_ranks_with_the_same_remainder() {
        for n in 1..=6_u64 {
            for ranks in 2..=150_u64 {
                let within = (n + 1).pow(floor_log(n + 1, ranks));
                let of = |rank: u64| (within..ranks).filter(|k| k % within == rank).count() as u64;
                assert_eq!(max_reporters(n, ranks), (0..within).map(of).max().unwrap(), "{n}, {ranks}");
                assert!(max_reporters(n, ranks) <= n);
            }
        }
    }
}

//! What each barrier takes, in closed form, under LogGP and under LoP (Höfler 2005, sections 2.2,
//! 2.2.5, 2.2.6 and 2.3.7).
//!
//! All formulas are for ranks that arrive at the same time, in a network without contention. The thesis
//! gives three kinds: asymptotic ones for all algorithms ([`Barrier::asymptotic_ns`]), detailed ones
//! for a representative of each class ([`Barrier::loggp_ns`]; the others are put together from the same
//! primitives), and LoP for four ([`Barrier::lop_ns`]; likewise). One rank needs nothing: 0.

mod logp;
mod lop;

use crate::rounds::{ceil_log, floor_log};
use serde::{Deserialize, Serialize};

/// The barriers of the literature.
///
/// Parameters: n, f ≥ 2 for the trees, n ≥ 1 for dissemination and exchange; less panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "barrier")]
pub enum Barrier {
    /// Rank 0 counts all arrivals and releases (Freudenthal and Gottlieb 1991).
    CentralCounter,
    /// Groups of n, whose leaders form groups of n (Yew et al. 1987).
    CombiningTree { n: u64 },
    /// Pairs, whose winners play on; who wins is known in advance (Hensgen et al. 1988).
    Tournament,
    /// Games of f (Grunwald and Vajracharya 1994).
    FWayTournament { f: u64 },
    /// A heap in which each rank has n children (Mellor-Crummey and Scott 1991).
    Mcs { n: u64 },
    /// A binomial spanning tree (Tzeng and Kongmunvattana 1997).
    BinomialTree,
    /// Pairs at distance 2^s in stage s, by a handshake (Brooks 1986).
    Butterfly,
    /// The same with messages; the ranks beyond a power of two join before and are told afterwards (Gupta
    /// et al. 2002).
    PairwiseExchange,
    /// In round r to the rank 2^r further on (Hensgen et al. 1988).
    Dissemination,
    /// In round r to n ranks, i·(n+1)^r further on (Höfler 2005).
    NWayDissemination { n: u64 },
    /// Groups of n + 1 exchange in each round (Höfler 2005, corrected).
    NWiseExchange { n: u64 },
}

/// How those barriers that gather at one rank tell the others: t_bc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Release {
    /// One after the other.
    Linear,
    /// Along a binomial tree.
    #[default]
    Binomial,
    /// One message that reaches all: what a network with multicast can do at best.
    Multicast,
}

impl Barrier {
    /// Whether one rank learns that all have come and tells the others.
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

    /// Rounds until one rank, or every rank, knows that all have come; without the release. 0 for one rank.
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
            // Ranks that impersonate another do the work of both, one after the other.
            Butterfly if !ranks.is_power_of_two() => 2 * ceil_log(2, ranks),
            Butterfly => ceil_log(2, ranks),
            PairwiseExchange => floor_log(2, ranks) + if ranks.is_power_of_two() { 0 } else { 2 },
            NWayDissemination { n } => ceil_log(n + 1, ranks),
            NWiseExchange { n } => floor_log(n + 1, ranks) + if max_reporters(n, ranks) > 0 { 2 } else { 0 },
        }
    }
}

/// Height of a heap of `ranks` in which each has up to n children.
fn heap_height(n: u64, ranks: u64) -> u32 {
    let (mut height, mut level, mut held) = (0, 1_u64, 1_u64);
    while held < ranks {
        level = level.saturating_mul(n);
        held = held.saturating_add(level);
        height += 1;
    }
    height
}

/// n-wise exchange: the largest number of ranks beyond the largest power of n + 1 that one rank within
/// stands in for.
fn max_reporters(n: u64, ranks: u64) -> u64 {
    let within = (n + 1).pow(floor_log(n + 1, ranks));
    (ranks - within).div_ceil(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heaps_have_the_height_of_their_last_rank() {
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
    fn kids_are_those_whose_rank_has_the_same_remainder() {
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

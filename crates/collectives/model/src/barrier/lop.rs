//! Barriers under LoP. The argument of L(p) and o(p) is the number of messages that are sent while the
//! pipeline of the card is warm: messages of a round × rounds × consecutive barriers.
//!
//! The formulas are lower bounds: ranks are balanced, and there is no contention.

use super::algorithm::{Barrier, max_reporters};
use crate::LoP;
use crate::fan_out::Charge;
use crate::rounds::{ceil_log, floor_log};

/// The time until n posted messages have arrived: o + n·L, or n·(o + L) if each is waited for.
fn posted(m: &LoP, n: u64, warm: u64, charge: Charge) -> f64 {
    let posts = if charge == Charge::Serialised { n } else { 1 };
    posts as f64 * m.send_overhead.at_ns(warm) + n as f64 * m.latency_ns(warm)
}

impl Barrier {
    /// The time under LoP of one of so many consecutive barriers, in nanoseconds (cnt; thesis, section
    /// 2.3.7.1).
    ///
    /// From the thesis: the central counter (with a linear release), the combining tree and the
    /// tournament (with binomial releases), and serialised n-way dissemination. The others are made of
    /// the same primitives here. So is [`Charge::Overlapped`], where the n messages of a round share one
    /// o(p).
    pub fn lop_ns(&self, m: &LoP, ranks: u64, consecutive: u64, charge: Charge) -> f64 {
        use Barrier::*;
        if ranks < 2 {
            return 0.0;
        }
        let rounds = u64::from(self.rounds(ranks));
        // A round in which one rank takes n messages, one from each of its n peers.
        let collect = |n: u64| {
            m.send_overhead.at_ns(consecutive * rounds) + n as f64 * m.latency_ns(n * consecutive * rounds)
        };
        let level = |n: u64| rounds as f64 * collect(n);
        let pairs = |rounds: u64| rounds as f64 * posted(m, 1, consecutive * rounds, charge);
        let log2 = u64::from(ceil_log(2, ranks));
        let release = pairs(log2);
        match *self {
            CentralCounter => {
                let others = (ranks - 1) as f64;
                let many = (ranks - 1) * consecutive;
                m.send_overhead.at_ns(consecutive)
                    + m.send_overhead.at_ns(many)
                    + 2.0 * others * m.latency_ns(many)
            }
            CombiningTree { n: group } | FWayTournament { f: group } => level(group.min(ranks) - 1) + release,
            Mcs { n } => level(n.min(ranks - 1)) + release,
            Tournament | BinomialTree => pairs(log2) + release,
            Butterfly | PairwiseExchange | Dissemination => pairs(rounds),
            NWayDissemination { n } => rounds as f64 * posted(m, n, n * consecutive * rounds, charge),
            NWiseExchange { n } => {
                let main = u64::from(floor_log(n + 1, ranks));
                let reporters = max_reporters(n, ranks);
                let around = if reporters == 0 {
                    0.0
                } else {
                    collect(reporters)
                        + posted(m, reporters, reporters * consecutive * rounds, Charge::Overlapped)
                };
                main as f64 * posted(m, n, n * consecutive * rounds, charge) + around
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mozart::RDMA_INLINE;
    use Barrier::*;

    fn cost_us(barrier: Barrier, charge: Charge) -> f64 {
        barrier.lop_ns(&RDMA_INLINE, 64, 5000, charge) / 1e3
    }

    /// RDMA Write with inline payload, minima, 64 ranks, 5000 consecutive barriers: the values that the
    /// digest of the thesis computed.
    #[test]
    fn barriers_of_64_ranks_have_the_computed_costs() {
        for (barrier, expected, within) in [
            (CentralCounter, 319.0, 0.5),
            (CombiningTree { n: 4 }, 42.7, 0.05),
            (Tournament, 36.8, 0.05),
            (Dissemination, 18.4, 0.05),
            (NWayDissemination { n: 1 }, 18.4, 0.05),
            (NWayDissemination { n: 2 }, 24.5, 0.05),
            (NWayDissemination { n: 3 }, 27.6, 0.05),
            (NWayDissemination { n: 4 }, 36.8, 0.05),
        ] {
            let cost = cost_us(barrier, Charge::Serialised);
            assert!(
                (cost - expected).abs() <= within,
                "{barrier:?}: {cost} µs where {expected} were expected"
            );
        }
    }

    /// Round trip of one message: 14.4 µs.
    #[test]
    fn a_round_trip_is_two_messages_and_two_posts() {
        let m = RDMA_INLINE;
        assert!((m.round_trip.at_ns(1) / 1e3 - 14.4).abs() < 0.05);
        assert!((2.0 * (m.one_to_one_ns() + m.send_overhead.at_ns(1)) - m.round_trip.at_ns(1)).abs() < 1e-6);
    }

    #[test]
    fn overlapping_saves_only_posts() {
        for n in 2..=8 {
            let [serial, overlapped] =
                [Charge::Serialised, Charge::Overlapped].map(|c| cost_us(NWayDissemination { n }, c));
            let rounds = ceil_log(n + 1, 64);
            let warm = n * 5000 * u64::from(rounds);
            let saved = f64::from(rounds) * (n - 1) as f64 * RDMA_INLINE.send_overhead.at_ns(warm) / 1e3;
            assert!((serial - overlapped - saved).abs() < 1e-9);
        }
        assert_eq!(cost_us(Dissemination, Charge::Serialised), cost_us(Dissemination, Charge::Overlapped));
    }

    #[test]
    fn the_other_barriers_are_made_of_the_same_primitives() {
        let cost = |b| cost_us(b, Charge::Serialised);
        assert_eq!(cost(FWayTournament { f: 4 }), cost(CombiningTree { n: 4 }));
        assert_eq!(cost(BinomialTree), cost(Tournament));
        assert_eq!((cost(Butterfly), cost(PairwiseExchange)), (cost(Dissemination), cost(Dissemination)));
        assert_eq!(cost(NWiseExchange { n: 3 }), cost(NWayDissemination { n: 3 }));
        // 63 ranks: 27 in three rounds of n = 2, with one or two reporters each, which report before and
        // are released after.
        assert!(
            NWiseExchange { n: 2 }.lop_ns(&RDMA_INLINE, 63, 5000, Charge::Serialised)
                > NWiseExchange { n: 2 }.lop_ns(&RDMA_INLINE, 27, 5000, Charge::Serialised)
        );
    }
}

//! Barriers under LogP and LogGP. Messages are empty, so G does not matter.

use super::algorithm::{Barrier, Release, max_reporters};
use crate::LogGp;
use crate::fan_out::Charge;
use crate::rounds::{ceil_log, floor_log};

impl Release {
    /// t_bc under LogGP: the time until the last of the other ranks is released, in nanoseconds. 0 for
    /// one rank.
    pub fn loggp_ns(&self, m: &LogGp, ranks: u64) -> f64 {
        match self {
            _ if ranks < 2 => 0.0,
            Release::Linear => m.one_to_many_ns(ranks - 1),
            Release::Binomial => m.binomial_ns(ranks),
            Release::Multicast => m.one_way_ns(),
        }
    }
}

impl Barrier {
    /// The asymptotic formula of the thesis in nanoseconds, with t_bc for `release`. Section 2.2
    /// simplifies: g ≪ o and o_s = o_r = o; here o = (o_s + o_r)/2. The formulas of n-way dissemination
    /// and n-wise exchange are those of section 2.2.6, which charges their messages one after the other.
    pub fn asymptotic_ns(&self, m: &LogGp, ranks: u64, release: Release) -> f64 {
        use Barrier::*;
        if ranks < 2 {
            return 0.0;
        }
        let latency = m.latency_ns;
        let o = (m.send_overhead_ns + m.receive_overhead_ns) / 2.0;
        let log2 = f64::from(ceil_log(2, ranks));
        let is_power = ranks.is_power_of_two();
        let gathered = match *self {
            CentralCounter => latency + ranks as f64 * o,
            CombiningTree { n } => (latency + n as f64 * o) * f64::from(ceil_log(n, ranks)),
            FWayTournament { f } => (latency + f as f64 * o) * f64::from(ceil_log(f, ranks)),
            Mcs { n } => (latency + (n + 1) as f64 * o) * f64::from(ceil_log(n, ranks)),
            BinomialTree if !is_power => (latency + 3.0 * o) * log2,
            Tournament | BinomialTree | Dissemination => (latency + 2.0 * o) * log2,
            Butterfly => (latency + 2.0 * o) * log2 * if is_power { 1.0 } else { 2.0 },
            PairwiseExchange if is_power => (latency + 2.0 * o) * log2,
            PairwiseExchange => (latency + 2.0 * o) * f64::from(floor_log(2, ranks) + 2),
            NWayDissemination { n } => n as f64 * m.turn_ns() * f64::from(ceil_log(n + 1, ranks)),
            NWiseExchange { n } => (n + 2) as f64 * m.turn_ns() * f64::from(ceil_log(n + 1, ranks)),
        };
        gathered + if self.has_release() { release.loggp_ns(m, ranks) } else { 0.0 }
    }

    /// The detailed formula in nanoseconds. `release` matters for barriers that [have
    /// one](Barrier::has_release), `charge` for barriers with an n.
    ///
    /// From the thesis: the central counter (2.2.5.1; with [`Release::Linear`] 2(o_s+L+o_r) +
    /// (P−2)(f_r+f_s)), the combining tree, the tournament, dissemination, and serialised n-way
    /// dissemination. Made of the same primitives here: the f-way tournament, as a combining tree of f;
    /// MCS, with the true height of the heap; the binomial tree, with one further receipt for each level
    /// unless P is a power of two; butterfly and pairwise exchange, with a turn for each round; n-wise
    /// exchange, with its two further steps once instead of in each round.
    pub fn loggp_ns(&self, m: &LogGp, ranks: u64, release: Release, charge: Charge) -> f64 {
        use Barrier::*;
        if ranks < 2 {
            return 0.0;
        }
        let rounds = f64::from(self.rounds(ranks));
        let turn = m.receive_interval_ns().max(m.one_way_ns());
        let gathered = match *self {
            CentralCounter => m.many_to_one_ns(ranks - 1),
            CombiningTree { n: group } | FWayTournament { f: group } => {
                rounds * m.many_to_one_ns(group.min(ranks) - 1)
            }
            Mcs { n } => rounds * m.many_to_one_ns(n.min(ranks - 1)),
            BinomialTree if !ranks.is_power_of_two() => rounds * (turn + m.receive_interval_ns()),
            BinomialTree | Tournament => rounds * turn,
            Butterfly | PairwiseExchange | Dissemination => rounds * turn.max(m.send_interval_ns()),
            NWayDissemination { n } => rounds * m.round_ns(n, charge),
            NWiseExchange { n } => {
                let reporters = max_reporters(n, ranks);
                f64::from(floor_log(n + 1, ranks)) * m.round_ns(n, charge)
                    + m.many_to_one_ns(reporters)
                    + m.one_to_many_ns(reporters)
            }
        };
        gathered + if self.has_release() { release.loggp_ns(m, ranks) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Barrier::*;

    const M: LogGp = LogGp {
        latency_ns: 1000.0,
        send_overhead_ns: 100.0,
        receive_overhead_ns: 200.0,
        gap_ns: 150.0,
        gap_per_byte_ns: 0.0,
    };
    const T: f64 = 1300.0;

    fn detailed(barrier: Barrier, ranks: u64) -> f64 {
        barrier.loggp_ns(&M, ranks, Release::Binomial, Charge::Overlapped)
    }

    #[test]
    fn central_counter_with_linear_release_is_the_formula_of_the_thesis() {
        for ranks in 2..100 {
            let others = (ranks - 2) as f64;
            let expected = 2.0 * T + others * (M.receive_interval_ns() + M.send_interval_ns());
            assert!(
                (CentralCounter.loggp_ns(&M, ranks, Release::Linear, Charge::Overlapped) - expected).abs()
                    < 1e-9
            );
        }
        // With o_s = o_r = o ≥ g it comes to 2(L + P·o).
        let simple = LogGp::logp(1000.0, 100.0, 0.0);
        let cost = CentralCounter.loggp_ns(&simple, 64, Release::Linear, Charge::Overlapped);
        assert!((cost - 2.0 * (1000.0 + 64.0 * 100.0)).abs() < 1e-9);
    }

    #[test]
    fn representatives_agree_with_their_formulas() {
        let broadcast = T + 6.0 * T;
        assert_eq!(M.binomial_ns(64), broadcast);
        assert_eq!(detailed(CombiningTree { n: 4 }, 64), (T + 2.0 * 200.0) * 3.0 + broadcast);
        assert_eq!(detailed(FWayTournament { f: 4 }, 64), detailed(CombiningTree { n: 4 }, 64));
        assert_eq!(detailed(Tournament, 64), 6.0 * T + broadcast);
        assert_eq!(detailed(BinomialTree, 64), 6.0 * T + broadcast);
        assert_eq!(detailed(BinomialTree, 33), 6.0 * (T + 200.0) + broadcast);
        assert_eq!(detailed(Dissemination, 64), 6.0 * T);
        assert_eq!(detailed(Dissemination, 33), 6.0 * T);
        assert_eq!(detailed(Butterfly, 64), 6.0 * T);
        assert_eq!(detailed(Butterfly, 33), 12.0 * T);
        assert_eq!(detailed(PairwiseExchange, 64), 6.0 * T);
        assert_eq!(detailed(PairwiseExchange, 63), 7.0 * T);
        assert_eq!(detailed(Mcs { n: 4 }, 64), (T + 3.0 * 200.0) * 3.0 + broadcast);
        assert_eq!(
            NWayDissemination { n: 3 }.loggp_ns(&M, 64, Release::Binomial, Charge::Serialised),
            3.0 * T * 3.0
        );
        assert_eq!(detailed(NWayDissemination { n: 3 }, 64), (T + 2.0 * 200.0) * 3.0);
    }

    #[test]
    fn asymptotic_formulas_agree_with_the_table() {
        let m = LogGp::logp(1000.0, 100.0, 0.0);
        let cost = |b: Barrier, ranks| b.asymptotic_ns(&m, ranks, Release::Multicast);
        let release = 1200.0;
        assert_eq!(cost(CentralCounter, 64), 1000.0 + 6400.0 + release);
        assert_eq!(cost(CombiningTree { n: 4 }, 64), 1400.0 * 3.0 + release);
        assert_eq!(cost(FWayTournament { f: 4 }, 64), 1400.0 * 3.0 + release);
        assert_eq!(cost(Mcs { n: 4 }, 64), 1500.0 * 3.0 + release);
        assert_eq!(cost(Tournament, 64), 1200.0 * 6.0 + release);
        assert_eq!(cost(BinomialTree, 64), 1200.0 * 6.0 + release);
        assert_eq!(cost(BinomialTree, 63), 1300.0 * 6.0 + release);
        assert_eq!(cost(Butterfly, 63), 1200.0 * 12.0);
        assert_eq!(cost(PairwiseExchange, 63), 1200.0 * 7.0);
        assert_eq!(cost(Dissemination, 63), 1200.0 * 6.0);
        assert_eq!(cost(NWayDissemination { n: 3 }, 64), 3.0 * 1200.0 * 3.0);
        assert_eq!(cost(NWiseExchange { n: 3 }, 64), 5.0 * 1200.0 * 3.0);
    }

    #[test]
    fn one_rank_takes_no_time_and_two_need_a_message_each_way() {
        let m = LogGp::logp(1000.0, 100.0, 0.0);
        for barrier in [
            CentralCounter,
            CombiningTree { n: 4 },
            Tournament,
            FWayTournament { f: 4 },
            Mcs { n: 4 },
            BinomialTree,
            Butterfly,
            PairwiseExchange,
            Dissemination,
            NWayDissemination { n: 1 },
            NWiseExchange { n: 1 },
        ] {
            for release in [Release::Linear, Release::Binomial, Release::Multicast] {
                for charge in [Charge::Serialised, Charge::Overlapped] {
                    assert_eq!(barrier.loggp_ns(&m, 1, release, charge), 0.0, "{barrier:?}");
                    // The thesis charges two messages for the binomial release of two ranks. The other
                    // releases need one.
                    let release_ns = if !barrier.has_release() {
                        0.0
                    } else if release == Release::Binomial {
                        2400.0
                    } else {
                        1200.0
                    };
                    assert_eq!(
                        barrier.loggp_ns(&m, 2, release, charge),
                        1200.0 + release_ns,
                        "{barrier:?} {release:?}"
                    );
                }
            }
            assert_eq!(barrier.asymptotic_ns(&m, 1, Release::Linear), 0.0);
            assert_eq!(barrier.lop_ns(&crate::mozart::RDMA_INLINE, 1, 10, Charge::Serialised), 0.0);
        }
    }

    #[test]
    fn n_way_with_n_1_is_dissemination_and_n_wise_with_n_1_is_pairwise() {
        for ranks in 2..200 {
            for charge in [Charge::Serialised, Charge::Overlapped] {
                let cost = |b: Barrier| b.loggp_ns(&M, ranks, Release::Binomial, charge);
                assert!((cost(NWayDissemination { n: 1 }) - cost(Dissemination)).abs() < 1e-9);
                assert!((cost(NWiseExchange { n: 1 }) - cost(PairwiseExchange)).abs() < 1e-9);
            }
        }
    }

    /// The thesis charges the two further steps of n-wise exchange in each round. Charged once, they cost
    /// less.
    #[test]
    fn n_wise_exchange_is_within_the_bound_of_the_thesis() {
        for ranks in 2..500 {
            for n in 1..=6 {
                let barrier = NWiseExchange { n };
                let m = LogGp::logp(1000.0, 100.0, 50.0);
                let bound = barrier.asymptotic_ns(&m, ranks, Release::Binomial);
                let tight = barrier.loggp_ns(&m, ranks, Release::Binomial, Charge::Serialised);
                assert!(tight <= bound + 1e-9, "{ranks} ranks, n = {n}: {tight} > {bound}");
            }
        }
    }
}

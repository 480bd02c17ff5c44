//! The choice of n for n-way dissemination and n-wise exchange.
//!
//! The thesis charges a full o_s + L + o_r for each of the n messages of a round and concludes that n
//! should be the number of parallel links m (section 2.2.6.1). Two facts contradict that. First, rounds
//! are whole: of all n with the same number of rounds the smallest is the cheapest, so at most ⌈log₂P⌉
//! values of n are candidates. Second, messages that are posted before the first is waited for overlap,
//! so a large n can pay on a single link.

use crate::LogGp;
use crate::rounds::ceil_log;
use serde::{Deserialize, Serialize};

/// How the n messages of a round are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charge {
    /// As in the thesis: n times max{g, o_s + L + o_r}, as if each were waited for before the next is
    /// sent.
    Serialised,
    /// All are posted, then all are waited for: they share one latency.
    Overlapped,
}

/// A value of n worth considering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Messages of a rank in a round.
    pub n: u64,
    /// The number of rounds: ⌈log_(n+1) P⌉.
    pub rounds: u32,
}

/// For each number of rounds R = 1 … ⌈log₂P⌉ that some n needs, the smallest such n: (n + 1)^R ≥ P. The
/// largest n comes first, and n = 1 last. Empty for one rank.
///
/// ```
/// use evenkeel_model::fan_out::candidates;
/// let of_64: Vec<_> = candidates(64).iter().map(|c| (c.n, c.rounds)).collect();
/// assert_eq!(of_64, [(63, 1), (7, 2), (3, 3), (2, 4), (1, 6)]);
/// ```
pub fn candidates(ranks: u64) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for most in 1..=ceil_log(2, ranks) {
        let n = least_base(ranks, most) - 1;
        if found.last().is_none_or(|c| c.n != n) {
            found.push(Candidate { n, rounds: ceil_log(n + 1, ranks) });
        }
    }
    found
}

/// The least base ≥ 2 with base^exponent ≥ ranks.
fn least_base(ranks: u64, exponent: u32) -> u64 {
    let reaches = |base: u64| base.checked_pow(exponent).is_none_or(|power| power >= ranks);
    let (mut short, mut enough) = (1, ranks.max(2));
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        if reaches(middle) { enough = middle } else { short = middle }
    }
    enough
}

/// The candidate with the least cost, and its cost. Of candidates with equal costs the one with the
/// fewest messages. None for one rank.
pub fn choose(ranks: u64, mut cost_ns: impl FnMut(Candidate) -> f64) -> Option<(Candidate, f64)> {
    let costs = candidates(ranks).into_iter().map(|c| (c, cost_ns(c)));
    costs.min_by(|(a, x), (b, y)| {
        x.total_cmp(y).then((a.n * u64::from(a.rounds)).cmp(&(b.n * u64::from(b.rounds))))
    })
}

impl LogGp {
    /// The time of a round of n-way dissemination or n-wise exchange, in nanoseconds: each rank sends n
    /// short messages and receives n, all ranks at the same time.
    ///
    /// Serialised: n·max{g, o_s + L + o_r}. Overlapped: a processor first posts its n messages, then
    /// takes the n that arrive. With s = max{o_s, g} and q = max{o_r, g} that is o_s + o_r + max{max{L,
    /// (n−1)·s} + (n−1)·q, L + (n−1)·s}. If L is the longer part and o_s = o_r = o, it is o_s + L + o_r +
    /// (n−1)·max{o, g}.
    pub fn round_ns(&self, n: u64, charge: Charge) -> f64 {
        if n == 0 {
            return 0.0;
        }
        match charge {
            Charge::Serialised => n as f64 * self.turn_ns(),
            Charge::Overlapped => {
                let more = (n - 1) as f64;
                let posting = more * self.send_interval_ns();
                let taking = more * self.receive_interval_ns();
                let last = (self.latency_ns.max(posting) + taking).max(self.latency_ns + posting);
                // The first message of the next round keeps its distance from the last of this one.
                (self.send_overhead_ns + self.receive_overhead_ns + last).max(posting + self.gap_ns)
            }
        }
    }

    /// The time of n-way dissemination over m links as in the thesis, with its ceilings, in nanoseconds:
    /// n·max{g/min{m,n}, o_s + L/min{m,n} + o_r}·R, and for n ≥ m max{g·⌈n/m⌉, n·o_s + L·⌈n/m⌉ +
    /// n·o_r}·R.
    ///
    /// # Panics
    /// If n or m is 0.
    pub fn n_way_over_links_ns(&self, ranks: u64, n: u64, links: u64) -> f64 {
        assert!(n > 0 && links > 0, "{n} messages over {links} links");
        let (sends, turns) = (n as f64, n.div_ceil(links) as f64);
        let busy = sends * (self.send_overhead_ns + self.receive_overhead_ns);
        // For n < m each message has a link of its own, and ⌈n/m⌉ = 1. So this covers both cases of the
        // thesis.
        (self.gap_ns * turns).max(busy + self.latency_ns * turns) * f64::from(ceil_log(n + 1, ranks))
    }
}

/// The ratio L/o for which groups of n are best in a combining tree with overlapped latency: n·(ln n −
/// 1), where (L + n·o)/ln n has its minimum.
pub fn best_latency_to_overhead(n: f64) -> f64 {
    n * (n.ln() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_few_and_the_smallest_n_for_their_rounds() {
        for ranks in 2..=3000 {
            let found = candidates(ranks);
            assert!(found.len() <= ceil_log(2, ranks) as usize);
            for c in &found {
                assert_eq!(c.rounds, ceil_log(c.n + 1, ranks));
                assert!(
                    c.n == 1 || ceil_log(c.n, ranks) > c.rounds,
                    "{ranks} ranks: {} would do as well as {}",
                    c.n - 1,
                    c.n
                );
            }
            // Each n has the same number of rounds as some candidate that is not larger.
            for n in [1, 2, 3, 5, 17, ranks - 1] {
                assert!(
                    found.iter().any(|c| c.n <= n && c.rounds == ceil_log(n + 1, ranks)),
                    "{n} of {ranks}"
                );
            }
        }
        assert!(candidates(1).is_empty() && candidates(0).is_empty());
        assert_eq!(candidates(u64::MAX).last().unwrap().rounds, 64);
    }

    #[test]
    fn the_best_of_all_n_is_a_candidate() {
        for (latency, overhead, gap) in [(5.0, 0.5, 0.5), (0.1, 1.0, 0.0), (50.0, 1.0, 3.0), (1.0, 1.0, 9.0)]
        {
            let m = LogGp::logp(latency, overhead, gap);
            for ranks in 2..=130 {
                for charge in [Charge::Serialised, Charge::Overlapped] {
                    let cost = |n: u64| f64::from(ceil_log(n + 1, ranks)) * m.round_ns(n, charge);
                    let best = (1..ranks).map(cost).fold(f64::INFINITY, f64::min);
                    let (chosen, cost_ns) = choose(ranks, |c| cost(c.n)).unwrap();
                    assert!(
                        cost_ns <= best * (1.0 + 1e-12),
                        "{ranks} ranks, {chosen:?}: {cost_ns}, but {best} is possible"
                    );
                }
            }
        }
    }

    /// L = 5, o = g = 0.5, 64 ranks: 36 for n = 1, 18 for n = 7.
    #[test]
    fn overlapping_makes_a_large_n_pay_on_one_link() {
        let m = LogGp::logp(5.0, 0.5, 0.5);
        let cost = |n, charge| f64::from(ceil_log(n + 1, 64)) * m.round_ns(n, charge);
        assert_eq!((cost(1, Charge::Overlapped), cost(7, Charge::Overlapped)), (36.0, 18.0));
        assert_eq!((cost(1, Charge::Serialised), cost(7, Charge::Serialised)), (36.0, 84.0));
        assert_eq!(choose(64, |c| cost(c.n, Charge::Overlapped)).unwrap().0, Candidate { n: 7, rounds: 2 });
        assert_eq!(choose(64, |c| cost(c.n, Charge::Serialised)).unwrap().0, Candidate { n: 1, rounds: 6 });
    }

    /// A round by the definition of LogP: posts and receipts one after the other on one processor.
    fn round_by_steps(m: &LogGp, n: u64) -> f64 {
        let sent: Vec<f64> = (0..n).map(|i| i as f64 * m.send_interval_ns() + m.send_overhead_ns).collect();
        let mut free = sent[sent.len() - 1];
        let mut end = 0.0_f64;
        for (i, sent) in sent.iter().enumerate() {
            let start = free.max(sent + m.latency_ns);
            end = start + m.receive_overhead_ns;
            free = if i as u64 + 1 < n { start + m.receive_interval_ns() } else { end };
        }
        end
    }

    #[test]
    fn an_overlapped_round_takes_as_long_as_its_steps() {
        for latency in [0.0, 1.0, 4.0, 30.0] {
            for send in [0.25, 1.0, 3.0] {
                for receive in [0.25, 1.0, 3.0] {
                    for gap in [0.0, 0.5, 2.0] {
                        let m = LogGp {
                            latency_ns: latency,
                            send_overhead_ns: send,
                            receive_overhead_ns: receive,
                            gap_ns: gap,
                            gap_per_byte_ns: 0.0,
                        };
                        for n in 1..=9 {
                            let expected =
                                round_by_steps(&m, n).max((n - 1) as f64 * m.send_interval_ns() + gap);
                            assert!(
                                (m.round_ns(n, Charge::Overlapped) - expected).abs() < 1e-9,
                                "{m:?}, n = {n}"
                            );
                        }
                    }
                }
            }
        }
    }

    /// With L = 10·o and three links the thesis chooses n = 3. With 5 to 9 ranks n = 2 has as many rounds
    /// and costs less.
    #[test]
    fn as_many_messages_as_links_is_not_always_best() {
        let m = LogGp::logp(10.0, 1.0, 0.0);
        for ranks in 5..=9 {
            assert!(m.n_way_over_links_ns(ranks, 2, 3) < m.n_way_over_links_ns(ranks, 3, 3));
        }
        assert!(m.n_way_over_links_ns(16, 2, 3) > m.n_way_over_links_ns(16, 3, 3));
        assert_eq!(m.n_way_over_links_ns(9, 3, 3), (3.0 * 2.0 + 10.0) * 2.0);
    }

    #[test]
    fn groups_of_4_and_8_are_ideal_at_the_known_ratios() {
        assert!(
            (best_latency_to_overhead(4.0) - 1.5).abs() < 0.05
                && (best_latency_to_overhead(8.0) - 8.6).abs() < 0.05
        );
    }
}

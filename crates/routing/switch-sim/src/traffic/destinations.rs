//! The destinations of messages on a network.

use super::pattern::Pattern;
use crate::wiring::Wiring;
use evenkeel_route::{EndNodeId, Random};

/// A pattern on a network: the destinations of each host.
#[derive(Clone, Debug)]
pub struct Destinations {
    pattern: Pattern,
    hosts: u32,
    /// Bits of the numbers of the hosts that take part in a permutation.
    bits: u32,
    /// For local traffic: by host, the hosts near it.
    near: Vec<Vec<EndNodeId>>,
}

impl Destinations {
    /// The destinations of a pattern on a network.
    pub fn new(pattern: Pattern, wiring: &Wiring) -> Destinations {
        let hosts = wiring.hosts();
        let near = match pattern {
            Pattern::Local { links, .. } => {
                let distances = wiring.distances();
                let is_near = |a: EndNodeId, b: EndNodeId| {
                    a != b
                        && distances[wiring.switch_of(a).0 as usize][wiring.switch_of(b).0 as usize] <= links
                };
                (0..hosts)
                    .map(|a| (0..hosts).map(EndNodeId).filter(|b| is_near(EndNodeId(a), *b)).collect())
                    .collect()
            }
            _ => Vec::new(),
        };
        Destinations { pattern, hosts, bits: hosts.checked_ilog2().unwrap_or(0), near }
    }

    /// Whether a host sends at all.
    pub fn sends(&self, from: EndNodeId) -> bool {
        self.hosts > 1 && self.permuted(from) != Some(from)
    }

    /// A random destination of a host or, for a permutation, its destination.
    pub fn draw(&self, from: EndNodeId, random: &mut Random) -> EndNodeId {
        if let Some(to) = self.permuted(from) {
            return to;
        }
        if let Pattern::Local { share, .. } = self.pattern {
            let near = &self.near[from.0 as usize];
            if !near.is_empty() && random.unit() < share {
                return near[random.below(near.len())];
            }
        }
        let other = random.below(self.hosts as usize - 1) as u32;
        EndNodeId(if other >= from.0 { other + 1 } else { other })
    }

    /// The destination of a host, if the pattern is a permutation and the host takes part in it.
    fn permuted(&self, from: EndNodeId) -> Option<EndNodeId> {
        let (n, bits) = (from.0, self.bits);
        if n >= 1 << bits || bits == 0 {
            return None;
        }
        let mask = (1 << bits) - 1;
        let rotated = |by: u32| ((n << by) | (n >> (bits - by))) & mask;
        match self.pattern {
            Pattern::Uniform | Pattern::Local { .. } => None,
            Pattern::BitReversal => Some(EndNodeId(n.reverse_bits() >> (32 - bits))),
            Pattern::PerfectShuffle => Some(EndNodeId(rotated(1))),
            Pattern::Transpose => Some(EndNodeId(rotated(bits / 2))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_route::SwitchId;

    fn wiring(hosts: u32) -> Wiring {
        Wiring::new(
            4,
            (0..3).map(|s| (SwitchId(s), SwitchId(s + 1))).collect(),
            (0..hosts).map(|h| SwitchId(h % 4)).collect(),
        )
    }

    #[test]
    fn permutations_are_those_of_the_literature() {
        let to = |pattern, from| Destinations::new(pattern, &wiring(16)).permuted(EndNodeId(from)).unwrap().0;
        assert_eq!([0b0001, 0b0011, 0b1010].map(|n| to(Pattern::BitReversal, n)), [0b1000, 0b1100, 0b0101]);
        assert_eq!(
            [0b0001, 0b1000, 0b1010].map(|n| to(Pattern::PerfectShuffle, n)),
            [0b0010, 0b0001, 0b0101]
        );
        assert_eq!([0b0001, 0b1101].map(|n| to(Pattern::Transpose, n)), [0b0100, 0b0111]);
        assert!(!Destinations::new(Pattern::BitReversal, &wiring(16)).sends(EndNodeId(0b1001)));
    }

    #[test]
    fn every_host_is_the_destination_of_one_host() {
        for pattern in [Pattern::BitReversal, Pattern::PerfectShuffle, Pattern::Transpose] {
            for hosts in [2, 16, 32, 128] {
                let all = Destinations::new(pattern, &wiring(hosts));
                let mut destinations: Vec<u32> =
                    (0..hosts).map(|h| all.permuted(EndNodeId(h)).unwrap().0).collect();
                destinations.sort_unstable();
                assert!(destinations.iter().copied().eq(0..hosts), "{pattern} {hosts}");
            }
        }
    }

    #[test]
    fn random_destinations_are_other_hosts_and_near_as_often_as_requested() {
        let mut random = Random::new(1);
        let uniform = Destinations::new(Pattern::Uniform, &wiring(5));
        let mut hit = [0; 5];
        (0..10_000).for_each(|_| hit[uniform.draw(EndNodeId(2), &mut random).0 as usize] += 1);
        assert_eq!(hit[2], 0);
        assert!([0, 1, 3, 4].iter().all(|h| (2300..2700).contains(&hit[*h])), "{hit:?}");
        // On a line of four switches with one host each, host 0 has one near host.
        let local = Destinations::new(Pattern::Local { links: 1, share: 0.6 }, &wiring(4));
        let near = (0..10_000).filter(|_| local.draw(EndNodeId(0), &mut random) == EndNodeId(1)).count();
        assert!((7100..7560).contains(&near), "{near}"); // 0.6 + 0.4/3
    }
}

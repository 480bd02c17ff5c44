//! Who sends to whom, and how much at a time.

use crate::wiring::Wiring;
use evenkeel_route::{EndNodeId, Random};
use std::fmt;
use std::str::FromStr;

/// Destinations of messages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    /// Any other host, all alike.
    Uniform,
    /// The bits of the host's number backwards. Of these three: the largest power of two of hosts takes
    /// part, the others send to any; hosts that would send to themselves do not send.
    BitReversal,
    /// The bits moved left by one, the first becoming the last.
    PerfectShuffle,
    /// The upper half of the bits and the lower half swapped (with an odd number of bits, the middle one
    /// stays with the upper half).
    Transpose,
    /// `share` of the messages go to a host at most `links` links away (links between switches), the others
    /// to any.
    Local { links: u32, share: f64 },
}

impl FromStr for Pattern {
    type Err = String;
    fn from_str(text: &str) -> Result<Pattern, String> {
        match text {
            "uniform" => Ok(Pattern::Uniform),
            "bit-reversal" => Ok(Pattern::BitReversal),
            "shuffle" => Ok(Pattern::PerfectShuffle),
            "transpose" => Ok(Pattern::Transpose),
            "local" => Ok(Pattern::Local { links: 5, share: 0.6 }),
            other => other
                .strip_prefix("local:")
                .and_then(|n| n.parse().ok())
                .map(|links| Pattern::Local { links, share: 0.6 })
                .ok_or_else(|| format!("`{other}` is no pattern: there are uniform, bit-reversal, shuffle, transpose, local and local:LINKS")),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Pattern::Uniform => write!(f, "uniform"),
            Pattern::BitReversal => write!(f, "bit-reversal"),
            Pattern::PerfectShuffle => write!(f, "shuffle"),
            Pattern::Transpose => write!(f, "transpose"),
            Pattern::Local { links, .. } => write!(f, "local:{links}"),
        }
    }
}

/// Message lengths in phits: all alike, or a share of short ones among long ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    Fixed(u32),
    Bimodal { short: u32, long: u32, share_short: f64 },
}

impl Length {
    pub fn mean(&self) -> f64 {
        match *self {
            Length::Fixed(n) => f64::from(n),
            Length::Bimodal { short, long, share_short } => {
                share_short * f64::from(short) + (1.0 - share_short) * f64::from(long)
            }
        }
    }

    pub fn longest(&self) -> u32 {
        match *self {
            Length::Fixed(n) => n,
            Length::Bimodal { short, long, .. } => short.max(long),
        }
    }

    pub fn draw(&self, random: &mut Random) -> u32 {
        match *self {
            Length::Fixed(n) => n,
            Length::Bimodal { short, long, share_short } => {
                if random.unit() < share_short {
                    short
                } else {
                    long
                }
            }
        }
    }
}

impl FromStr for Length {
    type Err = String;
    /// `32`, or `32:512:0.75`: 75% of 32 phits, the others of 512.
    fn from_str(text: &str) -> Result<Length, String> {
        let wrong =
            || format!("`{text}` is no length: give phits (32), or SHORT:LONG:SHARE_OF_SHORT (32:512:0.75)");
        let parts: Vec<&str> = text.split(':').collect();
        let phits = |t: &str| t.parse::<u32>().ok().filter(|n| (1..=1 << 24).contains(n)).ok_or_else(wrong);
        match parts[..] {
            [n] => Ok(Length::Fixed(phits(n)?)),
            [short, long, share] => {
                let share_short =
                    share.parse::<f64>().ok().filter(|s| (0.0..=1.0).contains(s)).ok_or_else(wrong)?;
                Ok(Length::Bimodal { short: phits(short)?, long: phits(long)?, share_short })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Length::Fixed(n) => write!(f, "{n}"),
            Length::Bimodal { short, long, share_short } => write!(f, "{short}:{long}:{share_short}"),
        }
    }
}

/// A pattern on a network.
#[derive(Clone, Debug)]
pub struct Destinations {
    pattern: Pattern,
    hosts: u32,
    bits: u32,
    /// For local traffic: the hosts near each host.
    near: Vec<Vec<EndNodeId>>,
}

impl Destinations {
    pub fn new(pattern: Pattern, wiring: &Wiring) -> Destinations {
        let hosts = wiring.hosts();
        let near = match pattern {
            Pattern::Local { links, .. } => {
                let distances = wiring.distances();
                let close = |a: EndNodeId, b: EndNodeId| {
                    a != b && distances[wiring.home(a).0 as usize][wiring.home(b).0 as usize] <= links
                };
                (0..hosts)
                    .map(|a| (0..hosts).map(EndNodeId).filter(|b| close(EndNodeId(a), *b)).collect())
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
    fn permutations_are_those_of_the_field() {
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
    fn permutations_hit_each_host_once() {
        for pattern in [Pattern::BitReversal, Pattern::PerfectShuffle, Pattern::Transpose] {
            for hosts in [2, 16, 32, 128] {
                let all = Destinations::new(pattern, &wiring(hosts));
                let mut hit: Vec<u32> = (0..hosts).map(|h| all.permuted(EndNodeId(h)).unwrap().0).collect();
                hit.sort_unstable();
                assert!(hit.iter().copied().eq(0..hosts), "{pattern} {hosts}");
            }
        }
    }

    #[test]
    fn random_destinations_are_others_and_near_as_often_as_asked() {
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

    #[test]
    fn names_and_lengths_read_back() {
        for text in ["uniform", "bit-reversal", "shuffle", "transpose", "local:5"] {
            assert_eq!(text.parse::<Pattern>().unwrap().to_string(), text);
        }
        for text in ["32", "32:512:0.75"] {
            assert_eq!(text.parse::<Length>().unwrap().to_string(), text);
        }
        for wrong in ["", "0", "1:2", "1:2:3", "x"] {
            assert!(wrong.parse::<Length>().is_err(), "{wrong}");
        }
        assert!("near".parse::<Pattern>().is_err());
        assert_eq!("32:512:0.75".parse::<Length>().unwrap().mean(), 152.0);
    }
}

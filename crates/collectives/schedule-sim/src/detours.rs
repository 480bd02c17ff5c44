//! The detours of the ranks in the course of a simulation.

use crate::noise::{Noise, Trace};
use crate::random::{RandomStream, stream};
use crate::span::Distribution;
use crate::time::VirtualTime;
use evenkeel_random::Random;

/// The detours of all ranks. 24 bytes for each rank.
pub struct Detours {
    noise: Noise,
    next: Vec<Detour>,
}

/// The detour of a rank that is the next, or has begun.
#[derive(Clone, Copy)]
struct Detour {
    start: VirtualTime,
    length: VirtualTime,
    /// The seed of the following detours. For a measured trace: the core (upper half) and the index in
    /// its trace.
    state: u64,
}

impl Detours {
    /// The first detour of each rank.
    pub fn new(noise: &Noise, ranks: u32, seed: u64) -> Detours {
        let next = match noise {
            Noise::None => Vec::new(),
            _ => (0..ranks).map(|rank| first(noise, stream(seed, rank, RandomStream::Noise))).collect(),
        };
        Detours { noise: noise.clone(), next }
    }

    /// When work that begins at `from` and needs `work` of the rank's processor is done. A rank whose
    /// processor is away at `from` begins late, even if there is no work. For each rank, `from` must not
    /// decrease from call to call.
    pub fn end_of(&mut self, rank: u32, from: VirtualTime, work: VirtualTime) -> VirtualTime {
        if self.next.is_empty() {
            return from + work;
        }
        let next = &mut self.next[rank as usize];
        let mut end = from + work;
        // A detour that begins exactly at `from` counts even if there is no work.
        while next.start < end || next.start == from {
            let over = next.start + next.length;
            if next.start >= from {
                end += next.length;
            } else if over > from {
                end += over - from;
            }
            next.advance(&self.noise, from);
        }
        end
    }
}

fn first(noise: &Noise, mut random: Random) -> Detour {
    match noise {
        Noise::None => unreachable!("without noise there are no detours"),
        Noise::Periodic { length, period, aligned } => {
            let phase = if *aligned {
                VirtualTime::ZERO
            } else {
                VirtualTime::from_ps(random.less_than(period.ps()))
            };
            Detour { start: phase, length: *length, state: 0 }
        }
        Noise::Random { length, interval } => {
            // The simulation begins somewhere within an interval. The rest of an exponential interval is
            // distributed like a whole one.
            let whole = interval.draw(&mut random);
            let start = if interval.distribution == Distribution::Exponential {
                whole
            } else {
                whole.scaled(random.unit())
            };
            let length = length.draw(&mut random);
            Detour { start, length, state: random.bits() }
        }
        Noise::Measured(traces) => {
            let core = random.less_than(traces.len() as u64);
            let Trace { watched, detours } = &traces[core as usize];
            let offset = VirtualTime::from_ps(random.less_than(watched.ps()));
            let index = detours.partition_point(|(start, _)| *start < offset);
            match detours
                .get(index)
                .map(|d| (index, *d, VirtualTime::ZERO))
                .or_else(|| Some((0, *detours.first()?, *watched)))
            {
                None => Detour { start: VirtualTime::NEVER, length: VirtualTime::ZERO, state: 0 },
                Some((index, (start, length), wrapped)) => {
                    Detour { start: start + wrapped - offset, length, state: core << 32 | index as u64 }
                }
            }
        }
    }
}

impl Detour {
    /// Moves on to the next detour. Detours that are over at `from` may be skipped.
    #[inline]
    fn advance(&mut self, noise: &Noise, from: VirtualTime) {
        match noise {
            Noise::None => {}
            Noise::Periodic { period, .. } => {
                let skipped = from.saturating_sub(self.start + self.length).ps() / period.ps();
                self.start += VirtualTime::from_ps(period.ps() * skipped.max(1));
            }
            Noise::Random { length, interval } => {
                let mut random = Random::new(self.state);
                self.start = self.start + self.length + interval.draw(&mut random);
                self.length = length.draw(&mut random);
                self.state = random.bits();
            }
            Noise::Measured(traces) => {
                let trace = &traces[(self.state >> 32) as usize];
                let at = self.state as u32 as usize;
                let before = trace.detours[at].0;
                let (index, wrapped) = if at + 1 < trace.detours.len() {
                    (at + 1, VirtualTime::ZERO)
                } else {
                    (0, trace.watched)
                };
                let (start, length) = trace.detours[index];
                self.start += start + wrapped - before;
                self.length = length;
                self.state = self.state >> 32 << 32 | index as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn us(n: u64) -> VirtualTime {
        VirtualTime::from_ps(n * 1_000_000)
    }

    fn aligned(length: u64, period: u64) -> Detours {
        Detours::new(&Noise::Periodic { length: us(length), period: us(period), aligned: true }, 1, 0)
    }

    #[test]
    fn work_takes_longer_by_the_detours_it_meets() {
        // Detours at 0-10, 100-110, 200-210, …
        assert_eq!(aligned(10, 100).end_of(0, us(0), us(0)), us(10));
        assert_eq!(aligned(10, 100).end_of(0, us(0), us(50)), us(60));
        assert_eq!(aligned(10, 100).end_of(0, us(5), us(50)), us(60));
        assert_eq!(aligned(10, 100).end_of(0, us(10), us(90)), us(100));
        assert_eq!(aligned(10, 100).end_of(0, us(10), us(91)), us(111));
        assert_eq!(aligned(10, 100).end_of(0, us(50), us(300)), us(380));
        // Many detours lie in the past.
        let mut one = aligned(10, 100);
        assert_eq!(one.end_of(0, us(50), us(10)), us(60));
        assert_eq!(one.end_of(0, us(1_000_005), us(1)), us(1_000_011));
        assert_eq!(one.end_of(0, us(1_000_100), us(0)), us(1_000_110));
    }

    #[test]
    fn a_measured_trace_repeats_from_any_place() {
        let trace = Trace { watched: us(100), detours: vec![(us(20), us(5)), (us(70), us(10))] };
        let noise = Noise::Measured(Arc::new(vec![trace]));
        assert_eq!((noise.check(), noise.share()), (Ok(()), 0.15));
        let mut detours = Detours::new(&noise, 50, 3);
        for rank in 0..50 {
            // 85 µs of work fill the trace once, wherever it begins. A detour at either end is met in
            // part.
            let ends: Vec<VirtualTime> = (1..=20)
                .map(|n| n * 100)
                .scan(VirtualTime::ZERO, |from, _| {
                    *from = detours.end_of(rank, *from, us(85));
                    Some(*from)
                })
                .collect();
            let mean = ends[19].ns() / 20.0;
            assert!((mean - 100_000.0).abs() < 600.0, "rank {rank}: {mean}");
        }
        let empty = Noise::Measured(Arc::new(vec![Trace { watched: us(100), detours: vec![] }]));
        assert_eq!(Detours::new(&empty, 1, 0).end_of(0, us(3), us(4)), us(7));
        let crossed = Trace { watched: us(100), detours: vec![(us(20), us(60)), (us(70), us(10))] };
        assert!(Noise::Measured(Arc::new(vec![crossed])).check().is_err());
    }

    #[test]
    fn random_detours_take_their_share() {
        let noise =
            Noise::Random { length: "exp:20us".parse().unwrap(), interval: "exp:80us".parse().unwrap() };
        assert!((noise.share() - 0.2).abs() < 1e-12);
        let mut detours = Detours::new(&noise, 4, 7);
        for rank in 0..4 {
            let end = detours.end_of(rank, us(0), us(1_000_000));
            assert!((end.ns() / 1e9 - 1.25).abs() < 0.02, "{end}");
        }
    }
}

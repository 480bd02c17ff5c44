//! Noise: when a rank's processor does something else. A *detour* is such a span; work that meets one
//! takes that much longer.

use crate::random::{Distribution, Purpose, Span, sequence};
use crate::time::VirtualTime;
use evenkeel_random::Random;
use std::sync::Arc;

/// Where detours come from. Each rank has its own; those of two ranks have nothing to do with each
/// other, unless aligned.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Noise {
    #[default]
    None,
    /// A detour of the same length every period, as timer interrupts make them. Each rank has its own
    /// phase, unless they are aligned: then all ranks are away at the same moments.
    Periodic { length: VirtualTime, period: VirtualTime, aligned: bool },
    /// Detours of random length with random intervals between the end of one and the beginning of the next.
    Random { length: Span, interval: Span },
    /// What was measured on a machine, again and again, each rank beginning at a random place of a random
    /// core's trace.
    MeasuredParameters(Arc<Vec<Trace>>),
}

/// The detours of one core while it was watched: beginnings and lengths, in order of time and not
/// overlapping.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    pub watched: VirtualTime,
    pub detours: Vec<(VirtualTime, VirtualTime)>,
}

impl Noise {
    /// What share of the time is lost on average.
    pub fn share(&self) -> f64 {
        match self {
            Noise::None => 0.0,
            Noise::Periodic { length, period, .. } => length.ns() / period.ns(),
            Noise::Random { length, interval } => length.mean.ns() / (length.mean.ns() + interval.mean.ns()),
            Noise::MeasuredParameters(traces) => {
                let sum = |of: fn(&Trace) -> f64| traces.iter().map(of).sum::<f64>();
                sum(|t| t.detours.iter().map(|(_, length)| length.ns()).sum()) / sum(|t| t.watched.ns())
            }
        }
    }

    /// Why it cannot be simulated, if so: work would never end, or there is nothing to replay.
    pub fn trouble(&self) -> Option<String> {
        match self {
            Noise::Periodic { length, period, .. } if length >= period => {
                Some(format!("detours of {length} every {period} leave no time for work"))
            }
            Noise::Random { interval, .. } if interval.mean == VirtualTime::ZERO => {
                Some("detours without an interval between them leave no time for work".into())
            }
            Noise::MeasuredParameters(traces) if traces.is_empty() => {
                Some("the measurement has no traces".into())
            }
            Noise::MeasuredParameters(traces) => traces.iter().find_map(Trace::trouble),
            _ => None,
        }
    }
}

impl Trace {
    fn trouble(&self) -> Option<String> {
        let apart = self.detours.windows(2).all(|w| w[0].0 + w[0].1 <= w[1].0);
        let inside = self.detours.last().is_none_or(|(start, length)| *start + *length <= self.watched);
        let work = self.detours.iter().map(|(_, length)| length.ps()).sum::<u64>() < self.watched.ps();
        (!apart || !inside || !work)
            .then(|| "its detours overlap, are out of order, or leave no time for work".into())
    }
}

/// The detours of all ranks as time goes on. 24 bytes a rank.
pub struct Detours {
    noise: Noise,
    next: Vec<Next>,
}

/// The detour that is the next, or under way.
#[derive(Clone, Copy)]
struct Next {
    start: VirtualTime,
    length: VirtualTime,
    /// Random numbers still to come; of a measured trace, core (upper half) and index in it.
    state: u64,
}

impl Detours {
    pub fn new(noise: &Noise, ranks: u32, seed: u64) -> Detours {
        let next = match noise {
            Noise::None => Vec::new(),
            _ => (0..ranks).map(|rank| first(noise, sequence(seed, rank, Purpose::Noise))).collect(),
        };
        Detours { noise: noise.clone(), next }
    }

    /// When work that needs `work` of the rank's processor from `from` on is done. A rank whose processor
    /// is away at `from` begins late, even if it has nothing to do. `from` must not be before that of
    /// earlier calls for the same rank.
    pub fn end_of(&mut self, rank: u32, from: VirtualTime, work: VirtualTime) -> VirtualTime {
        if self.next.is_empty() {
            return from + work;
        }
        let next = &mut self.next[rank as usize];
        let mut end = from + work;
        // One that begins at the very moment counts even if there is nothing to do.
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

fn first(noise: &Noise, mut random: Random) -> Next {
    match noise {
        Noise::None => unreachable!("without noise there are no detours"),
        Noise::Periodic { length, period, aligned } => {
            let phase = if *aligned {
                VirtualTime::ZERO
            } else {
                VirtualTime::from_ps(random.less_than(period.ps()))
            };
            Next { start: phase, length: *length, state: 0 }
        }
        Noise::Random { length, interval } => {
            // The run begins somewhere within an interval. What is left of an exponential one is distributed
            // as a whole one.
            let whole = interval.draw(&mut random);
            let start = if interval.distribution == Distribution::Exponential {
                whole
            } else {
                whole.scaled(random.unit())
            };
            let length = length.draw(&mut random);
            Next { start, length, state: random.bits() }
        }
        Noise::MeasuredParameters(traces) => {
            let core = random.less_than(traces.len() as u64);
            let Trace { watched, detours } = &traces[core as usize];
            let offset = VirtualTime::from_ps(random.less_than(watched.ps()));
            let index = detours.partition_point(|(start, _)| *start < offset);
            match detours
                .get(index)
                .map(|d| (index, *d, VirtualTime::ZERO))
                .or_else(|| Some((0, *detours.first()?, *watched)))
            {
                None => Next { start: VirtualTime::NEVER, length: VirtualTime::ZERO, state: 0 },
                Some((index, (start, length), again)) => {
                    Next { start: start + again - offset, length, state: core << 32 | index as u64 }
                }
            }
        }
    }
}

impl Next {
    /// The one after this. `from`: what is over by then may be skipped.
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
            Noise::MeasuredParameters(traces) => {
                let trace = &traces[(self.state >> 32) as usize];
                let at = self.state as u32 as usize;
                let before = trace.detours[at].0;
                let (index, again) = if at + 1 < trace.detours.len() {
                    (at + 1, VirtualTime::ZERO)
                } else {
                    (0, trace.watched)
                };
                let (start, length) = trace.detours[index];
                self.start += start + again - before;
                self.length = length;
                self.state = self.state >> 32 << 32 | index as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(n: u64) -> VirtualTime {
        VirtualTime::from_ps(n * 1_000_000)
    }

    fn aligned(length: u64, period: u64) -> Detours {
        Detours::new(&Noise::Periodic { length: us(length), period: us(period), aligned: true }, 1, 0)
    }

    #[test]
    fn work_takes_longer_by_the_detours_that_it_meets() {
        // Detours at 0-10, 100-110, 200-210, …
        assert_eq!(aligned(10, 100).end_of(0, us(0), us(0)), us(10));
        assert_eq!(aligned(10, 100).end_of(0, us(0), us(50)), us(60));
        assert_eq!(aligned(10, 100).end_of(0, us(5), us(50)), us(60));
        assert_eq!(aligned(10, 100).end_of(0, us(10), us(90)), us(100));
        assert_eq!(aligned(10, 100).end_of(0, us(10), us(91)), us(111));
        assert_eq!(aligned(10, 100).end_of(0, us(50), us(300)), us(380));
        // Long ago there were many.
        let mut one = aligned(10, 100);
        assert_eq!(one.end_of(0, us(50), us(10)), us(60));
        assert_eq!(one.end_of(0, us(1_000_005), us(1)), us(1_000_011));
        assert_eq!(one.end_of(0, us(1_000_100), us(0)), us(1_000_110));
    }

    #[test]
    fn a_measured_trace_is_repeated_from_any_place() {
        let trace = Trace { watched: us(100), detours: vec![(us(20), us(5)), (us(70), us(10))] };
        let noise = Noise::MeasuredParameters(Arc::new(vec![trace]));
        assert_eq!((noise.trouble(), noise.share()), (None, 0.15));
        let mut detours = Detours::new(&noise, 50, 3);
        for rank in 0..50 {
            // 85 µs of work fill the whole trace once, wherever it began; a detour cut by either end is met
            // in part.
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
        let empty = Noise::MeasuredParameters(Arc::new(vec![Trace { watched: us(100), detours: vec![] }]));
        assert_eq!(Detours::new(&empty, 1, 0).end_of(0, us(3), us(4)), us(7));
        let crossed = Trace { watched: us(100), detours: vec![(us(20), us(60)), (us(70), us(10))] };
        assert!(Noise::MeasuredParameters(Arc::new(vec![crossed])).trouble().is_some());
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

    #[test]
    fn noise_that_never_ends_is_refused() {
        assert!(Noise::Periodic { length: us(5), period: us(5), aligned: false }.trouble().is_some());
        assert!(Noise::Random { length: Span::fixed(us(1)), interval: Span::NONE }.trouble().is_some());
        assert!(Noise::MeasuredParameters(Arc::default()).trouble().is_some());
    }
}

//! From ticks to nanoseconds.

use super::format::{Moment, Start, Ticks};
use std::collections::BTreeMap;

/// By rank: what is to be added to its clock, ns, and how many hosts there are. Ranks of one host share their
/// clock; those of several hosts are compared by their clocks of the day.
pub fn offsets<'a>(starts: impl Iterator<Item = &'a Start> + Clone) -> (Vec<i64>, usize) {
    let mut hosts = BTreeMap::new();
    for start in starts.clone() {
        let offset = start.realtime_ns.wrapping_sub(start.opened.ns) as i64;
        hosts.entry(start.host).or_insert(offset);
    }
    let one_host = hosts.len() == 1;
    let offset = |start: &Start| if one_host { 0 } else { hosts[&start.host] };
    (starts.map(offset).collect(), hosts.len())
}

/// What the ticks of a file mean.
#[derive(Clone, Debug)]
pub struct Clock {
    /// In order, at least one; none if ticks are nanoseconds.
    moments: Vec<Moment>,
}

impl Clock {
    /// `later`: what the clocks showed while the run went on.
    pub fn new(start: &Start, later: &[Moment]) -> Clock {
        if start.ticks == Ticks::Nanoseconds {
            return Clock { moments: Vec::new() };
        }
        let mut moments = Vec::new();
        for &moment in [start.before_init, start.opened].iter().chain(later) {
            let is_later = |last: &Moment| moment.ticks > last.ticks && moment.ns > last.ns;
            if moments.last().is_none_or(is_later) {
                moments.push(moment);
            }
        }
        Clock { moments }
    }

    /// `CLOCK_MONOTONIC` at a tick: between two moments on the line between them, before and after on that of
    /// the nearest two.
    pub fn ns(&self, ticks: u64) -> u64 {
        let (from, to) = match self.moments.as_slice() {
            [] => return ticks,
            [only] => return only.ns.saturating_add_signed(ticks.wrapping_sub(only.ticks) as i64),
            moments => {
                let after = moments.partition_point(|moment| moment.ticks <= ticks);
                let to = after.clamp(1, moments.len() - 1);
                (moments[to - 1], moments[to])
            }
        };
        let (run, rise) = (i128::from(to.ticks - from.ticks), i128::from(to.ns - from.ns));
        let since = i128::from(ticks) - i128::from(from.ticks);
        (i128::from(from.ns) + since * rise / run).clamp(0, u64::MAX.into()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(ticks: Ticks) -> Start {
        let moment = |ticks, ns| Moment { ticks, ns };
        Start { ticks, before_init: moment(1000, 500), opened: moment(3000, 1500), ..Start::default() }
    }

    #[test]
    fn ticks_lie_on_the_line_between_the_nearest_moments() {
        let clock = Clock::new(&start(Ticks::Counter), &[Moment { ticks: 4000, ns: 2500 }]);
        let found = [0, 1000, 2000, 3000, 3500, 4000, 5000].map(|ticks| clock.ns(ticks));
        assert_eq!(found, [0, 500, 1000, 1500, 2000, 2500, 3500]);
    }

    #[test]
    fn moments_that_go_back_are_left_out_and_nothing_overflows() {
        let clock = Clock::new(&start(Ticks::Counter), &[Moment { ticks: 2000, ns: u64::MAX }]);
        assert_eq!(clock.ns(5000), 2500);
        assert_eq!(clock.ns(u64::MAX), u64::MAX / 2);
        assert_eq!(Clock::new(&start(Ticks::Nanoseconds), &[]).ns(77), 77);
    }
}

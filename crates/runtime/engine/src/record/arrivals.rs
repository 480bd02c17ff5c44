//! How long a rank worked between two arrivals, apart from what it waited.

use crate::clock::Ticks;
use evenkeel_segment::Seq;

/// A rank's arrival at its latest sampled instance.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// The instance after it.
    next: u64,
    at: Ticks,
    /// How long the process had waited in all by then.
    waited: Ticks,
}

impl Arrivals {
    /// Notes an arrival at time `now`, when the process has waited for `waited` in all. Returns how long it
    /// worked since it arrived at the previous instance, if that one was sampled too.
    pub fn work_before(&mut self, seq: Seq, now: Ticks, waited: Ticks) -> Option<Ticks> {
        let earlier = std::mem::replace(self, Arrivals { next: seq.0 + 1, at: now, waited });
        let ticks = |now: Ticks, then: Ticks| now.0.saturating_sub(then.0);
        match (seq.0, earlier.next) {
            (0, _) => Some(Ticks(u64::MAX)), // the call that made the communicator came before
            (seq, next) if seq == next => {
                Some(Ticks(ticks(now, earlier.at).saturating_sub(ticks(waited, earlier.waited))))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_the_time_between_arrivals_without_the_waits() {
        let mut arrivals = Arrivals::default();
        let mut before = |seq, now, waited| arrivals.work_before(Seq(seq), Ticks(now), Ticks(waited));
        assert_eq!(before(0, 100, 10), Some(Ticks(u64::MAX)));
        assert_eq!(before(1, 180, 40), Some(Ticks(50)));
        assert_eq!(before(70, 900, 40), None, "the instance before was not sampled");
        assert_eq!(before(71, 950, 40), Some(Ticks(50)));
    }
}

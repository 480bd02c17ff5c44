//! Whether the node process is silent for too long: it is stopped, or hangs. Pure: the caller says what time
//! it is.

use std::time::{Duration, Instant};

/// How often within the patience the node speaks, and it is looked at.
const SIGNS_OF_LIFE: u32 = 10;

/// The silence of a node process.
#[derive(Debug)]
pub(super) struct Silence {
    patience: Duration,
    since: Instant,
    looked: Instant,
}

impl Silence {
    pub(super) fn new(patience: Duration, now: Instant) -> Silence {
        Silence { patience, since: now, looked: now }
    }

    fn interval(&self) -> Duration {
        self.patience / SIGNS_OF_LIFE
    }

    /// The node has been heard of.
    pub(super) fn is_broken(&mut self, now: Instant) {
        self.since = now;
    }

    /// When [`Silence::is_too_long`] is to be called next, at the latest.
    pub(super) fn next_look(&self) -> Instant {
        self.looked + self.interval()
    }

    /// Whether the node has been silent for longer than the patience. Time in which this process did not look
    /// does not count: it was stopped itself, or had no core.
    pub(super) fn is_too_long(&mut self, now: Instant) -> bool {
        let gap = now.saturating_duration_since(self.looked);
        if gap > 2 * self.interval() {
            self.since += gap;
        }
        self.looked = now;
        now.saturating_duration_since(self.since) > self.patience + self.interval()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_millis(2000);
    const INTERVAL: Duration = Duration::from_millis(200);

    #[test]
    fn a_node_that_is_silent_for_less_is_not_lost() {
        let start = Instant::now();
        let mut silence = Silence::new(PATIENCE, start);
        assert!((1..=11).all(|n| !silence.is_too_long(start + n * INTERVAL)));
        silence.is_broken(start + 11 * INTERVAL);
        assert!((12..=22).all(|n| !silence.is_too_long(start + n * INTERVAL)));
        assert!(silence.is_too_long(start + 23 * INTERVAL));
    }

    #[test]
    fn the_time_in_which_this_process_was_stopped_does_not_count() {
        let start = Instant::now();
        let mut silence = Silence::new(PATIENCE, start);
        assert!(!silence.is_too_long(start + 5 * PATIENCE));
        let looks =
            |silence: &mut Silence| (1..30).any(|n| silence.is_too_long(start + 5 * PATIENCE + n * INTERVAL));
        assert!(looks(&mut silence), "and then it counts");
    }
}

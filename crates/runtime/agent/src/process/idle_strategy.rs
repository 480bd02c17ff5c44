//! What the agent does while nothing happens: it polls on and yields its core between polls, or it sleeps.
//!
//! Polling briefly saves a wake-up, and yielding lets the ranks run that will cause the next event. But a
//! rank that computes, or spins, does not give the core back: a runnable agent waits for the end of that
//! rank's time slice, some milliseconds, whereas a sleeping agent is scheduled as soon as it is woken. So
//! where yields often come back late, the agent seldom yields and mostly sleeps. One late yield among
//! many prompt ones is noise of the machine, which sleeping would not avoid.

use std::time::{Duration, Instant};

/// How long to poll after an event where events follow each other closely.
const LONG_POLL: Duration = Duration::from_micros(200);
/// How long to poll after an event where they do not: the events of one message exchange come within that.
const BRIEF_POLL: Duration = Duration::from_micros(20);
/// The mean gap is taken over about so many gaps.
const GAPS: u32 = 8;

/// A yield that takes longer has given the core to a rank that waits for nothing. A round in which several
/// waiting ranks poll and yield in turn is shorter.
const LATE: Duration = Duration::from_micros(1500);
/// A late yield counts if fewer yields than this have come back promptly since the last late one.
const PROMPT_YIELDS: u32 = 50;
/// After a late yield that counts, the agent does not yield for so many times its length.
const REST: u32 = 8;

/// What the agent has seen so far.
#[derive(Debug, Default)]
pub struct IdleStrategy {
    /// No yields before.
    not_before: Option<Instant>,
    /// Yields that have come back promptly since the last late one.
    prompt: u32,
    /// The recent mean of the time between two events. A gap counts as twice [`LONG_POLL`] at most.
    mean_gap: Duration,
}

impl IdleStrategy {
    /// An event has happened, so long after the one before it.
    pub fn record_gap(&mut self, gap: Duration) {
        self.mean_gap = (self.mean_gap * (GAPS - 1) + gap.min(2 * LONG_POLL)) / GAPS;
    }

    /// Whether to poll on, after no event for so long.
    pub fn should_poll(&self, idle_for: Duration) -> bool {
        idle_for < if self.mean_gap < LONG_POLL { LONG_POLL } else { BRIEF_POLL }
    }

    /// Whether the agent may yield its core now.
    pub fn may_yield(&mut self, now: Instant) -> bool {
        if self.not_before.is_some_and(|then| now < then) {
            return false;
        }
        self.not_before = None;
        true
    }

    /// A yield has lasted from `began` to `ended`.
    pub fn record_yield(&mut self, began: Instant, ended: Instant) {
        let took = ended.duration_since(began);
        if took < LATE {
            self.prompt = self.prompt.saturating_add(1);
            return;
        }
        if self.prompt < PROMPT_YIELDS {
            self.not_before = Some(ended + took * REST);
        }
        self.prompt = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Yields for as long as `length`, and sleeps 50 µs wherever yielding is not allowed. How many yields
    /// there were; `took` says how long each one takes.
    fn yields(length: Duration, took: impl Fn(u32) -> Duration) -> u32 {
        let (mut idle, mut now, mut count) = (IdleStrategy::default(), Instant::now(), 0);
        let end = now + length;
        while now < end {
            if idle.may_yield(now) {
                let each = took(count);
                idle.record_yield(now, now + each);
                count += 1;
                now += each;
            } else {
                now += Duration::from_micros(50);
            }
        }
        count
    }

    const TIME_SLICE: Duration = Duration::from_millis(4);
    const PROMPT: Duration = Duration::from_micros(5);

    #[test]
    fn the_agent_seldom_yields_to_ranks_that_keep_the_core() {
        // 4 ms in 36 ms; without rests there are 2500.
        assert!(yields(Duration::from_secs(10), |_| TIME_SLICE) <= 278);
        // Some come back promptly in between, while ranks wait: 278 times twenty.
        let mixed = |n| if n % 20 == 0 { TIME_SLICE } else { PROMPT };
        assert!(yields(Duration::from_secs(10), mixed) <= 20 * 278);
    }

    #[test]
    fn the_agent_polls_briefly_where_events_are_rare() {
        let mut idle = IdleStrategy::default();
        let micros = Duration::from_micros;
        assert!(idle.should_poll(micros(100)));
        (0..20).for_each(|_| idle.record_gap(micros(1000)));
        assert!(idle.should_poll(micros(10)) && !idle.should_poll(micros(30)));
        // A burst makes polling worthwhile again, and a pause between two bursts does not change that.
        (0..20).for_each(|_| idle.record_gap(micros(30)));
        idle.record_gap(Duration::from_secs(3600));
        assert!(idle.should_poll(micros(100)) && !idle.should_poll(micros(300)));
    }

    #[test]
    fn the_agent_always_yields_to_ranks_that_give_the_core_back() {
        assert_eq!(yields(Duration::from_millis(5), |_| PROMPT), 1000);
        // A thousand prompt yields and a late one take 9 ms together. The agent rests after the first
        // late one only, before which there were no prompt ones.
        let count = yields(Duration::from_secs(9), |n| if n % 1001 == 0 { TIME_SLICE } else { PROMPT });
        assert!(count > 980 * 1001, "{count}");
    }
}

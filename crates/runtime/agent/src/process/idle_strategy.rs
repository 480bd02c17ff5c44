//! Whether the agent offers its core between looks, or sleeps at once.
//!
//! Looking on for a while saves those who come next a wake-up, and offering the core between looks lets
//! them run. But a rank that computes, or spins, does not give the core back: the agent, which is not
//! asleep, is woken by nobody and runs again only when the kernel takes the core from that rank, some
//! milliseconds later. A sleeper is let in at once when it is woken. So where many offers are long
//! away, none is made most of the time. One among many that came back soon is the noise of the machine,
//! which sleeping would not avoid.

use std::time::{Duration, Instant};

/// How long it looks on after something has happened, where things happen one soon after the other;
/// elsewhere they are not worth being awake for.
const LINGER: Duration = Duration::from_micros(200);
/// How long it looks on at least: what belongs together comes within that.
const BRIEF: Duration = Duration::from_micros(20);
/// Of how many gaps the mean is taken, about.
const GAPS: u32 = 8;

/// An offer that took longer was taken by somebody who does not wait for anything. A round of waiting
/// ranks, which all look and offer in turn, is shorter.
const LONG: Duration = Duration::from_micros(1500);
/// A long offer counts if fewer have come back soon since the last long one.
const SOON: u32 = 50;
/// After one that counts no offer is made for so many times its length.
const REST: u32 = 8;

/// What has come of the offers so far.
#[derive(Debug, Default)]
pub struct Linger {
    /// No offers before.
    not_before: Option<Instant>,
    /// Offers that came back soon since the last long one.
    soon: u32,
    /// How long it takes, in the mean of late, until something happens again; a gap counts as twice
    /// [`LINGER`] at most.
    gap: Duration,
}

impl Linger {
    /// Something has happened, so long after what had happened before.
    pub fn happened(&mut self, after: Duration) {
        self.gap = (self.gap * (GAPS - 1) + after.min(2 * LINGER)) / GAPS;
    }

    /// Whether to look on, when so long nothing has happened.
    pub fn is_worthwhile(&self, since: Duration) -> bool {
        since < if self.gap < LINGER { LINGER } else { BRIEF }
    }

    /// Whether the core may be offered now.
    pub fn may_offer(&mut self, now: Instant) -> bool {
        if self.not_before.is_some_and(|then| now < then) {
            return false;
        }
        self.not_before = None;
        true
    }

    /// An offer that was made at `began` came back at `ended`.
    pub fn offered(&mut self, began: Instant, ended: Instant) {
        let took = ended.duration_since(began);
        if took < LONG {
            self.soon = self.soon.saturating_add(1);
            return;
        }
        if self.soon < SOON {
            self.not_before = Some(ended + took * REST);
        }
        self.soon = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers for as long as `length`, and a sleep of 50 µs wherever none may be made: how many were made.
    /// `took` says how long the n-th takes.
    fn offers(length: Duration, took: impl Fn(u32) -> Duration) -> u32 {
        let (mut linger, mut now, mut made) = (Linger::default(), Instant::now(), 0);
        let end = now + length;
        while now < end {
            if linger.may_offer(now) {
                let each = took(made);
                linger.offered(now, now + each);
                made += 1;
                now += each;
            } else {
                now += Duration::from_micros(50);
            }
        }
        made
    }

    const SLICE: Duration = Duration::from_millis(4);
    const PROMPT: Duration = Duration::from_micros(5);

    #[test]
    fn who_does_not_give_the_core_back_is_offered_it_seldom() {
        // 4 ms in 36 ms; without rests there are 2500.
        assert!(offers(Duration::from_secs(10), |_| SLICE) <= 278);
        // Some come back soon in between, while ranks wait: 278 times twenty.
        assert!(offers(Duration::from_secs(10), |n| if n % 20 == 0 { SLICE } else { PROMPT }) <= 20 * 278);
    }

    #[test]
    fn nobody_looks_on_where_things_happen_seldom() {
        let mut linger = Linger::default();
        let micros = Duration::from_micros;
        assert!(linger.is_worthwhile(micros(100)));
        (0..20).for_each(|_| linger.happened(micros(1000)));
        assert!(linger.is_worthwhile(micros(10)) && !linger.is_worthwhile(micros(30)));
        // A burst: it is worthwhile again, and a pause between two does not change that.
        (0..20).for_each(|_| linger.happened(micros(30)));
        linger.happened(Duration::from_secs(3600));
        assert!(linger.is_worthwhile(micros(100)) && !linger.is_worthwhile(micros(300)));
    }

    #[test]
    fn who_gives_it_back_is_offered_it_always() {
        assert_eq!(offers(Duration::from_millis(5), |_| PROMPT), 1000);
        // A thousand brief ones and a long one take 9 ms together: nobody rests, but for the first long one,
        // which nothing came before.
        let made = offers(Duration::from_secs(9), |n| if n % 1001 == 0 { SLICE } else { PROMPT });
        assert!(made > 980 * 1001, "{made}");
    }
}

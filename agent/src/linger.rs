//! Whether the agent offers its core between looks, or sleeps at once.
//!
//! Looking on for a while saves those who come next a wake-up, and offering the core between looks lets them run. But a rank that computes, or spins, does not give the core back: the
//! agent, which is not asleep, is woken by nobody and runs again only when the kernel takes the core from that rank, some milliseconds later. A sleeper is let in at once when it is woken. So
//! after an offer that was long away no other is made for a while: ever longer as long as offers go on like that, ever shorter when they do not.

use std::time::{Duration, Instant};

/// An offer that took longer was taken by somebody who does not wait for anything. A round of waiting ranks, which all look and offer in turn, is shorter.
const LONG: Duration = Duration::from_micros(300);
/// How long no offer is made after a long one, at least and at most: what long ones cost, a few milliseconds each, is a small part of it.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_millis(1600);
/// So many offers in a row that came back soon halve what the next long one costs.
const FORGIVEN: u32 = 1000;

/// What has come of the offers so far.
#[derive(Debug, Default)]
pub struct Linger {
    /// No offers before.
    not_before: Option<Instant>,
    /// How long none were made the last time.
    pause: Duration,
    short: u32,
}

impl Linger {
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
        if ended.duration_since(began) >= LONG {
            self.pause = (self.pause * 2).clamp(SHORTEST, LONGEST);
            self.not_before = Some(ended + self.pause);
            self.short = 0;
            return;
        }
        self.short += 1;
        if self.short >= FORGIVEN {
            self.short = 0;
            self.pause /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offers for as long as `length`, each of which takes so long, and a sleep of 50 µs wherever none may be made: how many were made.
    fn offers(linger: &mut Linger, now: &mut Instant, length: Duration, each: Duration) -> u32 {
        let (end, mut made) = (*now + length, 0);
        while *now < end {
            if linger.may_offer(*now) {
                made += 1;
                linger.offered(*now, *now + each);
                *now += each;
            } else {
                *now += Duration::from_micros(50);
            }
        }
        made
    }

    #[test]
    fn who_does_not_give_the_core_back_is_offered_it_seldom() {
        let (mut linger, mut now) = (Linger::default(), Instant::now());
        let slice = Duration::from_millis(4);
        // 50, 100, … 1600 ms, and then 1600 ms each.
        assert!(offers(&mut linger, &mut now, Duration::from_secs(10), slice) <= 11, "without pauses there are 2500");
        assert!(offers(&mut linger, &mut now, Duration::from_secs(16), slice) <= 10);
    }

    #[test]
    fn who_gives_it_back_is_offered_it_always() {
        let (mut linger, mut now) = (Linger::default(), Instant::now());
        let soon = Duration::from_micros(5);
        assert_eq!(offers(&mut linger, &mut now, Duration::from_millis(5), soon), 1000);
        // One long one among many: none for a while, and soon all as before.
        linger.offered(now, now + LONG);
        now += LONG;
        assert_eq!(offers(&mut linger, &mut now, SHORTEST, soon), 0);
        offers(&mut linger, &mut now, Duration::from_secs(1), soon);
        linger.offered(now, now + LONG);
        now += LONG;
        assert_eq!(offers(&mut linger, &mut now, SHORTEST, soon), 0, "it has been forgiven");
        assert!(offers(&mut linger, &mut now, Duration::from_millis(1), soon) > 100);
    }
}

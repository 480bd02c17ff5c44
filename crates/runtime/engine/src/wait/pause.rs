//! One wait: what happens between two polls.

use super::crowding::Crowding;
use super::settings::{WaitPolicy, WaitSettings, WaitStep};
use crate::clock::Ticks;
use std::cell::LazyCell;

/// One wait, from the first poll that found nothing.
pub struct Pause {
    /// When it began.
    pub began: Ticks,
    /// How many polls there have been.
    pub polls: u32,
    /// Whether an awaited rank runs, once that has been checked. It may have stopped or started since. That
    /// only affects how this rank waits, because a rank that sleeps is woken in any case.
    peers_run: Option<bool>,
}

impl Pause {
    /// A wait that begins now.
    pub fn begin(settings: &WaitSettings) -> Pause {
        Pause::resume(settings.clock.now(), 0)
    }

    /// A wait that began at `began` and has polled `polls` times.
    pub fn resume(began: Ticks, polls: u32) -> Pause {
        Pause { began, polls, peers_run: None }
    }

    /// Spins or yields as the policy says. Returns true if the caller should block instead.
    #[inline]
    pub fn once(
        &mut self,
        settings: &WaitSettings,
        crowding: &Crowding,
        expected_ns: u64,
        peers_run: impl Fn() -> bool,
    ) -> bool {
        let (began, known) = (self.began, &mut self.peers_run);
        let now = LazyCell::new(|| settings.clock.now());
        let step = settings.step(
            self.polls,
            || settings.clock.ns_between(began, *now),
            expected_ns,
            || *known.get_or_insert_with(&peers_run),
        );
        self.polls = self.polls.saturating_add(1);
        match step {
            WaitStep::Spin => std::hint::spin_loop(),
            WaitStep::Yield => {
                if settings.policy == WaitPolicy::Auto && crowding.is_crowded_at(*now, settings.clock) {
                    return true;
                }
                crowding.yield_core_at(*now, settings.clock);
            }
            WaitStep::Block => return true,
        }
        false
    }
}

//! One wait: what happens between two looks.

use super::settings::{WaitSettings, WaitStep};
use crate::clock::Ticks;

/// One wait, from the first look that failed.
pub struct Pause {
    /// When it began.
    pub began: Ticks,
    /// Looks so far.
    pub looks: u32,
    /// Whether an awaited rank runs, once that has been asked. It may have stopped or started since; that
    /// only changes how to wait, since a rank that sleeps is woken in any case.
    peers_run: Option<bool>,
}

impl Pause {
    /// A wait that begins now.
    pub fn begin(settings: &WaitSettings) -> Pause {
        Pause::resume(settings.clock.now(), 0)
    }

    /// A wait of which `looks` have been made since `began`.
    pub fn resume(began: Ticks, looks: u32) -> Pause {
        Pause { began, looks, peers_run: None }
    }

    /// Spins or yields as the policy says; true if the caller should block instead.
    #[inline]
    pub fn once(&mut self, settings: &WaitSettings, expected_ns: u64, peers_run: impl Fn() -> bool) -> bool {
        let began = self.began;
        let known = &mut self.peers_run;
        let step = settings.step(
            self.looks,
            || settings.clock.ns_since(began),
            expected_ns,
            || *known.get_or_insert_with(&peers_run),
        );
        self.looks = self.looks.saturating_add(1);
        match step {
            WaitStep::Spin => std::hint::spin_loop(),
            WaitStep::Yield => yield_now(),
            WaitStep::Block => return true,
        }
        false
    }
}

/// Offers the core to other processes.
pub fn yield_now() {
    // SAFETY: no arguments.
    unsafe { libc::sched_yield() };
}

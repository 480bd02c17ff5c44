//! What a long wait does besides waiting: it lets the host library make progress, and checks which ranks
//! are alive.
//!
//! A call of the host library that finds nothing is a *look*. While looks find something, the next one comes
//! after a microsecond and the rank does not sleep: an access of another rank to a window takes several
//! messages there and back, and each would wait for a look. While they find nothing the steps double, up to a
//! fraction of the wait.

/// What this rank knows of the host library's need for calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LibraryActivity {
    /// Nothing is known to be under way.
    #[default]
    Idle,
    /// Operations are under way, or the program has used it not long ago.
    Recent,
    /// There are one-sided windows: other ranks may access this rank's memory at any time.
    Windows,
}

/// When the chores of one wait are due. Pure: the caller passes the time.
pub struct Chores {
    next_progress_ns: u64,
    progress_step_ns: u64,
    longest_step_ns: u64,
    /// The rank stays awake while steps are no longer than this.
    attention_ns: u64,
    nap_ns: u64,
    /// The rank has slept since the last look, which is then slow by itself.
    is_cold: bool,
    is_active: bool,
    next_check_ns: u64,
    patience_ns: u64,
}

/// The chores that are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The host library must be called, so that its own messages make progress. [`Chores::looked`] has to
    /// be told what that found.
    pub library_progress: bool,
    /// It is time to check whether the awaited ranks are alive.
    pub liveness: bool,
}

const SHORTEST_STEP_NS: u64 = 1_000;
const FIRST_STEP_IF_RECENT_NS: u64 = 4_000;
const FIRST_STEP_IF_IDLE_NS: u64 = 100_000;
const LONGEST_STEP_NS: u64 = 8_000_000;
const LONGEST_STEP_WITH_WINDOWS_NS: u64 = 200_000;
/// Sleeps shorter than this are not worth it: the kernel adds about 50 us to each.
const ATTENTION_NS: u64 = 32_000;
const ATTENTION_AFTER_A_NAP_NS: u64 = 8_000;
const SHORTEST_NAP_NS: u64 = 64_000;
const SHORTEST_NAP_IF_IDLE_NS: u64 = 4_000_000;
const NAP_WITH_REQUESTS_NS: u64 = 500_000;

impl Chores {
    /// The chores of a wait that checks for deaths every `patience_ns`.
    pub fn new(patience_ns: u64, activity: LibraryActivity) -> Chores {
        let is_active = activity != LibraryActivity::Idle;
        let has_windows = activity == LibraryActivity::Windows;
        let first = match activity {
            LibraryActivity::Idle => FIRST_STEP_IF_IDLE_NS,
            LibraryActivity::Recent => FIRST_STEP_IF_RECENT_NS,
            LibraryActivity::Windows => SHORTEST_STEP_NS,
        };
        Chores {
            next_progress_ns: first,
            progress_step_ns: first,
            longest_step_ns: if has_windows { LONGEST_STEP_WITH_WINDOWS_NS } else { LONGEST_STEP_NS },
            attention_ns: if has_windows { ATTENTION_NS } else { 0 },
            nap_ns: if is_active { SHORTEST_NAP_NS } else { SHORTEST_NAP_IF_IDLE_NS },
            is_cold: false,
            is_active,
            next_check_ns: patience_ns,
            patience_ns,
        }
    }

    /// Returns the chores that are due after `waited_ns`.
    #[inline]
    pub fn due(&mut self, waited_ns: u64) -> Due {
        let due = Due {
            library_progress: waited_ns >= self.next_progress_ns,
            liveness: waited_ns >= self.next_check_ns,
        };
        if due.liveness {
            self.next_check_ns = waited_ns + self.patience_ns;
        }
        due
    }

    /// Must be called after the host library has been called. `found`: that took longer than a call that
    /// finds nothing.
    pub fn looked(&mut self, waited_ns: u64, found: bool) {
        if found {
            // After a sleep each call takes longer, so the next ones tell whether there is anything.
            self.progress_step_ns = SHORTEST_STEP_NS;
            self.attention_ns = if self.is_cold { ATTENTION_AFTER_A_NAP_NS } else { ATTENTION_NS };
            if !self.is_cold {
                (self.nap_ns, self.is_active) = (SHORTEST_NAP_NS, true);
            }
        } else {
            self.progress_step_ns = (self.progress_step_ns * 2).min(self.limit_ns(waited_ns));
        }
        self.is_cold = false;
        self.next_progress_ns = waited_ns + self.progress_step_ns;
    }

    /// Returns whether the rank must not sleep now, because the host library has something to do.
    pub fn is_attentive(&self) -> bool {
        self.progress_step_ns <= self.attention_ns
    }

    /// The longest step after a wait of so long. A message of the host library is delayed by at most this
    /// fraction of the wait that delays it.
    fn limit_ns(&self, waited_ns: u64) -> u64 {
        (waited_ns / 16).max(FIRST_STEP_IF_IDLE_NS).min(self.longest_step_ns)
    }

    /// The longest sleep after a wait of so long. A wake-up costs the processor as much as a call, so sleeps
    /// grow with the wait. A nonblocking operation is announced at the eventcount of another block, so with
    /// such operations in progress sleeps are short. After it, an active host library is called.
    pub fn nap_ns(&mut self, waited_ns: u64, has_requests: bool) -> u64 {
        let nap = self.nap_ns;
        let longest = if self.is_active { self.limit_ns(waited_ns) } else { self.longest_step_ns };
        self.nap_ns = (nap * 2).min(longest);
        self.is_cold = true;
        if self.is_active {
            self.next_progress_ns = 0;
        }
        if has_requests { nap.min(NAP_WITH_REQUESTS_NS) } else { nap }
    }
}

#[cfg(test)]
mod tests {
    use super::LibraryActivity::{Idle, Recent, Windows};
    use super::*;

    /// How many looks there are in a wait of so long, of which none finds anything and in which the rank
    /// does not sleep.
    fn looks(activity: LibraryActivity, wait_ns: u64) -> u32 {
        let mut chores = Chores::new(u64::MAX, activity);
        let mut looks = 0;
        for waited_ns in (0..wait_ns).step_by(500) {
            if chores.due(waited_ns).library_progress {
                chores.looked(waited_ns, false);
                looks += 1;
            }
        }
        looks
    }

    #[test]
    fn library_progress_becomes_rarer_and_liveness_is_regular() {
        // Every 0.1 ms up to 1.6 ms, then after each sixteenth of the wait, and at last every 8 ms.
        assert!((190..=205).contains(&looks(Idle, 1_000_000_000)));
        let mut chores = Chores::new(200_000_000, Idle);
        let liveness = (0..1_000_000_000).step_by(10_000).filter(|&ns| chores.due(ns).liveness).count();
        assert_eq!(liveness, 4);
    }

    #[test]
    fn looks_come_sooner_if_the_library_may_have_something_to_do() {
        assert_eq!((looks(Idle, 50_000), looks(Recent, 50_000), looks(Windows, 50_000)), (0, 3, 5));
        let rare = looks(Windows, 1_000_000_000);
        assert!((4_900..5_100).contains(&rare), "{rare}: every 200 us");
    }

    #[test]
    fn a_rank_stays_awake_while_looks_find_something() {
        let mut chores = Chores::new(u64::MAX, Idle);
        assert!(!chores.is_attentive());
        chores.looked(100_000, true);
        assert!(chores.is_attentive());
        assert!(!chores.due(100_900).library_progress && chores.due(101_000).library_progress);
        let empty = (0..).take_while(|_| {
            chores.looked(0, false);
            chores.is_attentive()
        });
        assert_eq!(empty.count(), 5, "2, 4, 8, 16, 32 us");
    }

    #[test]
    fn a_slow_look_after_a_sleep_does_not_keep_the_rank_awake_for_long() {
        let mut chores = Chores::new(u64::MAX, Windows);
        let mut naps = Vec::new();
        for _ in 0..4 {
            naps.push(chores.nap_ns(10_000_000, false));
            assert!(chores.due(1).library_progress, "after each sleep");
            chores.looked(1, true);
            while chores.is_attentive() {
                chores.looked(1, false);
            }
            assert_eq!(chores.progress_step_ns, 2 * ATTENTION_AFTER_A_NAP_NS);
        }
        assert_eq!(naps, [64_000, 128_000, 200_000, 200_000]);
    }

    #[test]
    fn naps_grow_with_the_wait_unless_there_are_requests() {
        let mut chores = Chores::new(u64::MAX, Idle);
        assert_eq!(chores.nap_ns(0, true), NAP_WITH_REQUESTS_NS);
        assert_eq!((chores.nap_ns(0, false), chores.nap_ns(0, false)), (LONGEST_STEP_NS, LONGEST_STEP_NS));
        assert_eq!(Chores::new(u64::MAX, Idle).nap_ns(0, false), SHORTEST_NAP_IF_IDLE_NS);
    }

    /// A message of the host library comes while its receiver sleeps in a barrier.
    #[test]
    fn a_message_of_the_library_waits_for_a_sixteenth_of_the_wait_at_most() {
        let mut chores = Chores::new(u64::MAX, Recent);
        let (mut waited_ns, mut naps) = (50_000, 0);
        while waited_ns < 1_000_000_000 {
            let nap = chores.nap_ns(waited_ns, false);
            assert!(nap <= (waited_ns / 16).clamp(128_000, LONGEST_STEP_NS), "{nap} after {waited_ns}");
            waited_ns += nap;
            assert!(chores.due(waited_ns).library_progress);
            chores.looked(waited_ns, false);
            naps += 1;
        }
        assert!(naps < 250, "{naps}: a wake-up takes about 20 us");
    }
}

//! What a long wait does besides waiting: it lets the host library make progress, and checks which ranks
//! are alive.

/// When the chores of one wait are due. Pure: the caller passes the time.
pub struct Chores {
    next_progress_ns: u64,
    progress_step_ns: u64,
    next_check_ns: u64,
    patience_ns: u64,
}

/// The chores that are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The host library must be called, so that its own messages make progress.
    pub library_progress: bool,
    /// It is time to check whether the awaited ranks are alive.
    pub liveness: bool,
}

const FIRST_PROGRESS_NS: u64 = 100_000;
const LONGEST_PROGRESS_STEP_NS: u64 = 8_000_000;
const SHORTEST_NAP_NS: u64 = 4_000_000;
const NAP_WITH_REQUESTS_NS: u64 = 500_000;

impl Chores {
    /// The chores of a wait that checks for deaths every `patience_ns`.
    pub fn new(patience_ns: u64) -> Chores {
        Chores {
            next_progress_ns: FIRST_PROGRESS_NS,
            progress_step_ns: FIRST_PROGRESS_NS,
            next_check_ns: patience_ns,
            patience_ns,
        }
    }

    /// Returns the chores that are due after `waited_ns`.
    pub fn due(&mut self, waited_ns: u64) -> Due {
        let mut due = Due::default();
        if waited_ns >= self.next_progress_ns {
            due.library_progress = true;
            // The interval doubles each time, so a message of the host library is delayed by at most a
            // fraction of the wait that delays it.
            self.progress_step_ns = (self.progress_step_ns * 2).min(LONGEST_PROGRESS_STEP_NS);
            self.next_progress_ns = waited_ns + self.progress_step_ns;
        }
        if waited_ns >= self.next_check_ns {
            due.liveness = true;
            self.next_check_ns = waited_ns + self.patience_ns;
        }
        due
    }

    /// The longest sleep. A wake-up costs the processor as much as a call, so sleeps grow with the wait. A
    /// nonblocking operation is announced at the eventcount of another block, so with such operations in
    /// progress sleeps are short.
    pub fn nap_ns(&self, has_requests: bool) -> u64 {
        if has_requests { NAP_WITH_REQUESTS_NS } else { self.progress_step_ns.max(SHORTEST_NAP_NS) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn library_progress_becomes_rarer_and_liveness_is_regular() {
        let mut chores = Chores::new(200_000_000);
        let (mut progress, mut liveness) = (0, 0);
        for waited_ns in (0..1_000_000_000).step_by(10_000) {
            let due = chores.due(waited_ns);
            progress += u32::from(due.library_progress);
            liveness += u32::from(due.liveness);
        }
        // 0.1, 0.3, 0.7, 1.5, 3.1, 6.3, 12.7 ms, then every 8 ms.
        assert!((125..=135).contains(&progress), "{progress}");
        assert_eq!(liveness, 4);
    }

    #[test]
    fn naps_grow_with_the_wait_unless_there_are_requests() {
        let mut chores = Chores::new(u64::MAX);
        assert_eq!((chores.nap_ns(false), chores.nap_ns(true)), (SHORTEST_NAP_NS, NAP_WITH_REQUESTS_NS));
        for waited_ns in (0..100_000_000).step_by(100_000) {
            chores.due(waited_ns);
        }
        assert_eq!(
            (chores.nap_ns(false), chores.nap_ns(true)),
            (LONGEST_PROGRESS_STEP_NS, NAP_WITH_REQUESTS_NS)
        );
    }
}

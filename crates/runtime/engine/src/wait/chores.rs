//! What a long wait does besides waiting: it gives the host library progress, and finds out which ranks
//! are alive.

/// When the chores of one wait are due. Pure: times go in.
pub struct Chores {
    next_progress_ns: u64,
    progress_step_ns: u64,
    next_check_ns: u64,
    patience_ns: u64,
}

/// The chores that are due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// The host library's own messages need a call into it to go on.
    pub library_progress: bool,
    /// It is time to find out whether the awaited ranks are alive.
    pub liveness: bool,
}

const FIRST_PROGRESS_NS: u64 = 100_000;
const LONGEST_PROGRESS_STEP_NS: u64 = 8_000_000;
const SHORTEST_NAP_NS: u64 = 4_000_000;
const NAP_WITH_REQUESTS_NS: u64 = 500_000;

impl Chores {
    /// Of a wait that checks for deaths every `patience_ns`.
    pub fn new(patience_ns: u64) -> Chores {
        Chores {
            next_progress_ns: FIRST_PROGRESS_NS,
            progress_step_ns: FIRST_PROGRESS_NS,
            next_check_ns: patience_ns,
            patience_ns,
        }
    }

    /// What is due after `waited_ns`.
    pub fn due(&mut self, waited_ns: u64) -> Due {
        let mut due = Due::default();
        if waited_ns >= self.next_progress_ns {
            due.library_progress = true;
            // Half as often each time: a library message that a long wait holds up is delayed by a fraction
            // of that wait.
            self.progress_step_ns = (self.progress_step_ns * 2).min(LONGEST_PROGRESS_STEP_NS);
            self.next_progress_ns = waited_ns + self.progress_step_ns;
        }
        if waited_ns >= self.next_check_ns {
            due.liveness = true;
            self.next_check_ns = waited_ns + self.patience_ns;
        }
        due
    }

    /// The longest sleep: each wake-up costs the processor as much as a call. What moves nonblocking
    /// operations on notifies the event count of another block, so with such operations under way sleeps
    /// are short.
    pub fn nap_ns(&self, requests_under_way: bool) -> u64 {
        if requests_under_way { NAP_WITH_REQUESTS_NS } else { self.progress_step_ns.max(SHORTEST_NAP_NS) }
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
    fn naps_grow_with_the_wait_unless_requests_are_under_way() {
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

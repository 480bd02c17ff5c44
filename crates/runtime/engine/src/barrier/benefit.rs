//! Whether this rank can gain anything by leaving barriers pending.
//!
//! A pending barrier saves at most the time until something completes it. If that is less than it costs to
//! complete it, waiting at once is better, whatever the other ranks do. A rank finds this out from a few of
//! its own barriers, long before the trial ([`super::trial`]) could: a short program has ended by then.
//! From then on it waits, and leaves a single barrier pending now and then, to see whether the program has
//! changed.

/// A barrier that is completed sooner gains less than it costs to catch the system call. Of this time 2 us
/// pass before evenkeel learns of the call.
const SOON_AT_SYSTEM_CALL_NS: u64 = 5_000;
/// The same for a call of MPI.
const SOON_AT_MPI_CALL_NS: u64 = 200;
/// A rank that waits needs a clearer sign that the program has changed: code that runs rarely takes longer.
const CLEARLY: u64 = 4;

/// After so many barriers without benefit this rank waits.
const FEW: u32 = 4;
/// For how many barriers it waits at first. The number doubles as long as nothing changes.
const FIRST_REST: u64 = 8;
const LONGEST_REST: u64 = 1024;

/// What this rank has found out about its pending barriers.
#[derive(Default)]
pub(crate) struct Benefit {
    /// How many completions in a row had no benefit.
    without: u32,
    /// For how many barriers this rank has waited last.
    rest: u64,
}

impl Benefit {
    /// Notes that barriers were completed, `pending` of them, the first of which was entered `pending_ns`
    /// before. Returns for how many barriers this rank should now wait, which may be 0.
    pub(crate) fn note(&mut self, pending: u64, pending_ns: u64, by_system_call: bool) -> u64 {
        let soon_ns = if by_system_call { SOON_AT_SYSTEM_CALL_NS } else { SOON_AT_MPI_CALL_NS };
        let limit_ns = if self.rest > 0 { CLEARLY * soon_ns } else { soon_ns };
        if pending > 1 || pending_ns >= limit_ns {
            *self = Benefit::default();
            return 0;
        }
        self.without += 1;
        if self.without < FEW {
            return 0;
        }
        self.rest = (2 * self.rest).clamp(FIRST_REST, LONGEST_REST);
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many barriers are left pending by a rank that completes each one after `ns`.
    fn left_pending(barriers: u64, ns: u64, by_system_call: bool) -> u64 {
        let (mut benefit, mut waits_until, mut count) = (Benefit::default(), 0, 0);
        for number in (0..barriers).filter(|&number| number > 0) {
            if number >= waits_until {
                count += 1;
                waits_until = number + 1 + benefit.note(1, ns, by_system_call);
            }
        }
        count
    }

    #[test]
    fn a_rank_waits_if_each_barrier_is_completed_at_once() {
        assert!(left_pending(5_000, 100, true) < 16);
        assert!(left_pending(1_000_000, 100, true) < 1_100);
        assert!(left_pending(5_000, 20, false) < 16);
    }

    #[test]
    fn a_rank_that_works_before_a_barrier_is_completed_does_not() {
        assert_eq!(left_pending(5_000, SOON_AT_SYSTEM_CALL_NS, true), 4_999);
        assert_eq!(left_pending(5_000, SOON_AT_MPI_CALL_NS, false), 4_999);
    }

    #[test]
    fn one_barrier_with_benefit_ends_the_waiting() {
        let mut benefit = Benefit::default();
        while benefit.note(1, 0, true) < LONGEST_REST {}
        assert_eq!(benefit.note(2, 0, true), 0);
        assert_eq!((1..FEW).map(|_| benefit.note(1, 0, true)).sum::<u64>(), 0);
        assert_eq!(benefit.note(1, 0, true), FIRST_REST);
    }
}

//! Finds out by measurement whether deferring the barriers of a communicator pays.
//!
//! What a deferred barrier saves and costs cannot be known from the barrier itself. On shared cores the
//! time that one rank waits is another rank's working time; an unexpected message, which must be kept,
//! costs more than an expected one; and a program that observes something after every barrier pays for a
//! caught system call each time. So one member, the *lead*, times both methods alternately and gives the
//! others advice through a word of the segment, which they follow as soon as they read it. Ranks that wait
//! and ranks that do not may meet in one barrier, so it does not matter when a rank follows.
//!
//! The lead waits for the last barrier of each block. The time of a block is therefore that of the slowest
//! rank, not that of a lead that runs ahead. The trial is pure: times go in, advice comes out.

/// What the members of a communicator should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Advice {
    /// Leave barriers pending. A word that has never been written says this.
    Defer = 0,
    /// Wait in barriers.
    Wait = 1,
}

impl Advice {
    /// The advice that a word of the segment gives.
    pub fn from_word(word: u64) -> Advice {
        if word == Advice::Wait as u64 { Advice::Wait } else { Advice::Defer }
    }
}

/// Between how many barriers the lead reads the clock.
pub(crate) const CLOCK_INTERVAL: u64 = 8;

/// Barriers at the start of a block that are not timed, because ranks that ran ahead still work off the
/// block before.
const SETTLING: u64 = 8;
/// The least number of barriers in a block, and the least time that it lasts, longer than most interrupts.
const BARRIERS: u64 = 32;
const BLOCK_NS: u64 = 1_000_000;
/// With this much time between barriers, the cost of deferring one is not noticeable.
const RARE_NS: u64 = 500_000;
/// How many pairs of blocks there are before the first decision is possible, and before one is forced.
const FEW_PAIRS: usize = 5;
const MOST_PAIRS: usize = 12;
/// How long a decision stands. The time is multiplied by four each time the decision is confirmed.
const FIRST_REST_NS: u64 = 100_000_000;
const LONGEST_REST_NS: u64 = 30_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The decided advice stands until both methods are tried again.
    Resting { rest_ns: u64 },
    /// The first barriers of block number `block`, which are not timed.
    Settling { block: usize },
    /// The rest of the block.
    Timing { block: usize },
}

/// The trial as the lead runs it.
pub struct Trial {
    phase: Phase,
    began_ns: u64,
    first: u64,
    /// Time per barrier in the first block of the current pair, in nanoseconds.
    first_block_ns: f64,
    /// Ratios of deferred to strict time per barrier, one for each pair so far.
    ratios: [f64; MOST_PAIRS],
    decided: Advice,
    confirmed: u32,
}

impl Default for Trial {
    fn default() -> Self {
        // The start of a program is not representative of the rest.
        let phase = Phase::Resting { rest_ns: BLOCK_NS };
        Trial {
            phase,
            began_ns: 0,
            first: 0,
            first_block_ns: 0.0,
            ratios: [0.0; MOST_PAIRS],
            decided: Advice::Defer,
            confirmed: 0,
        }
    }
}

/// What is advised in a block. The methods alternate, and so does the one that comes first, so that times
/// that grow or shrink over the run favour neither.
fn advice_in(block: usize) -> Advice {
    if matches!(block % 4, 0 | 3) { Advice::Defer } else { Advice::Wait }
}

impl Trial {
    /// Returns whether the lead should wait for barrier `number`, which it is about to enter, and then call
    /// [`Trial::advance`].
    pub fn is_due(&self, number: u64, now_ns: u64) -> bool {
        let (barriers, ns) = (number.saturating_sub(self.first), now_ns.saturating_sub(self.began_ns));
        match self.phase {
            _ if self.began_ns == 0 => true,
            Phase::Resting { rest_ns } => ns >= rest_ns,
            Phase::Settling { .. } => barriers >= SETTLING,
            Phase::Timing { .. } => barriers >= BARRIERS && ns >= BLOCK_NS,
        }
    }

    /// Must be called at time `now_ns`, when all ranks have entered barrier `number`. Returns the advice
    /// for the next barriers.
    pub fn advance(&mut self, number: u64, now_ns: u64) -> Advice {
        let each = (now_ns - self.began_ns) as f64 / (number - self.first).max(1) as f64;
        let started = self.began_ns > 0;
        (self.began_ns, self.first) = (now_ns, number);
        self.phase = match self.phase {
            phase if !started => phase,
            Phase::Resting { .. } => Phase::Settling { block: 0 },
            Phase::Settling { block } => Phase::Timing { block },
            Phase::Timing { block } => self.timed(block, each),
        };
        match self.phase {
            Phase::Resting { .. } => self.decided,
            Phase::Settling { block } | Phase::Timing { block } => advice_in(block),
        }
    }

    fn timed(&mut self, block: usize, each: f64) -> Phase {
        if advice_in(block) == Advice::Defer && each > RARE_NS as f64 {
            return self.decide(Advice::Defer);
        }
        if block % 2 == 0 {
            self.first_block_ns = each;
            return Phase::Settling { block: block + 1 };
        }
        let pairs = block / 2 + 1;
        self.ratios[pairs - 1] = if advice_in(block) == Advice::Wait {
            self.first_block_ns / each
        } else {
            each / self.first_block_ns
        };
        match judge(&mut self.ratios[..pairs]) {
            Some(advice) => self.decide(advice),
            None => Phase::Settling { block: block + 1 },
        }
    }

    fn decide(&mut self, advice: Advice) -> Phase {
        self.confirmed = if advice == self.decided { self.confirmed + 1 } else { 0 };
        self.decided = advice;
        Phase::Resting { rest_ns: (FIRST_REST_NS << (2 * self.confirmed).min(16)).min(LONGEST_REST_NS) }
    }
}

/// The decision from the pairs so far, or `None` if there are too few. Waiting must be clearly better,
/// because the disturbances against which deferral helps are rare.
fn judge(ratios: &mut [f64]) -> Option<Advice> {
    let pairs = ratios.len();
    if pairs < FEW_PAIRS {
        return None;
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[pairs / 2];
    let slower = ratios.iter().filter(|&&r| r > 1.0).count();
    if slower == pairs && median > 1.05 {
        Some(Advice::Wait)
    } else if slower <= 1 {
        Some(Advice::Defer)
    } else if pairs == MOST_PAIRS {
        Some(if slower >= MOST_PAIRS * 3 / 4 && median > 1.02 { Advice::Wait } else { Advice::Defer })
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a program whose barriers take `ns(now, advice)` each. Returns the share of barriers that
    /// were deferred.
    fn run(barriers: u64, mut ns: impl FnMut(u64, Advice) -> u64) -> (f64, Trial) {
        let (mut trial, mut now, mut advice, mut deferred) = (Trial::default(), 1_000, Advice::Defer, 0);
        for number in 0..barriers {
            let due = trial.is_due(number, now);
            deferred += (advice == Advice::Defer && !due) as u64;
            now += ns(now, advice);
            if due {
                advice = trial.advance(number, now);
            }
        }
        (deferred as f64 / barriers as f64, trial)
    }

    #[test]
    fn the_better_method_is_advised() {
        let (share, _) = run(1_000_000, |_, a| if a == Advice::Defer { 12_500 } else { 10_000 });
        assert!(share < 0.01, "{share}");
        let (share, _) = run(1_000_000, |_, a| if a == Advice::Defer { 10_000 } else { 12_500 });
        assert!(share > 0.99, "{share}");
    }

    #[test]
    fn a_long_run_that_should_wait_loses_little() {
        let mut total = 0;
        run(100_000, |_, a| {
            let ns = if a == Advice::Defer { 13_000 } else { 10_000 };
            total += ns;
            ns
        });
        assert!(total < 1_010_000_000, "{total}");
    }

    #[test]
    fn rare_barriers_are_deferred_without_a_trial() {
        let (share, _) = run(1_000, |_, _| 600_000);
        assert!(share > 0.95, "{share}");
    }

    #[test]
    fn a_tie_is_decided_for_deferral_also_among_noise() {
        let mut seed = 1u64;
        let (share, _) = run(2_000_000, |_, _| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if seed >> 54 == 0 { 500_000 } else { 5_000 }
        });
        assert!(share > 0.9, "{share}");
    }

    #[test]
    fn both_methods_are_tried_again_when_the_program_changes() {
        let (_, trial) = run(1_000_000, |now, a| match (a, now < 1_000_000_000) {
            (Advice::Defer, true) | (Advice::Wait, false) => 12_500,
            _ => 10_000,
        });
        assert_eq!(trial.decided, Advice::Defer);
    }
}

//! How long a rank looks on for datagrams before it sleeps. To look on saves a wake-up, and takes the core from
//! others that may need it. So a rank looks on for as long as that has ended waits lately, and tries again now
//! and then where it has not.

/// The longest look. A datagram between two hosts that both look takes some ten microseconds.
const LONGEST_NS: u64 = 30_000;
/// A rank looks on for less than this not at all.
const SHORTEST_NS: u64 = 4_000;
/// A rank that does not look on tries again after so many waits.
const TRY_AGAIN: u32 = 64;

/// What a rank has seen of its waits.
#[derive(Debug)]
pub struct LookOn {
    budget_ns: u64,
    /// Waits since it last looked on.
    blind: u32,
}

impl Default for LookOn {
    fn default() -> LookOn {
        LookOn { budget_ns: LONGEST_NS, blind: 0 }
    }
}

impl LookOn {
    /// For how long to look on in the next wait.
    pub fn budget_ns(&mut self) -> u64 {
        if self.budget_ns >= SHORTEST_NS {
            return self.budget_ns;
        }
        self.blind += 1;
        if self.blind % TRY_AGAIN == 0 { LONGEST_NS } else { 0 }
    }

    /// A wait in which the rank has looked on is over. `has_slept`: to look on was in vain.
    pub fn learn(&mut self, looked_ns: u64, has_slept: bool) {
        if looked_ns == 0 {
            return;
        }
        self.budget_ns = match has_slept {
            true => self.budget_ns - self.budget_ns / 8,
            false => (self.budget_ns + self.budget_ns / 4).clamp(2 * SHORTEST_NS, LONGEST_NS),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits of `wait_ns` each. Returns for how long the rank has looked on in the last 640 of them.
    fn looked_on(look: &mut LookOn, wait_ns: u64) -> u64 {
        let mut last = 0;
        for number in 0..1000 {
            let budget = look.budget_ns();
            let has_slept = wait_ns > budget;
            look.learn(budget, has_slept);
            last += if number >= 360 { budget.min(wait_ns) } else { 0 };
        }
        last
    }

    #[test]
    fn a_rank_looks_on_while_that_ends_waits() {
        let mut look = LookOn::default();
        assert_eq!(looked_on(&mut look, 10_000), 640 * 10_000);
        assert!(looked_on(&mut look, 1_000_000) <= 11 * LONGEST_NS, "long waits are slept through");
        assert!(looked_on(&mut look, 10_000) >= 500 * 10_000, "it has noticed that waits are short again");
    }
}

//! Chooses between two methods of doing the same by what they have cost so far. The second one is used if it
//! is a tenth faster.

/// One use in this many is of the method that is currently slower.
const TRY_EVERY: u32 = 32;

/// Two methods, and the measured cost of each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Choice {
    /// Time per byte, in ticks × 1024; `None` if the method has not been tried yet.
    first: Option<u64>,
    second: Option<u64>,
    uses: u32,
}

impl Choice {
    /// Returns whether to use the second method now.
    pub fn takes_second(&self) -> bool {
        let usual =
            matches!((self.first, self.second), (Some(first), Some(second)) if 10 * second < 9 * first);
        match self.uses % TRY_EVERY {
            0 => false,
            1 => true,
            _ => usual,
        }
    }

    /// Notes what a use of a method has cost.
    pub fn note(&mut self, second: bool, ticks: u64, bytes: usize) {
        let rate = ticks * 1024 / bytes as u64;
        let seen = if second { &mut self.second } else { &mut self.first };
        *seen = Some(seen.map_or(rate, |old| (3 * old + rate) / 4));
        self.uses = self.uses.wrapping_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_method_is_used_and_the_other_is_tried_now_and_then() {
        let mut choice = Choice::default();
        let mut seconds = 0;
        for _ in 0..320 {
            let second = choice.takes_second();
            choice.note(second, if second { 100 } else { 500 }, 4096);
            seconds += second as u32;
        }
        assert!(seconds > 300 && seconds < 320, "{seconds}");
        for _ in 0..320 {
            let second = choice.takes_second();
            choice.note(second, if second { 100 } else { 10 }, 4096); // the machine has changed
        }
        choice.uses = 5;
        assert!(!choice.takes_second());
    }
}

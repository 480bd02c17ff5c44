//! What a schedule uses of each rank's memory: flags, counters, scratch, and the banks they lie in.

/// The resources that a schedule uses of each rank. The checker verifies that the steps use no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// Number of rounds. A rank may have no steps in some of them.
    pub rounds: u32,
    /// Flags per bank.
    pub flags: u32,
    /// Counters per bank.
    pub counters: u32,
    /// Elements of scratch per bank.
    pub scratch: u64,
    /// How often one flag is raised in an epoch, at most.
    pub turns: u16,
    /// How many copies of all this exist: epoch e works in bank e mod banks.
    pub banks: u8,
}

impl Resources {
    /// Flags only, in one bank, each raised once.
    pub const fn flags(rounds: u32, flags: u32) -> Resources {
        Resources { rounds, flags, counters: 0, scratch: 0, turns: 1, banks: 1 }
    }
    /// The same with `counters` counters.
    pub const fn and_counters(self, counters: u32) -> Resources {
        Resources { counters, ..self }
    }
    /// The same with `scratch` elements of scratch.
    pub const fn and_scratch(self, scratch: u64) -> Resources {
        Resources { scratch, ..self }
    }
    /// The same in `banks` banks.
    pub const fn in_banks(self, banks: u8) -> Resources {
        Resources { banks, ..self }
    }

    /// The bank in which an epoch (1, 2, …) works, and the number of uses of that bank up to and
    /// including this epoch.
    pub fn bank(&self, epoch: u64) -> (usize, u64) {
        let banks = u64::from(self.banks);
        ((epoch % banks) as usize, (epoch - 1) / banks + 1)
    }
}

/// The value to which a flag is raised, and at which it is awaited, in use number `uses` (1, 2, …) of its
/// bank.
///
/// Turn 0 is the last value of the previous use. In the first use that is 0, the initial value of every
/// flag.
pub const fn flag_value(uses: u64, turns: u16, turn: u16) -> u64 {
    (uses - 1) * turns as u64 + turn as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bank_counts_its_own_uses() {
        let resources = Resources::flags(1, 1).in_banks(2);
        assert_eq!([1, 2, 3, 4, 5].map(|e| resources.bank(e)), [(1, 1), (0, 1), (1, 2), (0, 2), (1, 3)]);
        assert_eq!(
            (flag_value(1, 3, 0), flag_value(1, 3, 3), flag_value(2, 3, 0), flag_value(2, 3, 1)),
            (0, 3, 3, 4)
        );
    }
}

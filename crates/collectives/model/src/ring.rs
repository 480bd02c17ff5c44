//! Collectives over reflective memory: a write to the card of one node appears in the cards of all nodes,
//! along a ring.
//!
//! Moorthy, Panda and Sadayappan (CANPC 2000), equations 4.1 to 4.3. Register-insertion ring, granularity
//! of a word, no other traffic, best case. The printed equation 4.1 has W + (N_ring − 1)·T_s, which adds
//! words to a time; here the ring takes (W + N_ring − 1)·T_s. The printed constants do not give the
//! printed barriers (10.7 µs for four nodes of the model network, 13.9 µs measured on SCRAMNet): they
//! give 3.7 and 8.3 µs. Reading a flag must have cost about 3.3 µs of software there, instead of the 950
//! ns of the bus. So choose the radix by [`best_radix`] with measured times, not by a rule.

use crate::rounds::{ceil_log, floor_log};

/// A ring and the bus to its cards. Times are nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// T_s: from one transmission slot to the next. Each slot carries one word.
    pub slot_ns: f64,
    /// Reading a flag from the card.
    pub flag_read_ns: f64,
    /// Writing a flag to the card.
    pub flag_write_ns: f64,
    /// Writing a word to the card.
    pub word_write_ns: f64,
    /// Reading a word from the card.
    pub word_read_ns: f64,
    /// The cost of software for each message. The paper does not print its value.
    pub overhead_ns: f64,
}

/// A ring on a PCI bus with the 440FX chip set: reads take 950 ns, writes 330 ns.
const fn on_pci(slot_ns: f64) -> Ring {
    Ring {
        slot_ns,
        flag_read_ns: 950.0,
        flag_write_ns: 330.0,
        word_write_ns: 330.0,
        word_read_ns: 950.0,
        overhead_ns: 0.0,
    }
}

/// SCRAMNet as measured, 7 MB/s.
pub const SCRAMNET: Ring = on_pci(571.0);
/// The paper's model network, 70 MB/s.
pub const MODEL_NETWORK: Ring = on_pci(58.0);

impl Ring {
    /// The time of a hierarchical broadcast of so many words, in nanoseconds: the root writes the payload
    /// once, and flags travel along a tree in which each rank has `radix` children (equation 4.1,
    /// corrected). 0 for one rank.
    ///
    /// # Panics
    /// If `radix` is less than 2.
    pub fn broadcast_ns(&self, ranks: u64, radix: u64, words: u64) -> f64 {
        if ranks < 2 {
            return 0.0;
        }
        let others = ranks - 1;
        let full = radix.pow(floor_log(radix, others));
        let flags = (radix - 1) + (others.div_ceil(full) - 1);
        f64::from(ceil_log(radix, others)) * self.flag_read_ns
            + flags as f64 * self.flag_write_ns
            + (words + ranks - 1) as f64 * self.slot_ns
            + self.word_write_ns
            + words as f64 * self.word_read_ns
            + self.overhead_ns
    }

    /// The time of a hierarchical barrier in groups of `radix`, in nanoseconds: each rank sets its flag
    /// and reads those of its group, and one rank of each group goes on (equation 4.2). 0 for one rank.
    ///
    /// # Panics
    /// If `radix` is less than 2.
    pub fn barrier_ns(&self, ranks: u64, radix: u64) -> f64 {
        let around = 3.0 * ranks.saturating_sub(1) as f64 * self.slot_ns;
        f64::from(ceil_log(radix, ranks))
            * ((radix - 1) as f64 * self.flag_read_ns + self.word_write_ns + around)
    }

    /// The time of an allreduce of so many words in which all ranks broadcast at the same time, in
    /// nanoseconds (equation 4.3; its third term, printed as writes of payload, is the N − 1 flags). 0
    /// for one rank.
    pub fn allreduce_ns(&self, ranks: u64, words: u64) -> f64 {
        if ranks < 2 {
            return 0.0;
        }
        let others = (ranks - 1) as f64;
        self.word_write_ns
            + words.saturating_sub(1) as f64 * ranks as f64 * self.slot_ns
            + others * self.flag_write_ns
            + others * words as f64 * self.word_read_ns
            + self.overhead_ns
    }
}

/// The radix from 2 to `ranks` with the least cost, and its cost. Of equal costs the smallest radix. None
/// for one rank.
pub fn best_radix(ranks: u64, cost_ns: impl Fn(u64) -> f64) -> Option<(u64, f64)> {
    (2..=ranks).map(|radix| (radix, cost_ns(radix))).min_by(|a, b| a.1.total_cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value_ns: f64, microseconds: f64) {
        assert!(
            (value_ns / 1e3 - microseconds).abs() <= 0.0501,
            "{value_ns} ns where {microseconds} µs were expected"
        );
    }

    #[test]
    fn the_printed_constants_give_less_than_the_printed_barriers() {
        near(MODEL_NETWORK.barrier_ns(4, 4), 3.7); // printed: 10.7
        near(SCRAMNET.barrier_ns(4, 4), 8.3); // measured: 13.9
        near(Ring { flag_read_ns: 3300.0, ..MODEL_NETWORK }.barrier_ns(4, 4), 10.75);
    }

    /// At 32 nodes, groups of four are the best of the powers of two only if reading a flag takes 1.1 to
    /// 2.9 µs.
    #[test]
    fn the_best_radix_depends_on_the_cost_of_reading_a_flag() {
        let best = |flag_read_ns: f64| {
            let ring = Ring { flag_read_ns, ..MODEL_NETWORK };
            [2, 4, 8, 16, 32]
                .into_iter()
                .min_by(|a, b| ring.barrier_ns(32, *a).total_cmp(&ring.barrier_ns(32, *b)))
                .unwrap()
        };
        assert_eq!([950.0, 1200.0, 2800.0, 2900.0, 3300.0].map(best), [8, 4, 4, 2, 2]);
    }

    #[test]
    fn the_best_radix_is_found() {
        for ranks in 2..=64 {
            let cost = |radix| MODEL_NETWORK.broadcast_ns(ranks, radix, 16);
            let (radix, least) = best_radix(ranks, cost).unwrap();
            assert!((2..=ranks).all(|r| cost(r) >= least) && cost(radix) == least);
        }
        assert_eq!(best_radix(2, |_| 1.0), Some((2, 1.0)));
        assert_eq!(best_radix(1, |_| 1.0), None);
    }

    #[test]
    fn terms_add_up() {
        let ring = Ring {
            slot_ns: 1.0,
            flag_read_ns: 10.0,
            flag_write_ns: 100.0,
            word_write_ns: 1e3,
            word_read_ns: 1e4,
            overhead_ns: 1e5,
        };
        // 17 ranks, radix 4: two levels for 16 other ranks, three flags and none beyond, five words over
        // 16 hops.
        assert_eq!(ring.broadcast_ns(17, 4, 5), 2.0 * 10.0 + 3.0 * 100.0 + 21.0 + 1e3 + 5e4 + 1e5);
        // One more rank: a third level, and one more flag that cannot be hidden.
        assert_eq!(ring.broadcast_ns(18, 4, 5), 3.0 * 10.0 + 4.0 * 100.0 + 22.0 + 1e3 + 5e4 + 1e5);
        assert_eq!(ring.barrier_ns(17, 4), 3.0 * (30.0 + 1e3 + 48.0));
        assert_eq!(ring.allreduce_ns(4, 5), 1e3 + 16.0 + 300.0 + 15e4 + 1e5);
        assert_eq!(
            (ring.broadcast_ns(1, 4, 5), ring.barrier_ns(1, 4), ring.allreduce_ns(1, 5)),
            (0.0, 0.0, 0.0)
        );
    }
}

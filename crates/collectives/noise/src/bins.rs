//! Classes of length for delays and gaps: two for each decade, from 1 µs to 100 ms.

/// The inner edges of the classes. There is also a class below the first and one above the last.
const EDGES_NS: [u64; 11] = [
    1_000,
    3_000,
    10_000,
    30_000,
    100_000,
    300_000,
    1_000_000,
    3_000_000,
    10_000_000,
    30_000_000,
    100_000_000,
];

/// The number of classes.
pub const BINS: usize = EDGES_NS.len() + 1;

/// The index of a class.
pub type Bin = usize;

/// The class of a length in nanoseconds. A class contains its lower edge.
pub fn bin_of(ns: u64) -> Bin {
    EDGES_NS.partition_point(|edge| *edge <= ns)
}

/// The lower and the upper edge of a class in nanoseconds. The last class has no upper edge.
pub fn edges_ns(bin: Bin) -> (u64, Option<u64>) {
    (if bin == 0 { 0 } else { EDGES_NS[bin - 1] }, EDGES_NS.get(bin).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_lies_between_its_edges() {
        for ns in [0, 1, 999, 1_000, 2_999, 3_000, 99_999, 100_000, 99_999_999, 100_000_000, u64::MAX] {
            let (from, to) = edges_ns(bin_of(ns));
            assert!(from <= ns && to.is_none_or(|to| ns < to), "{ns}");
        }
        assert_eq!((bin_of(0), bin_of(u64::MAX)), (0, BINS - 1));
        assert_eq!(edges_ns(4), (30_000, Some(100_000)));
    }
}

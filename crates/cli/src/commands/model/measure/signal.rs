//! What the ranks and hosts of a measurement signal with: a clock, and contents that tell one signal from
//! another.

/// The content of the signal of an epoch to or from a rank. Any other value belongs to another signal, so
/// that a signal that is taken too early or twice is noticed.
#[inline]
pub fn content(epoch: u64, rank: usize) -> u64 {
    (epoch ^ (rank as u64) << 48).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The clock that all processes of a machine share, in nanoseconds.
#[inline]
pub fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_differ_between_ranks_and_epochs() {
        assert_ne!(content(1, 2), content(2, 1));
        assert_ne!(content(1, 2), content(!1, 2));
    }
}

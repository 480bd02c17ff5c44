//! Sums that stop at the largest number. A record from a file may hold any numbers.

/// Adds to a sum.
pub(crate) fn add(sum: &mut u64, n: u64) {
    *sum = sum.saturating_add(n);
}

/// The sum of numbers.
pub(crate) fn total(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

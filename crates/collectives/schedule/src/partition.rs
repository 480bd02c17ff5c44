//! How a vector is divided into parts of nearly equal length.

/// Where the `i`-th of `parts` parts of `elements` begins. The parts differ by at most one element;
/// `i = parts` gives the end of the vector.
///
/// ```
/// use evenkeel_schedule::partition::part_start;
/// let starts = [0, 1, 2, 3, 4].map(|i| part_start(10, i, 4));
/// assert_eq!(starts, [0, 2, 5, 7, 10]);
/// ```
#[inline(always)]
pub const fn part_start(elements: u64, i: u32, parts: u32) -> u64 {
    elements * i as u64 / parts as u64
}

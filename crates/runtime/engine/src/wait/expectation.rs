//! How long the next wait will probably last, by the last ones.
//!
//! A rank that expects a long wait sleeps early, and then the ranks that wait for it wait longer: for a
//! wake-up, and on a busy machine for a core. So an expectation must not confirm itself. It rises slowly and
//! falls at once. What that costs is small: a rank that expects a short wait spins for about as long as a
//! wake-up takes before it sleeps.

/// Includes a wait in the expectation.
#[inline]
pub fn include(expected_ns: &mut u64, waited_ns: u64) {
    *expected_ns = if waited_ns < *expected_ns / 2 { waited_ns } else { (*expected_ns * 7 + waited_ns) / 8 };
}

#[cfg(test)]
mod tests {
    use super::include;

    #[test]
    fn one_short_wait_ends_the_expectation_of_long_ones() {
        let mut expected_ns = 0;
        for _ in 0..100 {
            include(&mut expected_ns, 4_000_000);
        }
        assert!(expected_ns > 3_900_000);
        include(&mut expected_ns, 30_000);
        assert_eq!(expected_ns, 30_000);
    }

    #[test]
    fn one_long_wait_among_short_ones_counts_for_an_eighth() {
        let mut expected_ns = 1_000;
        include(&mut expected_ns, 801_000);
        assert_eq!(expected_ns, 101_000);
        include(&mut expected_ns, 1_000);
        assert_eq!(expected_ns, 1_000);
    }

    #[test]
    fn waits_of_about_the_same_length_are_averaged() {
        let mut expected_ns = 0;
        for at in 0..1_000 {
            include(&mut expected_ns, if at % 2 == 0 { 300_000 } else { 400_000 });
        }
        assert!((330_000..370_000).contains(&expected_ns));
    }
}

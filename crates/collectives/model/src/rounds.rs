//! The number of rounds of an algorithm: logarithms that are rounded exactly, without floating point.

/// ⌈log_base ranks⌉: the least R with base^R ≥ ranks; 0 for one rank.
///
/// # Panics
/// If `base` is less than 2.
pub fn ceil_log(base: u64, ranks: u64) -> u32 {
    assert!(base >= 2, "there is no logarithm to base {base}");
    let (mut rounds, mut reached) = (0, 1_u64);
    while reached < ranks {
        reached = reached.saturating_mul(base);
        rounds += 1;
    }
    rounds
}

/// ⌊log_base ranks⌋: the greatest R with base^R ≤ ranks.
///
/// # Panics
/// If `base` is less than 2 or `ranks` is 0.
pub fn floor_log(base: u64, ranks: u64) -> u32 {
    assert!(base >= 2 && ranks >= 1, "there is no logarithm of {ranks} to base {base}");
    let (mut rounds, mut reached) = (0, base);
    while reached <= ranks {
        rounds += 1;
        let Some(next) = reached.checked_mul(base) else { break };
        reached = next;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_exact_at_powers_and_beside_them() {
        for base in 2..=9_u64 {
            for exponent in 1..=6 {
                let power = base.pow(exponent);
                assert_eq!((ceil_log(base, power), floor_log(base, power)), (exponent, exponent));
                assert_eq!(
                    (ceil_log(base, power + 1), floor_log(base, power - 1)),
                    (exponent + 1, exponent - 1)
                );
            }
        }
        assert_eq!((ceil_log(2, 1), floor_log(2, 1)), (0, 0));
        assert_eq!((ceil_log(2, u64::MAX), floor_log(2, u64::MAX)), (64, 63));
    }
}

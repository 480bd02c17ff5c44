//! Powers and logarithms of whole numbers, exact for any number of ranks.

/// `base` to the `exponent`, saturating at `u32::MAX`.
pub fn power(base: u32, exponent: u32) -> u32 {
    base.checked_pow(exponent).unwrap_or(u32::MAX)
}

/// The least r with base^r ≥ n: how many rounds reach n ranks if each round multiplies the number of
/// ranks reached by `base` (at least 2).
pub fn ceil_log(base: u32, n: u32) -> u32 {
    let (mut reach, mut rounds) = (1u64, 0);
    while reach < u64::from(n) {
        reach *= u64::from(base);
        rounds += 1;
    }
    rounds
}

/// The largest r with base^r ≤ n, for n ≥ 1.
pub fn floor_log(base: u32, n: u32) -> u32 {
    let (mut reach, mut rounds) = (u64::from(base), 0);
    while reach <= u64::from(n) {
        reach *= u64::from(base);
        rounds += 1;
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_bracket_their_number() {
        for base in 2..9 {
            for n in 1..600 {
                let (down, up) = (floor_log(base, n), ceil_log(base, n));
                assert!(power(base, down) <= n && n < power(base, down + 1), "{base} {n}");
                assert!(n <= power(base, up) && (up == 0 || power(base, up - 1) < n), "{base} {n}");
            }
        }
        assert_eq!(
            (ceil_log(3, 64), ceil_log(2, u32::MAX), floor_log(2, u32::MAX), power(2, 40)),
            (4, 32, 31, u32::MAX)
        );
    }
}

//! Reproducible random numbers: a seed gives the same sequence on every machine and in every version.
//!
//! A library's generator would not do. A seed in a report must name the same network, the same noise and the
//! same stalls years later.
//!
//! May use: std. Must never: take anything from a clock or from the machine, or serve where an adversary must
//! not guess a number.

/// The generator splitmix64 (Steele, Lea, Flood 2014).
///
/// Its state has eight bytes, so that each of a million simulated ranks can have a sequence of its own.
///
/// ```
/// use evenkeel_random::Random;
/// let (mut one, mut same) = (Random::new(7), Random::new(7));
/// assert_eq!([one.bits(), one.bits()], [same.bits(), same.bits()]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// The sequence of a seed and a number. Different pairs give unrelated sequences: none is another one
    /// shifted by some steps.
    pub const fn stream(seed: u64, number: u64) -> Random {
        let mixed = Random(seed).bits() ^ number.wrapping_mul(0xd134_2543_de82_ef95);
        Random(Random(mixed).bits())
    }

    /// The next 64 bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number from 0 (included) to 1 (excluded), uniformly distributed.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An index from 0 (included) to `end` (excluded), uniformly distributed; 0 if `end` is 0.
    #[inline]
    pub fn below(&mut self, end: usize) -> usize {
        self.less_than(end as u64) as usize
    }

    /// [`below`](Random::below) for numbers that are not indices.
    #[inline]
    pub fn less_than(&mut self, end: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(end)) >> 64) as u64
    }

    /// A number with the exponential distribution of mean 1: the time between independent events.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Puts the items into a random order. Every order is equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_reference_implementation() {
        // Vigna's splitmix64.c, seed 1234567.
        let mut random = Random::new(1_234_567);
        let first = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
        ];
        assert_eq!(first.map(|_| random.bits()), first);
    }

    #[test]
    fn streams_depend_on_seed_and_number() {
        let of = |seed, number| {
            let mut r = Random::stream(seed, number);
            [r.bits(), r.bits()]
        };
        let one = of(1, 2);
        assert_eq!(one, of(1, 2));
        for other in [of(2, 2), of(1, 3), of(3, 1)] {
            assert!(one.iter().all(|bits| !other.contains(bits)), "{one:x?} {other:x?}");
        }
    }

    #[test]
    fn every_number_below_the_end_comes_equally_often() {
        let (mut random, mut counts) = (Random::new(3), [0_u32; 6]);
        (0..60_000).for_each(|_| counts[random.below(6)] += 1);
        // Five standard deviations of 60,000 throws of a die.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 5 * 92), "{counts:?}");
        assert_eq!((random.below(0), random.below(1)), (0, 0));
        assert!((0..1000).map(|_| random.unit()).all(|u| (0.0..1.0).contains(&u)));
    }

    #[test]
    fn exponential_times_have_mean_and_deviation_one() {
        let mut random = Random::new(9);
        let drawn: Vec<f64> = (0..40_000).map(|_| random.exponential()).collect();
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let deviation = (drawn.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / drawn.len() as f64).sqrt();
        assert!((mean - 1.0).abs() < 0.03 && (deviation - 1.0).abs() < 0.03, "{mean} {deviation}");
    }

    #[test]
    fn every_order_of_three_comes_equally_often() {
        let (mut random, mut counts) = (Random::new(5), std::collections::HashMap::new());
        for _ in 0..6_000 {
            let mut items = [0, 1, 2];
            random.shuffle(&mut items);
            *counts.entry(items).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|count| count.abs_diff(1_000) < 150), "{counts:?}");
    }
}

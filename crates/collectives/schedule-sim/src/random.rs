//! Streams of random numbers: one for each rank and purpose.

use evenkeel_random::Random;

/// What random numbers are for. A new purpose must not change the numbers of the existing ones, so the
/// values are fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomStream {
    /// When a processor is away.
    Noise = 1,
    /// How long a rank computes.
    Work = 2,
    /// When a rank begins.
    Skew = 3,
    /// In which order ranks share a core.
    Order = 4,
}

/// The random numbers for a seed, rank and purpose. Those of two triples have nothing to do with each
/// other.
pub fn stream(seed: u64, rank: u32, purpose: RandomStream) -> Random {
    Random::stream(seed ^ (purpose as u64) << 56, rank.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_rank_and_purpose() {
        let of = |seed, rank, purpose| {
            let mut r = stream(seed, rank, purpose);
            [r.bits(), r.bits()]
        };
        let one = of(1, 2, RandomStream::Noise);
        assert_eq!(one, of(1, 2, RandomStream::Noise));
        for other in
            [of(2, 2, RandomStream::Noise), of(1, 3, RandomStream::Noise), of(1, 2, RandomStream::Work)]
        {
            assert_ne!(one, other);
        }
        // The stream of a rank is not that of another rank, one number later.
        assert_ne!(one[1], of(1, 3, RandomStream::Noise)[0]);
    }
}

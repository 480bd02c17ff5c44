//! On which free cores of a slot a job goes. May use: identifiers.

use crate::identifiers::Core;
use std::ops::Range;

/// A rule that chooses cores.
///
/// Each rule is monotone: if it finds cores, it finds some too when more cores or more memory are free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Packing {
    /// All ranks lie in one aligned block of the smallest power of two that holds them. Halves with fewer
    /// free cores are preferred, so that large blocks stay whole. Jobs that start and end leave holes that
    /// others can use (Feitelson and Rudolph, "Distributed hierarchical control for parallel processing",
    /// Computer 1990, pack slots so).
    #[default]
    Buddy,
    /// The free cores with the lowest numbers.
    FirstFit,
}

/// The cores that a job may take in a slot.
pub(crate) struct Offer<'a> {
    /// Whether each core is free.
    pub is_free: &'a [bool],
    /// The machine of each core; the cores of a machine are neighbours.
    pub machine_of: &'a [usize],
    /// How many ranks the memory of each machine holds.
    pub limits: &'a [u64],
}

impl Offer<'_> {
    /// The first cores of a block that may be taken together, at most this many.
    fn take(&self, block: Range<usize>, most: usize) -> Vec<Core> {
        let (mut machine, mut left, mut taken) = (usize::MAX, 0, Vec::new());
        for core in block {
            if self.machine_of[core] != machine {
                machine = self.machine_of[core];
                left = self.limits[machine];
            }
            if self.is_free[core] && left > 0 && taken.len() < most {
                left -= 1;
                taken.push(Core(core));
            }
        }
        taken
    }
}

impl Packing {
    /// Cores for this many ranks in ascending order, or none if the rule finds none. Takes time linear in the
    /// cores.
    pub(crate) fn choose(self, offer: &Offer<'_>, ranks: usize) -> Option<Vec<Core>> {
        let cores = offer.is_free.len();
        let block = match self {
            Packing::FirstFit => 0..cores,
            Packing::Buddy => {
                let size = ranks.checked_next_power_of_two()?;
                let starts = (0..cores).step_by(size);
                let blocks: Vec<_> =
                    starts.map(|start| start..start.saturating_add(size).min(cores)).collect();
                let free = blocks.iter().map(|block| offer.take(block.clone(), usize::MAX).len());
                blocks[fullest_block(free.map(|free| (free, free >= ranks)).collect())?].clone()
            }
        };
        Some(offer.take(block, ranks)).filter(|taken| taken.len() == ranks)
    }
}

/// The block that halving finds: of two halves with a block that is large enough, the one with fewer free
/// cores. `blocks` has the free cores of each block, and whether they are enough.
fn fullest_block(blocks: Vec<(usize, bool)>) -> Option<usize> {
    let mut levels = vec![blocks];
    while levels.last()?.len() > 1 {
        let pair = |pair: &[(usize, bool)]| (pair.iter().map(|b| b.0).sum(), pair.iter().any(|b| b.1));
        levels.push(levels.last()?.chunks(2).map(pair).collect());
    }
    let mut at = levels.pop()?.first().filter(|whole| whole.1).map(|_| 0)?;
    for level in levels.iter().rev() {
        let halves = 2 * at..(2 * at + 2).min(level.len());
        at = halves.filter(|half| level[*half].1).min_by_key(|half| level[*half].0)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    #[test]
    fn a_choice_has_distinct_free_cores_and_buddies_lie_in_one_block() {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let is_free: Vec<bool> = (0..1 + random.below(40)).map(|_| random.below(3) > 0).collect();
            let machine_of: Vec<usize> = (0..is_free.len()).map(|core| core / 4).collect();
            let limits: Vec<u64> = (0..10).map(|_| random.less_than(9)).collect();
            let offer = Offer { is_free: &is_free, machine_of: &machine_of, limits: &limits };
            // The oracle: what a block has, summed over its machines.
            let count = |block: Range<usize>| -> u64 {
                (0..10)
                    .map(|machine| {
                        let free =
                            block.clone().filter(|core| is_free[*core] && machine_of[*core] == machine);
                        limits[machine].min(free.count() as u64)
                    })
                    .sum()
            };
            let ranks = 1 + random.below(is_free.len());
            let size = ranks.next_power_of_two();
            let block = |start: usize| start..(start + size).min(is_free.len());
            let enough = |block: Range<usize>| count(block) >= ranks as u64;
            let first = Packing::FirstFit.choose(&offer, ranks);
            assert_eq!(first.is_some(), enough(0..is_free.len()));
            let buddy = Packing::Buddy.choose(&offer, ranks);
            assert_eq!(buddy.is_some(), (0..is_free.len()).step_by(size).any(|start| enough(block(start))));
            for cores in [&first, &buddy].into_iter().flatten() {
                assert_eq!(cores.len(), ranks);
                assert!(cores.windows(2).all(|pair| pair[0] < pair[1]));
                assert!(cores.iter().all(|core| is_free[core.0]));
                for (machine, limit) in limits.iter().enumerate() {
                    let there = cores.iter().filter(|core| machine_of[core.0] == machine).count();
                    assert!(there as u64 <= *limit);
                }
            }
            if let Some(cores) = buddy {
                assert_eq!(cores[0].0 / size, cores[ranks - 1].0 / size);
            }
        }
    }

    #[test]
    fn a_buddy_leaves_large_blocks_whole() {
        let is_free = [true, true, true, true, false, true, true, true];
        let offer = Offer { is_free: &is_free, machine_of: &[0; 8], limits: &[8] };
        let choose = |ranks| Packing::Buddy.choose(&offer, ranks).unwrap();
        assert_eq!(choose(1), [Core(5)]);
        assert_eq!(choose(3), [Core(5), Core(6), Core(7)]);
        assert_eq!(choose(4), [0, 1, 2, 3].map(Core));
    }
}

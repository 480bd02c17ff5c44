//! Cycles: what has come since an identifier will come again after it. Single-cycle, Tag-cycle and
//! Tag-bettercycle.

use super::bounded::BoundedMap;
use super::tag::MOST_SITES;
use super::{Identifier, Predictor, Site};

/// The longest cycle that is looked for; after so many identifiers the search begins anew.
pub const LONGEST: usize = 1 << 14;
/// The same where each site has its own.
pub const LONGEST_OF_SITE: usize = 1 << 10;
/// Identifiers in all stored cycles of [`TagBetterCycle`]. If there are more, it forgets them.
pub const MOST_STORED: usize = 1 << 20;

/// A sequence that grows until its first identifier comes again, and is then expected to repeat.
#[derive(Clone, Debug, Default)]
struct Machine {
    /// While it grows: what has come. Then: the cycle.
    sequence: Vec<Identifier>,
    /// The one of the cycle that is expected next; None while the sequence grows.
    next: Option<usize>,
}

/// What an identifier has done to a machine.
enum Step {
    Nothing,
    /// The cycle is closed.
    Closed,
    /// The cycle is broken. The identifier has not been taken yet.
    Broken,
}

impl Machine {
    fn predict(&self) -> Option<Identifier> {
        self.next.map(|next| self.sequence[next])
    }

    fn step(&mut self, identifier: Identifier, longest: usize) -> Step {
        match self.next {
            Some(next) if self.sequence[next] == identifier => {
                self.next = Some((next + 1) % self.sequence.len());
                Step::Nothing
            }
            Some(_) => Step::Broken,
            None if self.sequence.first() == Some(&identifier) => {
                self.next = Some(1 % self.sequence.len());
                Step::Closed
            }
            None => {
                if self.sequence.len() == longest {
                    self.sequence.clear();
                }
                self.sequence.push(identifier);
                Step::Nothing
            }
        }
    }

    /// Begins anew with this identifier.
    fn begin(&mut self, identifier: Identifier) {
        self.next = None;
        self.sequence.clear();
        self.sequence.push(identifier);
    }

    /// Expects a known cycle, whose first identifier has just come.
    fn adopt(&mut self, cycle: &[Identifier]) {
        self.sequence.clear();
        self.sequence.extend_from_slice(cycle);
        self.next = Some(1 % cycle.len());
    }
}

/// One cycle for all receives, whatever their sites.
#[derive(Clone, Debug, Default)]
pub struct SingleCycle(Machine);

impl Predictor for SingleCycle {
    fn predict(&self, _: Site) -> Option<Identifier> {
        self.0.predict()
    }

    fn learn(&mut self, _: Site, identifier: Identifier) {
        if let Step::Broken = self.0.step(identifier, LONGEST) {
            self.0.begin(identifier);
        }
    }
}

/// One cycle for each site.
#[derive(Clone, Debug, Default)]
pub struct TagCycle {
    sites: BoundedMap<Machine, MOST_SITES>,
}

impl Predictor for TagCycle {
    fn predict(&self, site: Site) -> Option<Identifier> {
        self.sites.get(site)?.predict()
    }

    fn learn(&mut self, site: Site, identifier: Identifier) {
        let Some(machine) = self.sites.get_or_insert(site) else { return };
        if let Step::Broken = machine.step(identifier, LONGEST_OF_SITE) {
            machine.begin(identifier);
        }
    }
}

/// One cycle for each site at a time. Where it breaks with an identifier that has begun a cycle before, that
/// cycle is expected again.
#[derive(Clone, Debug, Default)]
pub struct TagBetterCycle {
    sites: BoundedMap<WithStore, MOST_SITES>,
    /// Identifiers in all stores.
    stored: usize,
}

#[derive(Clone, Debug, Default)]
struct WithStore {
    machine: Machine,
    /// The latest cycle of each first identifier.
    cycles: BoundedMap<Vec<Identifier>, LONGEST_OF_SITE>,
}

impl Predictor for TagBetterCycle {
    fn predict(&self, site: Site) -> Option<Identifier> {
        self.sites.get(site)?.machine.predict()
    }

    fn learn(&mut self, site: Site, identifier: Identifier) {
        let Some(WithStore { machine, cycles }) = self.sites.get_or_insert(site) else { return };
        match machine.step(identifier, LONGEST_OF_SITE) {
            Step::Nothing => {}
            Step::Closed => {
                if let Some(cycle) = cycles.get_or_insert(identifier) {
                    self.stored -= cycle.len();
                    cycle.clone_from(&machine.sequence);
                    self.stored += cycle.len();
                }
            }
            Step::Broken => match cycles.get(identifier) {
                Some(cycle) => machine.adopt(cycle),
                None => machine.begin(identifier),
            },
        }
        if self.stored > MOST_STORED {
            self.sites.clear();
            self.stored = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;

    fn predictions(predictor: &mut impl Predictor, sequence: &[u64]) -> Vec<Option<u64>> {
        let step = |it: &u64| {
            let foreseen = predictor.predict(0);
            predictor.learn(0, *it);
            foreseen
        };
        sequence.iter().map(step).collect()
    }

    #[test]
    fn a_single_cycle_is_foreseen_after_its_first_identifier_has_come_again() {
        let foreseen = predictions(&mut SingleCycle::default(), &[1, 2, 3, 1, 2, 3, 1]);
        assert_eq!(foreseen, [None, None, None, None, Some(2), Some(3), Some(1)]);
        let foreseen = predictions(&mut SingleCycle::default(), &[5, 5, 5]);
        assert_eq!(foreseen, [None, None, Some(5)]);
    }

    #[test]
    fn a_periodic_sequence_misses_one_period_and_one() {
        for period in [1, 2, 7, 100] {
            let receives: Vec<(u64, u64)> = (0..1000).map(|it| (0, it % period)).collect();
            let score = Score::of(&mut SingleCycle::default(), &receives);
            assert_eq!((score.hits, score.wrong), (1000 - period - 1, 0), "period {period}");
        }
    }

    #[test]
    fn a_broken_single_cycle_begins_anew_with_what_has_broken_it() {
        // 9 breaks the cycle 1 2: the new one begins with 9, and closes only when that comes again.
        let foreseen = predictions(&mut SingleCycle::default(), &[1, 2, 1, 2, 9, 1, 2, 1, 9, 1, 2]);
        let begins = [None, None, None, Some(2), Some(1), None, None, None, None, Some(1), Some(2)];
        assert_eq!(foreseen, begins);
        // An identifier that never comes again blinds it for ever.
        let receives: Vec<(u64, u64)> = (0..100).map(|it| (0, if it == 0 { 77 } else { it % 3 })).collect();
        assert_eq!(Score::of(&mut SingleCycle::default(), &receives).hits, 0);
        assert!(Score::of(&mut TagBetterCycle::default(), &receives).hits == 0);
    }

    #[test]
    fn cycles_of_sites_do_not_disturb_each_other() {
        // Two sites with periods 2 and 3, one after the other: together a period of 12.
        let receives: Vec<(u64, u64)> =
            (0..240).map(|it| if it % 2 == 0 { (1, it / 2 % 2) } else { (2, 10 + it / 2 % 3) }).collect();
        assert_eq!(Score::of(&mut TagCycle::default(), &receives).hits, 240 - 3 - 4);
        let together = Score::of(&mut SingleCycle::default(), &receives);
        assert!(
            together.hits < 240 / 2,
            "the first identifier comes again before the period ends: {together:?}"
        );
    }

    #[test]
    fn a_better_cycle_knows_those_of_before() {
        // 1 2 repeats, then 3 4, then 1 2 again: the third time both are known.
        let round = [1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4];
        let sequence: Vec<u64> = round.iter().cycle().take(36).copied().collect();
        let better = predictions(&mut TagBetterCycle::default(), &sequence);
        // In the third round only the two changes are not foreseen.
        let third: Vec<_> = sequence[24..].iter().zip(&better[24..]).collect();
        let hits = third.iter().filter(|(it, foreseen)| **foreseen == Some(**it)).count();
        assert_eq!(hits, 10);
        let plain = predictions(&mut TagCycle::default(), &sequence);
        let hits = sequence[24..].iter().zip(&plain[24..]).filter(|(it, foreseen)| **foreseen == Some(**it));
        assert!(hits.count() < 10);
    }

    #[test]
    fn memory_is_bounded_whatever_comes() {
        let (mut single, mut better) = (SingleCycle::default(), TagBetterCycle::default());
        for it in 0..3_000_000_u64 {
            single.learn(0, it);
            // Each pair closes a cycle with a new first identifier at some site.
            better.learn(it % 5000, it / 20_000);
        }
        assert!(single.0.sequence.capacity() <= 2 * LONGEST);
        assert!(better.stored <= MOST_STORED + LONGEST_OF_SITE);
    }
}

//! Longest context: what followed the last four identifiers the last time, else the last two, else the last.

use super::bounded::mix;
use super::{Identifier, Predictor, Site};

/// The lengths of contexts, the longest first.
const ORDERS: [usize; 3] = [4, 2, 1];
/// Entries for each length: a power of two.
const ENTRIES: usize = 1 << 12;

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Tells contexts apart that have the same entry; 0: it is empty.
    context: u64,
    follows: Identifier,
}

/// What followed contexts. A context takes the entry of another one that has the same place.
#[derive(Clone, Debug)]
pub struct LongestContext {
    tables: [Vec<Entry>; ORDERS.len()],
    /// The latest identifiers, the last one first.
    recent: [Identifier; ORDERS[0]],
    seen: usize,
}

impl Default for LongestContext {
    fn default() -> Self {
        let tables = std::array::from_fn(|_| vec![Entry::default(); ENTRIES]);
        LongestContext { tables, recent: [0; ORDERS[0]], seen: 0 }
    }
}

impl LongestContext {
    /// The latest identifiers as one number that is not 0; None if there were not so many yet.
    fn context(&self, order: usize) -> Option<u64> {
        let of = |recent: &[Identifier]| recent.iter().fold(1, |hash, it| mix(hash ^ mix(*it + 1))).max(1);
        (self.seen >= order).then(|| of(&self.recent[..order]))
    }
}

impl Predictor for LongestContext {
    fn predict(&self, _: Site) -> Option<Identifier> {
        ORDERS.iter().zip(&self.tables).find_map(|(order, table)| {
            let context = self.context(*order)?;
            let entry = table[context as usize % ENTRIES];
            (entry.context == context).then_some(entry.follows)
        })
    }

    fn learn(&mut self, _: Site, identifier: Identifier) {
        for (at, order) in ORDERS.into_iter().enumerate() {
            if let Some(context) = self.context(order) {
                self.tables[at][context as usize % ENTRIES] = Entry { context, follows: identifier };
            }
        }
        self.recent.rotate_right(1);
        self.recent[0] = identifier;
        self.seen = (self.seen + 1).min(ORDERS[0]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;

    #[test]
    fn it_learns_a_period_although_the_first_identifier_never_comes_again() {
        let receives: Vec<(u64, u64)> = (0..1000).map(|it| (0, if it == 0 { 77 } else { it % 7 })).collect();
        let score = Score::of(&mut LongestContext::default(), &receives);
        assert!(score.hits >= 1000 - 10, "{score:?}");
    }

    #[test]
    fn what_follows_depends_on_more_than_the_last_one() {
        // 1 is followed by 2 and by 3 in turns, depending on what was before it.
        let round = [5, 1, 2, 6, 1, 3];
        let receives: Vec<(u64, u64)> = (0..600).map(|it| (0, round[it % 6])).collect();
        let score = Score::of(&mut LongestContext::default(), &receives);
        assert!(score.hits >= 590, "{score:?}");
    }
}

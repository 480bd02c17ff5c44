//! The Tag predictor: a site posts the same receive as the last time.

use super::bounded::BoundedMap;
use super::{Identifier, Predictor, Site};

/// Programs with more sites than that are rare. Those beyond are not foreseen.
pub const MOST_SITES: usize = 4096;

/// The last identifier of each site.
#[derive(Clone, Debug, Default)]
pub struct Tag {
    last: BoundedMap<Identifier, MOST_SITES>,
}

impl Predictor for Tag {
    fn predict(&self, site: Site) -> Option<Identifier> {
        self.last.get(site).copied()
    }

    fn learn(&mut self, site: Site, identifier: Identifier) {
        if let Some(last) = self.last.get_or_insert(site) {
            *last = identifier;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Score;

    #[test]
    fn sites_do_not_disturb_each_other() {
        let receives = [(1, 7), (2, 8), (1, 7), (2, 9), (1, 7), (2, 9)];
        assert_eq!(Score::of(&mut Tag::default(), &receives), Score { receives: 6, hits: 3, wrong: 1 });
    }
}

//! The values that ranks give each other at a barrier, on their way up.

use super::messages::Values;
use std::collections::BTreeMap;

/// Who is in a barrier, of this host and below it, and what they have put.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    here: Option<Values>,
    below: Vec<Option<Values>>,
}

impl Barrier {
    pub(super) fn new(children: usize) -> Barrier {
        Barrier { here: None, below: vec![None; children] }
    }

    /// All ranks here are in it.
    pub(super) fn enter(&mut self, values: Values) {
        self.here = Some(values);
    }

    /// All ranks of a child, and below it, are in it.
    pub(super) fn enter_below(&mut self, child: usize, values: Values) {
        self.below[child] = Some(values);
    }

    /// All values, ordered by their keys, if everybody is in it; it begins anew then.
    ///
    /// `has_ranks`: whether ranks run here.
    pub(super) fn complete(&mut self, has_ranks: bool) -> Option<Values> {
        let is_complete = (!has_ranks || self.here.is_some()) && self.below.iter().all(Option::is_some);
        if !is_complete || self.below.is_empty() && !has_ranks {
            return None;
        }
        let mut all: BTreeMap<String, String> = self.here.take().into_iter().flatten().collect();
        for values in &mut self.below {
            all.extend(values.take().into_iter().flatten());
        }
        Some(all.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(keys: &[&str]) -> Values {
        keys.iter().map(|key| (key.to_string(), "x".to_string())).collect()
    }

    #[test]
    fn a_barrier_is_complete_when_all_are_in_it_and_begins_anew() {
        let mut barrier = Barrier::new(2);
        barrier.enter_below(1, values(&["c", "a"]));
        barrier.enter(values(&["b"]));
        assert_eq!(barrier.complete(true), None);
        barrier.enter_below(0, values(&[]));
        assert_eq!(barrier.complete(true), Some(values(&["a", "b", "c"])));
        assert_eq!(barrier.complete(true), None);
    }

    #[test]
    fn who_has_no_ranks_waits_for_those_below_alone() {
        let mut barrier = Barrier::new(1);
        barrier.enter_below(0, values(&["a"]));
        assert_eq!(barrier.clone().complete(true), None, "ranks here");
        assert_eq!(barrier.complete(false), Some(values(&["a"])));
        assert_eq!(Barrier::new(0).complete(false), None, "no rank is in it");
    }
}

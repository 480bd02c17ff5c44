//! Symbolic values: which contributions were combined, in which order and grouping.

use std::collections::HashMap;

/// A value. Two terms are equal exactly if they were computed in the same way from the same
/// contributions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Term(u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Origin {
    Item { rank: u32, element: u32, epoch: u64 },
    Pair { left: Term, right: Term },
}

#[derive(Clone, Debug)]
struct TermFacts {
    origin: Origin,
    /// Ranks that contributed, from left to right.
    ranks: Vec<u32>,
    /// The element and epoch of the contributions, if they agree.
    element: Option<(u32, u64)>,
    /// Whether the grouping is x ∘ (y ∘ (z ∘ …)).
    fold: bool,
}

/// All values of an execution.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    entries: Vec<TermFacts>,
    known: HashMap<Origin, Term>,
}

impl Terms {
    /// What a rank contributes as an element of its input.
    pub fn item(&mut self, rank: u32, element: u32, epoch: u64) -> Term {
        self.add(Origin::Item { rank, element, epoch }, || (vec![rank], Some((element, epoch)), true))
    }

    /// `left ∘ right`.
    pub fn pair(&mut self, left: Term, right: Term) -> Term {
        let origin = Origin::Pair { left, right };
        if let Some(term) = self.known.get(&origin) {
            return *term;
        }
        let (l, r) = (&self.entries[left.0 as usize], &self.entries[right.0 as usize]);
        let ranks = [l.ranks.as_slice(), &r.ranks].concat();
        let element = if l.element == r.element { l.element } else { None };
        let fold = l.ranks.len() == 1 && r.fold;
        self.add(origin, || (ranks, element, fold))
    }

    fn add(&mut self, origin: Origin, facts: impl FnOnce() -> (Vec<u32>, Option<(u32, u64)>, bool)) -> Term {
        if let Some(term) = self.known.get(&origin) {
            return *term;
        }
        let term = Term(self.entries.len() as u32);
        let (ranks, element, fold) = facts();
        self.entries.push(TermFacts { origin, ranks, element, fold });
        self.known.insert(origin, term);
        term
    }

    /// Ranks that contributed, from left to right.
    pub fn ranks(&self, term: Term) -> &[u32] {
        &self.entries[term.0 as usize].ranks
    }

    /// The element of the inputs and the epoch. None if contributions of several were combined.
    pub fn element(&self, term: Term) -> Option<(u32, u64)> {
        self.entries[term.0 as usize].element
    }

    /// Whether the grouping is x ∘ (y ∘ (z ∘ …)).
    pub fn is_fold(&self, term: Term) -> bool {
        self.entries[term.0 as usize].fold
    }

    /// The term as text: `(x0[3] of epoch 1 ∘ x1[3] of epoch 1)`.
    pub fn show(&self, term: Term) -> String {
        match self.entries[term.0 as usize].origin {
            Origin::Item { rank, element, epoch } => format!("x{rank}[{element}] of epoch {epoch}"),
            Origin::Pair { left, right } => format!("({} ∘ {})", self.show(left), self.show(right)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_computations_give_equal_terms() {
        let mut terms = Terms::default();
        let [a, b, c] = [0, 1, 2].map(|rank| terms.item(rank, 5, 1));
        let (ab, bc) = (terms.pair(a, b), terms.pair(b, c));
        let (left, right) = (terms.pair(ab, c), terms.pair(a, bc));
        assert_eq!(terms.pair(a, bc), right);
        assert_ne!(left, right);
        assert_eq!((terms.ranks(left), terms.ranks(right)), (&[0, 1, 2][..], &[0, 1, 2][..]));
        assert_eq!((terms.is_fold(left), terms.is_fold(right)), (false, true));
        assert_eq!(terms.element(right), Some((5, 1)));
        let other = terms.item(0, 6, 1);
        let mixed = terms.pair(other, b);
        assert_eq!(terms.element(mixed), None);
    }
}

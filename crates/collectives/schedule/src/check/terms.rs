//! Symbolic values: which contributions were combined, in which order, grouped how.

use std::collections::HashMap;

/// A value. Two are equal exactly if they were computed in the same way from the same contributions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Term(u32);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Made {
    Item { rank: u32, element: u32, epoch: u64 },
    Pair { left: Term, right: Term },
}

#[derive(Clone, Debug)]
struct Entry {
    made: Made,
    /// Ranks that contributed, from left to right.
    ranks: Vec<u32>,
    /// Of the contributions, if they agree.
    element: Option<(u32, u64)>,
    /// Whether it is grouped x ∘ (y ∘ (z ∘ …)).
    fold: bool,
}

/// All values of a run.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    entries: Vec<Entry>,
    known: HashMap<Made, Term>,
}

impl Terms {
    /// What a rank contributes as an element of its input.
    pub fn item(&mut self, rank: u32, element: u32, epoch: u64) -> Term {
        self.add(Made::Item { rank, element, epoch }, || (vec![rank], Some((element, epoch)), true))
    }

    /// `left ∘ right`.
    pub fn pair(&mut self, left: Term, right: Term) -> Term {
        let made = Made::Pair { left, right };
        if let Some(term) = self.known.get(&made) {
            return *term;
        }
        let (l, r) = (&self.entries[left.0 as usize], &self.entries[right.0 as usize]);
        let ranks = [l.ranks.as_slice(), &r.ranks].concat();
        let element = if l.element == r.element { l.element } else { None };
        let fold = l.ranks.len() == 1 && r.fold;
        self.add(made, || (ranks, element, fold))
    }

    fn add(&mut self, made: Made, entry: impl FnOnce() -> (Vec<u32>, Option<(u32, u64)>, bool)) -> Term {
        if let Some(term) = self.known.get(&made) {
            return *term;
        }
        let term = Term(self.entries.len() as u32);
        let (ranks, element, fold) = entry();
        self.entries.push(Entry { made, ranks, element, fold });
        self.known.insert(made, term);
        term
    }

    /// Ranks that contributed, from left to right.
    pub fn ranks(&self, term: Term) -> &[u32] {
        &self.entries[term.0 as usize].ranks
    }

    /// Which element of the inputs, of which epoch; nothing if contributions of several were combined.
    pub fn element(&self, term: Term) -> Option<(u32, u64)> {
        self.entries[term.0 as usize].element
    }

    pub fn is_fold(&self, term: Term) -> bool {
        self.entries[term.0 as usize].fold
    }

    /// As in `(x0[3] ∘ x1[3])`.
    pub fn show(&self, term: Term) -> String {
        match self.entries[term.0 as usize].made {
            Made::Item { rank, element, epoch } => format!("x{rank}[{element}] of epoch {epoch}"),
            Made::Pair { left, right } => format!("({} ∘ {})", self.show(left), self.show(right)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_computation_is_the_same_term() {
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

//! The way of deposits: who hands in what, who needs whose, and in which order that is combined.
//!
//! Within a node everybody hands in what others need of it once, in memory that all see, and leaves
//! unless something is owed to it. What that means for an operation is said here and nowhere else: the
//! listed schedules that work so (`reduce-flat`, `scan-flat`, `allreduce-parts`, …) are made of these
//! functions, and the engine calls them for the deposits of a node. They are plain arithmetic: nothing
//! is allocated, and with an operation known beforehand a compiler leaves nothing of them.

use crate::algorithm::Operation;
use crate::problem::Problem;
use crate::step::Rank;
use std::iter::Rev;
use std::ops::Range;

/// Whose deposits a rank needs before it can leave; its own contribution it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Owed {
    /// It leaves at once.
    Nothing,
    One(Rank),
    /// Of all ranks below this one.
    Below(Rank),
    /// Of all others.
    All,
}

impl Owed {
    /// Whether `me`, who is owed this, waits for `other`.
    pub const fn includes(self, me: Rank, other: Rank) -> bool {
        match self {
            Owed::Nothing => false,
            Owed::One(rank) => other.0 == rank.0,
            Owed::Below(rank) => other.0 < rank.0,
            Owed::All => other.0 != me.0,
        }
    }
}

/// A rank's part in an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Handing {
    /// Whether it deposits something. In a barrier nobody does: there, entering is all.
    pub hands_in: bool,
    pub needs: Owed,
}

/// The part of `me` among `ranks`. `root` counts where the operation has one.
///
/// ```
/// use evenkeel_schedule::deposits::{Handing, Owed, handing};
/// use evenkeel_schedule::{Operation, Rank};
/// let of = |me| handing(Operation::Reduce, 4, Rank(2), Rank(me));
/// assert_eq!(of(1), Handing { hands_in: true, needs: Owed::Nothing });
/// assert_eq!(of(2), Handing { hands_in: false, needs: Owed::All });
/// ```
#[inline(always)]
pub const fn handing(operation: Operation, ranks: u32, root: Rank, me: Rank) -> Handing {
    let is_root = me.0 == root.0;
    match operation {
        Operation::Barrier => Handing { hands_in: false, needs: Owed::All },
        Operation::Bcast | Operation::Scatter => {
            Handing { hands_in: is_root, needs: if is_root { Owed::Nothing } else { Owed::One(root) } }
        }
        Operation::Reduce | Operation::Gather => {
            Handing { hands_in: !is_root, needs: if is_root { Owed::All } else { Owed::Nothing } }
        }
        Operation::Scan | Operation::Exscan => Handing {
            hands_in: me.0 + 1 < ranks,
            needs: if me.0 == 0 { Owed::Nothing } else { Owed::Below(me) },
        },
        Operation::Allreduce | Operation::Allgather | Operation::Alltoall | Operation::ReduceScatter => {
            Handing { hands_in: true, needs: Owed::All }
        }
    }
}

/// Whether somebody needs all: then arrivals can be counted at one place, instead of looking at each
/// rank's flag.
#[inline(always)]
pub const fn is_counted(operation: Operation) -> bool {
    !matches!(operation, Operation::Bcast | Operation::Scatter | Operation::Scan | Operation::Exscan)
}

/// How many contributions, those of ranks 0, 1, …, are combined into what `me` gets.
#[inline(always)]
pub const fn operands(operation: Operation, ranks: u32, me: Rank) -> u32 {
    match operation {
        Operation::Scan => me.0 + 1,
        Operation::Exscan => me.0,
        _ => ranks,
    }
}

/// The order in which `n` contributions are combined, at least one: the one to begin with, and those
/// that come to the left of the result so far, one after the other. So x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁)), whoever
/// came late.
///
/// ```
/// let (innermost, rest) = evenkeel_schedule::deposits::folding(4);
/// assert_eq!((innermost, rest.collect::<Vec<_>>()), (3, vec![2, 1, 0]));
/// ```
#[inline(always)]
pub fn folding(n: usize) -> (usize, Rev<Range<usize>>) {
    (n - 1, (0..n - 1).rev())
}

/// Everybody but `me`, the next one first: so that not all go to the same rank at once.
#[inline(always)]
pub fn others(ranks: usize, me: usize) -> impl Iterator<Item = usize> {
    (1..ranks).map(move |distance| (me + distance) % ranks)
}

/// Where the `i`-th of `parts` parts of `elements` begins; the parts differ by at most one element.
#[inline(always)]
pub const fn part(elements: u64, i: u32, parts: u32) -> u64 {
    elements * i as u64 / parts as u64
}

impl Problem {
    /// A rank's part in an operation of this size.
    pub fn handing(&self, operation: Operation, rank: Rank) -> Handing {
        handing(operation, self.ranks, self.root, rank)
    }

    /// Everybody but `rank`, the next one first.
    pub fn others(&self, rank: Rank) -> impl Iterator<Item = Rank> + use<> {
        others(self.ranks as usize, rank.0 as usize).map(|other| Rank(other as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_is_needed_hands_in_and_nobody_else_does() {
        for operation in Operation::ALL.into_iter().filter(|o| *o != Operation::Barrier) {
            for ranks in 1..=9 {
                for root in (0..ranks).map(Rank) {
                    let part = |me| handing(operation, ranks, root, me);
                    let all = || (0..ranks).map(Rank);
                    for me in all() {
                        let needed = all().any(|other| other != me && part(other).needs.includes(other, me));
                        // Alone, one hands in for nobody where all do.
                        assert!(
                            part(me).hands_in == needed || ranks == 1,
                            "{operation:?}, {ranks} ranks, root {root:?}, {me:?}"
                        );
                        assert!(!part(me).needs.includes(me, me));
                    }
                    let somebody = all().any(|me| part(me).needs == Owed::All);
                    assert_eq!(is_counted(operation), somebody, "{operation:?}, {ranks} ranks");
                }
            }
        }
    }

    #[test]
    fn what_is_combined_is_what_is_needed_and_the_own() {
        for operation in [
            Operation::Reduce,
            Operation::Allreduce,
            Operation::ReduceScatter,
            Operation::Scan,
            Operation::Exscan,
        ] {
            for me in (0..5).map(Rank) {
                let needs = handing(operation, 5, Rank(3), me).needs;
                if operation == Operation::Reduce && me != Rank(3) {
                    continue;
                }
                let own = u32::from(operation != Operation::Exscan);
                let needed = (0..5).filter(|other| needs.includes(me, Rank(*other))).count() as u32;
                assert_eq!(operands(operation, 5, me), needed + own, "{operation:?} {me:?}");
            }
        }
    }

    #[test]
    fn others_are_all_others_and_begin_with_the_next() {
        assert_eq!(others(4, 2).collect::<Vec<_>>(), [3, 0, 1]);
        assert_eq!(others(1, 0).count(), 0);
    }
}

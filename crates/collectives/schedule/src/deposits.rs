//! The way of deposits: who hands in what, who needs whose, and in which order that is combined.
//!
//! Within a node everybody hands in what others need of it once, in memory that all see, and leaves
//! unless something is owed to it. What that means for an operation is said here and nowhere else: the
//! listed schedules that work so (`reduce-flat`, `scan-flat`, `allreduce-parts`, …) are made of these
//! functions, and the engine calls them for the deposits of a node. They are plain arithmetic: nothing
//! is allocated, and with an operation known beforehand a compiler leaves nothing of them.

use crate::algorithm::Collective;
use crate::problem::Problem;
use crate::step::Rank;
use std::iter::Rev;
use std::ops::Range;

/// Whose deposits a rank needs before it can leave; its own contribution it has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sources {
    /// It leaves at once.
    Empty,
    One(Rank),
    /// Of all ranks below this one.
    Below(Rank),
    /// Of all others.
    AllOthers,
}

impl Sources {
    /// Whether `me`, who is owed this, waits for `other`.
    pub const fn includes(self, me: Rank, other: Rank) -> bool {
        match self {
            Sources::Empty => false,
            Sources::One(rank) => other.0 == rank.0,
            Sources::Below(rank) => other.0 < rank.0,
            Sources::AllOthers => other.0 != me.0,
        }
    }
}

/// A rank's part in an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Participation {
    /// Whether it deposits something. In a barrier nobody does: there, entering is all.
    pub contributes: bool,
    pub needs: Sources,
}

/// The part of `me` among `ranks`. `root` counts where the operation has one.
///
/// ```
/// use evenkeel_schedule::deposits::{Participation, Sources, participation};
/// use evenkeel_schedule::{Collective, Rank};
/// let of = |me| participation(Collective::Reduce, 4, Rank(2), Rank(me));
/// assert_eq!(of(1), Participation { contributes: true, needs: Sources::Empty });
/// assert_eq!(of(2), Participation { contributes: false, needs: Sources::AllOthers });
/// ```
#[inline(always)]
pub const fn participation(collective: Collective, ranks: u32, root: Rank, me: Rank) -> Participation {
    let is_root = me.0 == root.0;
    match collective {
        Collective::Barrier => Participation { contributes: false, needs: Sources::AllOthers },
        Collective::Bcast | Collective::Scatter => Participation {
            contributes: is_root,
            needs: if is_root { Sources::Empty } else { Sources::One(root) },
        },
        Collective::Reduce | Collective::Gather => Participation {
            contributes: !is_root,
            needs: if is_root { Sources::AllOthers } else { Sources::Empty },
        },
        Collective::Scan | Collective::Exscan => Participation {
            contributes: me.0 + 1 < ranks,
            needs: if me.0 == 0 { Sources::Empty } else { Sources::Below(me) },
        },
        Collective::Allreduce | Collective::Allgather | Collective::Alltoall | Collective::ReduceScatter => {
            Participation { contributes: true, needs: Sources::AllOthers }
        }
    }
}

/// Whether somebody needs all: then arrivals can be counted at one place, instead of looking at each
/// rank's flag.
#[inline(always)]
pub const fn some_rank_needs_all(collective: Collective) -> bool {
    !matches!(collective, Collective::Bcast | Collective::Scatter | Collective::Scan | Collective::Exscan)
}

/// How many contributions, those of ranks 0, 1, …, are combined into what `me` gets.
#[inline(always)]
pub const fn operand_count(collective: Collective, ranks: u32, me: Rank) -> u32 {
    match collective {
        Collective::Scan => me.0 + 1,
        Collective::Exscan => me.0,
        _ => ranks,
    }
}

/// The order in which `n` contributions are combined, at least one: the one to begin with, and those
/// that come to the left of the result so far, one after the other. So x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁)), whoever
/// came late.
///
/// ```
/// let (innermost, rest) = evenkeel_schedule::deposits::fold_order(4);
/// assert_eq!((innermost, rest.collect::<Vec<_>>()), (3, vec![2, 1, 0]));
/// ```
#[inline(always)]
pub fn fold_order(n: usize) -> (usize, Rev<Range<usize>>) {
    (n - 1, (0..n - 1).rev())
}

/// Everybody but `me`, the next one first: so that not all go to the same rank at once.
#[inline(always)]
pub fn others(ranks: usize, me: usize) -> impl Iterator<Item = usize> {
    (1..ranks).map(move |distance| (me + distance) % ranks)
}

impl Problem {
    /// A rank's part in an operation of this size.
    pub fn participation(&self, collective: Collective, rank: Rank) -> Participation {
        participation(collective, self.ranks, self.root, rank)
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
        for collective in Collective::ALL.into_iter().filter(|o| *o != Collective::Barrier) {
            for ranks in 1..=9 {
                for root in (0..ranks).map(Rank) {
                    let part = |me| participation(collective, ranks, root, me);
                    let all = || (0..ranks).map(Rank);
                    for me in all() {
                        let needed = all().any(|other| other != me && part(other).needs.includes(other, me));
                        // Alone, one hands in for nobody where all do.
                        assert!(
                            part(me).contributes == needed || ranks == 1,
                            "{collective:?}, {ranks} ranks, root {root:?}, {me:?}"
                        );
                        assert!(!part(me).needs.includes(me, me));
                    }
                    let somebody = all().any(|me| part(me).needs == Sources::AllOthers);
                    assert_eq!(some_rank_needs_all(collective), somebody, "{collective:?}, {ranks} ranks");
                }
            }
        }
    }

    #[test]
    fn what_is_combined_is_what_is_needed_and_the_own() {
        for collective in [
            Collective::Reduce,
            Collective::Allreduce,
            Collective::ReduceScatter,
            Collective::Scan,
            Collective::Exscan,
        ] {
            for me in (0..5).map(Rank) {
                let needs = participation(collective, 5, Rank(3), me).needs;
                if collective == Collective::Reduce && me != Rank(3) {
                    continue;
                }
                let own = u32::from(collective != Collective::Exscan);
                let needed = (0..5).filter(|other| needs.includes(me, Rank(*other))).count() as u32;
                assert_eq!(operand_count(collective, 5, me), needed + own, "{collective:?} {me:?}");
            }
        }
    }

    #[test]
    fn others_are_all_others_and_begin_with_the_next() {
        assert_eq!(others(4, 2).collect::<Vec<_>>(), [3, 0, 1]);
        assert_eq!(others(1, 0).count(), 0);
    }
}

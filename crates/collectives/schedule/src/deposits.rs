//! What each rank deposits, whose deposits it needs, and in which order deposits are combined.
//!
//! Within a node each rank deposits its contribution once, in memory that all ranks can read, and leaves
//! as soon as it has what it needs itself. This module is the only definition of what that means for each
//! collective. The listed algorithms that work this way (`reduce-flat`, `scan-flat`, `allreduce-parts`,
//! …) are made of these functions, and the engine calls them for the deposits of a node. They are plain
//! arithmetic and allocate nothing. When the collective is a constant, a compiler reduces them to
//! constants.

use crate::collective::Collective;
use crate::problem::Problem;
use crate::step::Rank;
use std::iter::Rev;
use std::ops::Range;

/// The other ranks whose deposits a rank needs before it can leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sources {
    /// None: the rank leaves at once.
    Empty,
    /// One rank.
    One(Rank),
    /// All ranks below this one.
    Below(Rank),
    /// All other ranks.
    AllOthers,
}

impl Sources {
    /// Whether `me`, which needs these sources, waits for `other`.
    pub const fn includes(self, me: Rank, other: Rank) -> bool {
        match self {
            Sources::Empty => false,
            Sources::One(rank) => other.0 == rank.0,
            Sources::Below(rank) => other.0 < rank.0,
            Sources::AllOthers => other.0 != me.0,
        }
    }
}

/// What a rank gives to a collective and what it needs from it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Participation {
    /// Whether it deposits something. In a barrier no rank does: entering is all that counts.
    pub contributes: bool,
    /// The ranks whose deposits it waits for.
    pub needs: Sources,
}

/// The participation of rank `me` among `ranks`. `root` matters for collectives that have a root.
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

/// Whether some rank needs the deposits of all others. Then ranks can count arrivals in one place instead
/// of looking at the flag of each rank.
#[inline(always)]
pub const fn some_rank_needs_all(collective: Collective) -> bool {
    !matches!(collective, Collective::Bcast | Collective::Scatter | Collective::Scan | Collective::Exscan)
}

/// How many contributions are combined into the result of rank `me`: those of ranks 0, 1, … in order.
#[inline(always)]
pub const fn operand_count(collective: Collective, ranks: u32, me: Rank) -> u32 {
    match collective {
        Collective::Scan => me.0 + 1,
        Collective::Exscan => me.0,
        _ => ranks,
    }
}

/// The order in which `n` contributions (at least one) are combined: the index to begin with, then those
/// that become the left operand of the result so far, one after the other. This gives
/// x₀ ∘ (x₁ ∘ (… ∘ xₙ₋₁)), whichever rank arrived last.
///
/// ```
/// let (innermost, rest) = evenkeel_schedule::deposits::fold_order(4);
/// assert_eq!((innermost, rest.collect::<Vec<_>>()), (3, vec![2, 1, 0]));
/// ```
#[inline(always)]
pub fn fold_order(n: usize) -> (usize, Rev<Range<usize>>) {
    (n - 1, (0..n - 1).rev())
}

/// All ranks but `me`, beginning with the next one, so that not all ranks address the same rank first.
#[inline(always)]
pub fn others(ranks: usize, me: usize) -> impl Iterator<Item = usize> {
    (1..ranks).map(move |distance| (me + distance) % ranks)
}

impl Problem {
    /// [`participation`] for this number of ranks and this root.
    pub fn participation(&self, collective: Collective, rank: Rank) -> Participation {
        participation(collective, self.ranks, self.root, rank)
    }

    /// All ranks but `rank`, beginning with the next one.
    pub fn others(&self, rank: Rank) -> impl Iterator<Item = Rank> + use<> {
        others(self.ranks as usize, rank.0 as usize).map(|other| Rank(other as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_ranks_that_others_need_contribute() {
        for collective in Collective::ALL.into_iter().filter(|o| *o != Collective::Barrier) {
            for ranks in 1..=9 {
                for root in (0..ranks).map(Rank) {
                    let part = |me| participation(collective, ranks, root, me);
                    let all = || (0..ranks).map(Rank);
                    for me in all() {
                        let needed = all().any(|other| other != me && part(other).needs.includes(other, me));
                        // A single rank contributes where all ranks do, though no other rank needs it.
                        assert!(
                            part(me).contributes == needed || ranks == 1,
                            "{collective:?}, {ranks} ranks, root {root:?}, {me:?}"
                        );
                        assert!(!part(me).needs.includes(me, me));
                    }
                    let one_needs_all = all().any(|me| part(me).needs == Sources::AllOthers);
                    assert_eq!(
                        some_rank_needs_all(collective),
                        one_needs_all,
                        "{collective:?}, {ranks} ranks"
                    );
                }
            }
        }
    }

    #[test]
    fn a_rank_combines_what_it_needs_and_its_own() {
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
    fn others_begin_with_the_next_rank() {
        assert_eq!(others(4, 2).collect::<Vec<_>>(), [3, 0, 1]);
        assert_eq!(others(1, 0).count(), 0);
    }
}

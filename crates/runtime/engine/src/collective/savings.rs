//! What bypass has saved, estimated from times of arrival.

use super::piece::arrival_of;
use crate::clock::{Clock, Ticks};
use crate::comm::part::NodePart;
use evenkeel_segment::Seq;

/// For how long a library without bypass would have held the ranks in a reduction or gather, in all:
/// there a rank waits until all ranks below it in a binomial tree have arrived. To be called by the
/// root of a sampled instance that is complete.
pub(crate) fn saved_ns(part: &NodePart, root: usize, seq: Seq) -> u64 {
    let arrivals: Vec<Ticks> = (0..part.ranks)
        .map(|relative| arrival_of(&part.shared.board, (relative + root) % part.ranks, seq))
        .collect();
    held_ns(part.shared.node.clock(), &arrivals)
}

/// The same from the arrivals, counted from the root.
fn held_ns(clock: Clock, arrivals: &[Ticks]) -> u64 {
    let ranks = arrivals.len();
    let mut complete = arrivals.to_vec();
    let mut bit = 1;
    while bit < ranks {
        for rank in (0..ranks).step_by(2 * bit).filter(|rank| rank + bit < ranks) {
            complete[rank] = complete[rank].max(complete[rank + bit]);
        }
        bit *= 2;
    }
    (1..ranks).map(|rank| clock.ns_between(arrivals[rank], complete[rank])).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_ranks_of_the_tree_wait_for_those_below_them() {
        let held = |arrivals: &[u64]| {
            held_ns(Clock::MONOTONIC, &arrivals.iter().map(|&t| Ticks(t)).collect::<Vec<_>>())
        };
        // In the tree of eight ranks 2 waits for 3, 4 for 5 and 6, 6 for 7.
        assert_eq!(held(&[0, 0, 0, 0, 0, 0, 0, 100]), 100 + 100);
        assert_eq!(held(&[0, 0, 0, 50, 0, 0, 0, 0]), 50);
        assert_eq!(held(&[900, 7, 7, 7, 7]), 0, "the root's own lateness holds no other rank");
    }
}

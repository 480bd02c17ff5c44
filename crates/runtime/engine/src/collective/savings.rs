//! Estimates the time that bypass has saved, from times of arrival.

use super::piece::arrival_of;
use crate::clock::{Clock, Ticks};
use crate::comm::part::NodePart;
use evenkeel_segment::Seq;

/// How long a library without bypass would have blocked the ranks of a reduction or gather, summed over all
/// ranks: in such a library a rank waits until all ranks below it in a binomial tree have arrived. The root
/// of a sampled instance calls this when the instance is complete.
pub(crate) fn saved_ns(part: &NodePart, root: usize, seq: Seq) -> u64 {
    let arrivals: Vec<Ticks> = (0..part.ranks)
        .map(|relative| arrival_of(&part.shared.board, (relative + root) % part.ranks, seq))
        .collect();
    blocked_ns(part.shared.node.clock(), &arrivals)
}

/// The same sum, from the times of arrival in order of rank relative to the root.
fn blocked_ns(clock: Clock, arrivals: &[Ticks]) -> u64 {
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
    fn inner_ranks_of_the_tree_wait_for_the_ranks_below_them() {
        let blocked = |arrivals: &[u64]| {
            blocked_ns(Clock::MONOTONIC, &arrivals.iter().map(|&t| Ticks(t)).collect::<Vec<_>>())
        };
        // In the tree of eight ranks, 2 waits for 3, 4 for 5 and 6, and 6 for 7.
        assert_eq!(blocked(&[0, 0, 0, 0, 0, 0, 0, 100]), 100 + 100);
        assert_eq!(blocked(&[0, 0, 0, 50, 0, 0, 0, 0]), 50);
        assert_eq!(blocked(&[900, 7, 7, 7, 7]), 0, "the root's own lateness blocks no other rank");
    }
}

//! The postal model: a rank can send once in each unit of time, and a message arrives λ units after its
//! sending began.
//!
//! Bar-Noy and Kipnis 1994; as used by Buntinas et al. (CANPC 2000), section 4. In LogP terms the unit
//! is max{o_s, g} and λ = (o_s + L + o_r)/max{o_s, g}.

use std::cmp::Ordering;

/// The position of a rank in a broadcast tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreePosition {
    /// The parent. None for the root, which is rank 0.
    pub parent: Option<u64>,
    /// When the message arrives, in units after the root's first send.
    pub at: f64,
}

/// F(t): how many ranks a broadcast can reach within t units. 1 for t < λ, otherwise F(t − 1) + F(t − λ),
/// saturating at `u64::MAX`.
///
/// # Panics
/// If λ is 0.
pub fn reach(lambda: u32, t: u32) -> u64 {
    assert!(lambda > 0, "a message takes time");
    let lambda = lambda as usize;
    let mut reached: Vec<u64> = Vec::with_capacity(t as usize + 1);
    for now in 0..=t as usize {
        reached.push(if now < lambda { 1 } else { reached[now - 1].saturating_add(reached[now - lambda]) });
    }
    reached[t as usize]
}

/// An optimal broadcast tree for any λ ≥ 1: the rank that can send earliest sends to the next rank. Of
/// ranks that can send at the same time, one that has sent before goes first. Otherwise a tree of four
/// ranks for λ = 2 would not be flat, as it is in the paper.
///
/// Takes O(P log P) time.
///
/// # Panics
/// If λ is less than 1 or not a number: sending cannot take longer than arriving.
pub fn tree(lambda: f64, ranks: u64) -> Vec<TreePosition> {
    assert!(lambda >= 1.0 && lambda.is_finite(), "λ is {lambda}");
    let mut positions = Vec::new();
    let mut senders = std::collections::BinaryHeap::new();
    if ranks > 0 {
        positions.push(TreePosition { parent: None, at: 0.0 });
        senders.push(Sender { free_at: 0.0, has_sent: false, rank: 0 });
    }
    for rank in 1..ranks {
        let sender = senders.pop().expect("the root is always there");
        let at = sender.free_at + lambda;
        positions.push(TreePosition { parent: Some(sender.rank), at });
        senders.push(Sender { free_at: sender.free_at + 1.0, has_sent: true, rank: sender.rank });
        senders.push(Sender { free_at: at, has_sent: false, rank });
    }
    positions
}

/// The time until the last rank of an optimal tree has the message, in units.
pub fn broadcast_time(lambda: f64, ranks: u64) -> f64 {
    tree(lambda, ranks).iter().map(|position| position.at).fold(0.0, f64::max)
}

struct Sender {
    free_at: f64,
    has_sent: bool,
    rank: u64,
}

impl Ord for Sender {
    /// The greatest sender sends next.
    fn cmp(&self, other: &Sender) -> Ordering {
        other
            .free_at
            .total_cmp(&self.free_at)
            .then(self.has_sent.cmp(&other.has_sent))
            .then(other.rank.cmp(&self.rank))
    }
}

impl PartialOrd for Sender {
    fn partial_cmp(&self, other: &Sender) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sender {
    fn eq(&self, other: &Sender) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Sender {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least time over all trees. Each rank may have any earlier rank as its parent, and sends to its
    /// children in order.
    fn by_trying_all(lambda: f64, ranks: u64) -> f64 {
        fn try_from(lambda: f64, ranks: u64, at: &mut Vec<f64>, sent: &mut Vec<u32>, best: &mut f64) {
            if at.len() as u64 == ranks {
                *best = best.min(at.iter().copied().fold(0.0, f64::max));
                return;
            }
            for parent in 0..at.len() {
                at.push(at[parent] + f64::from(sent[parent]) + lambda);
                sent[parent] += 1;
                sent.push(0);
                try_from(lambda, ranks, at, sent, best);
                at.pop();
                sent.pop();
                sent[parent] -= 1;
            }
        }
        let mut best = f64::INFINITY;
        try_from(lambda, ranks, &mut vec![0.0], &mut vec![0], &mut best);
        best
    }

    #[test]
    fn no_tree_is_faster() {
        for ranks in 1..=8 {
            for lambda in [1.0, 1.5, 2.0, 2.75, 3.0, 4.0, 5.5, 8.0] {
                assert_eq!(
                    broadcast_time(lambda, ranks),
                    by_trying_all(lambda, ranks),
                    "{ranks} ranks, λ = {lambda}"
                );
            }
        }
    }

    #[test]
    fn trees_reach_as_many_ranks_as_the_recurrence_says() {
        for lambda in 1..=9 {
            for ranks in 2..=300 {
                let time = broadcast_time(f64::from(lambda), ranks) as u32;
                assert!(
                    reach(lambda, time) >= ranks && reach(lambda, time - 1) < ranks,
                    "{ranks} ranks, λ = {lambda}"
                );
            }
        }
        assert_eq!((0..8).map(|t| reach(1, t)).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64, 128]);
        assert_eq!((0..8).map(|t| reach(2, t)).collect::<Vec<_>>(), [1, 1, 2, 3, 5, 8, 13, 21]);
        assert_eq!(reach(1, 200), u64::MAX);
    }

    #[test]
    fn the_tree_of_four_ranks_with_lambda_2_is_flat() {
        let parents: Vec<_> = tree(2.0, 4).iter().map(|p| p.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(0), Some(0)]);
        assert!(tree(2.0, 0).is_empty());
        assert_eq!(broadcast_time(3.0, 1), 0.0);
    }

    #[test]
    fn lambda_1_gives_the_binomial_tree_and_a_large_lambda_a_flat_one() {
        let binomial = tree(1.0, 16);
        assert_eq!(broadcast_time(1.0, 16), 4.0);
        assert_eq!(binomial.iter().filter(|p| p.parent == Some(0)).count(), 4);
        assert!(tree(20.0, 16).iter().skip(1).all(|p| p.parent == Some(0)));
    }
}

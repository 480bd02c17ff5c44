//! The postal model: a rank can send once per unit of time, and what it sends arrives λ units after the
//! sending began.
//!
//! Bar-Noy and Kipnis 1994; as used by Buntinas et al. (CANPC 2000), section 4. In LogP terms the unit
//! is max{o_s, g} and λ = (o_s + L + o_r)/max{o_s, g}.

use std::cmp::Ordering;

/// A rank's place in a broadcast tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreePosition {
    /// None for the root, which is rank 0.
    pub parent: Option<u64>,
    /// When the message is there, in units from the root's first send.
    pub at: f64,
}

/// F(t): how many ranks a broadcast can have reached t units after its start; 1 for t < λ, else F(t −
/// 1) + F(t − λ). At most `u64::MAX`.
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

/// An optimal broadcast tree for any λ ≥ 1: the rank that can send soonest sends to the next. Of ranks
/// that could at the same time the one that has sent before goes first; otherwise a tree of four for λ
/// = 2 would not be flat, as the paper has it.
///
/// O(P log P).
///
/// # Panics
/// If λ is less than 1 or not a number: a sender cannot be busier than the way is long.
pub fn tree(lambda: f64, ranks: u64) -> Vec<TreePosition> {
    assert!(lambda >= 1.0 && lambda.is_finite(), "λ is {lambda}");
    let mut places = Vec::new();
    let mut senders = std::collections::BinaryHeap::new();
    if ranks > 0 {
        places.push(TreePosition { parent: None, at: 0.0 });
        senders.push(Sender { free_at: 0.0, has_sent: false, rank: 0 });
    }
    for rank in 1..ranks {
        let sender = senders.pop().expect("the root is always there");
        let at = sender.free_at + lambda;
        places.push(TreePosition { parent: Some(sender.rank), at });
        senders.push(Sender { free_at: sender.free_at + 1.0, has_sent: true, rank: sender.rank });
        senders.push(Sender { free_at: at, has_sent: false, rank });
    }
    places
}

/// When the last rank of an optimal tree has the message, in units.
pub fn broadcast_time(lambda: f64, ranks: u64) -> f64 {
    tree(lambda, ranks).iter().map(|place| place.at).fold(0.0, f64::max)
}

struct Sender {
    free_at: f64,
    has_sent: bool,
    rank: u64,
}

impl Ord for Sender {
    /// The greatest is the one to send next.
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

    /// The least time over all trees: every rank may have any earlier one as its parent, and sends to its
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
    fn trees_are_as_fast_as_the_best_of_all_trees() {
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
    fn trees_reach_what_the_recurrence_says() {
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
    fn four_ranks_at_lambda_two_are_flat() {
        let parents: Vec<_> = tree(2.0, 4).iter().map(|p| p.parent).collect();
        assert_eq!(parents, [None, Some(0), Some(0), Some(0)]);
        assert!(tree(2.0, 0).is_empty());
        assert_eq!(broadcast_time(3.0, 1), 0.0);
    }

    #[test]
    fn a_short_way_gives_the_binomial_tree_and_a_long_one_the_flat() {
        let binomial = tree(1.0, 16);
        assert_eq!(broadcast_time(1.0, 16), 4.0);
        assert_eq!(binomial.iter().filter(|p| p.parent == Some(0)).count(), 4);
        assert!(tree(20.0, 16).iter().skip(1).all(|p| p.parent == Some(0)));
    }
}

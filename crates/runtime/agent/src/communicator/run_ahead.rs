//! How far the nodes are with the collectives of one numbering: what is sent ahead to a node that is
//! behind lies in its memory, so there is a limit.
//!
//! No node takes up a collective before all have taken up the one [`AHEAD`] before it.

use crate::communicator::global_minimum::{Told, Watermark};

/// Collectives that a node may take up before another has.
const AHEAD: u64 = 64;
/// A node says how far it is once in so many.
const STEP: u64 = 16;

/// One node's part.
#[derive(Debug)]
pub struct Progress {
    /// Number of the next collective to be taken up.
    next: u64,
    /// How many all nodes have taken up, in steps.
    taken: Watermark,
}

impl Progress {
    /// `taken`: this node's part in finding out how far all are.
    pub fn new(taken: Watermark) -> Progress {
        Progress { next: 0, taken }
    }

    /// Number of the next collective to be taken up.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether others have to take up more before this node may.
    pub fn is_ahead(&self) -> bool {
        self.next >= self.taken.all() + AHEAD
    }

    /// The next one has been taken up, which `is_ahead` has to allow.
    pub fn take_up(&mut self) {
        debug_assert!(!self.is_ahead());
        self.next += 1;
    }

    /// Tells the others, when it is time to.
    pub fn tell(&mut self, tell: impl FnMut(Told)) {
        self.taken.enter(self.next / STEP * STEP, tell);
    }

    /// Another node, by its position, says how far it is.
    pub fn hear(&mut self, from: usize, told: Told, tell: impl FnMut(Told)) {
        self.taken.hear(from, told.slot, told.count, tell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::global_minimum::Way;
    use evenkeel_random::Random;

    /// Nodes that take up all they may while one of them does nothing for long, and messages in any order,
    /// now and then twice: nobody is further ahead than the rule says, and all get to the end.
    #[test]
    fn nobody_is_further_ahead_than_others_can_hold() {
        let mut dice = Random::new(11);
        for way in [Way::Tree, Way::Dissemination] {
            for nodes in 2..=9 {
                let mut all: Vec<Progress> =
                    (0..nodes).map(|me| Progress::new(Watermark::new(me, nodes, way))).collect();
                let mut flying: Vec<(usize, Told)> = Vec::new();
                let (last, mut furthest) = (1000, 0);
                while all.iter().any(|node| node.next() < last) {
                    // Who is slow changes only now and then, so that the others come to the limit.
                    let slow = dice.below(nodes);
                    for _ in 0..2000 {
                        let node = dice.below(nodes);
                        if node != slow && !all[node].is_ahead() && all[node].next() < last {
                            all[node].take_up();
                            all[node].tell(|told| flying.push((node, told)));
                        }
                        if !flying.is_empty() && dice.below(2) == 0 {
                            let at = dice.below(flying.len());
                            let (from, told) =
                                if dice.below(5) == 0 { flying[at] } else { flying.swap_remove(at) };
                            let mut said = Vec::new();
                            all[told.to].hear(from, told, |told| said.push(told));
                            flying.extend(said.into_iter().map(|said| (told.to, said)));
                        }
                        let numbers = || all.iter().map(Progress::next);
                        let ahead = numbers().max().unwrap() - numbers().min().unwrap();
                        assert!(ahead <= AHEAD, "{way:?}, {nodes} nodes: {ahead} ahead of another");
                        furthest = furthest.max(ahead);
                    }
                }
                assert_eq!(furthest, AHEAD, "{way:?}, {nodes} nodes: the limit was never reached");
            }
        }
    }
}

//! How far one node may run ahead of the others with the collectives of one call stream.
//!
//! What is sent to a node that has not begun a collective lies in that node's memory, so there is a limit: no
//! node begins a collective before all nodes have begun the one [`MAX_AHEAD`] before it.

use crate::communicator::global_minimum::{CountMessage, GlobalMinimum};
use crate::message::Count;

/// How many collectives a node may begin before another node has begun the first of them.
const MAX_AHEAD: u64 = 64;
/// A node reports how many it has begun once in so many.
const REPORT_EVERY: u64 = 16;

/// One node's view of how far all nodes are.
#[derive(Debug)]
pub struct RunAheadLimit {
    /// Number of the next collective to begin.
    next: u64,
    /// How many all nodes have begun, in steps of [`REPORT_EVERY`].
    begun_by_all: GlobalMinimum,
}

impl RunAheadLimit {
    /// `begun_by_all`: this node's part in finding out how many collectives all nodes have begun.
    pub fn new(begun_by_all: GlobalMinimum) -> RunAheadLimit {
        RunAheadLimit { next: 0, begun_by_all }
    }

    /// Number of the next collective to begin.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether other nodes have to begin more before this one may.
    pub fn is_reached(&self) -> bool {
        self.next >= self.begun_by_all.get() + MAX_AHEAD
    }

    /// The next one begins here. The limit must not have been reached.
    pub fn begin_next(&mut self) {
        debug_assert!(!self.is_reached());
        self.next += 1;
    }

    /// Reports to the other nodes if it is time to. Adds what is to be sent to `out`.
    pub fn report(&mut self, out: &mut Vec<CountMessage>) {
        self.begun_by_all.raise(self.next / REPORT_EVERY * REPORT_EVERY, out);
    }

    /// Another node has reported. Adds what is to be sent on to `out`.
    pub fn receive(&mut self, from: usize, count: Count, out: &mut Vec<CountMessage>) {
        self.begun_by_all.receive(from, count, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::communicator::global_minimum::Pattern;
    use evenkeel_random::Random;

    const LAST: u64 = 1000;

    /// Nodes that begin all they may while one of them does nothing for long. Messages arrive in any
    /// order, and some of them twice. No node runs further ahead than allowed, and all get to the end.
    fn furthest_ahead(nodes: usize, pattern: Pattern, random: &mut Random) -> u64 {
        let mut all: Vec<RunAheadLimit> =
            (0..nodes).map(|me| RunAheadLimit::new(GlobalMinimum::new(me, nodes, pattern))).collect();
        let mut on_the_way: Vec<(usize, CountMessage)> = Vec::new();
        let mut furthest = 0;
        while all.iter().any(|node| node.next() < LAST) {
            // Another node is slow only now and then, so that the others come to the limit.
            let slow = random.below(nodes);
            for _ in 0..2000 {
                let (node, mut out) = (random.below(nodes), Vec::new());
                if node != slow && !all[node].is_reached() && all[node].next() < LAST {
                    all[node].begin_next();
                    all[node].report(&mut out);
                    on_the_way.extend(out.drain(..).map(|message| (node, message)));
                }
                if !on_the_way.is_empty() && random.below(2) == 0 {
                    let at = random.below(on_the_way.len());
                    let arrives_again = random.below(5) == 0;
                    let (from, message) =
                        if arrives_again { on_the_way[at] } else { on_the_way.swap_remove(at) };
                    all[message.to].receive(from, message.count, &mut out);
                    on_the_way.extend(out.drain(..).map(|next| (message.to, next)));
                }
                let begun = || all.iter().map(RunAheadLimit::next);
                furthest = furthest.max(begun().max().unwrap() - begun().min().unwrap());
            }
        }
        furthest
    }

    #[test]
    fn no_node_runs_further_ahead_than_others_can_hold() {
        let mut random = Random::new(11);
        for pattern in [Pattern::Tree, Pattern::Dissemination] {
            for nodes in 2..=9 {
                // Not more, and the limit was reached.
                assert_eq!(
                    furthest_ahead(nodes, pattern, &mut random),
                    MAX_AHEAD,
                    "{pattern:?}, {nodes} nodes"
                );
            }
        }
    }
}

//! The least of counts that grow on every node: how many barriers all ranks have entered, or how many
//! collectives all nodes have begun.
//!
//! Each node has a count of its own. What is known of all of them is the least. A message carries a number,
//! not an event: a later message makes an earlier one needless, and one that arrives twice or late changes
//! nothing. So ranks that defer barriers and run ahead cost no message for each barrier; one message says how
//! far they are.

use crate::message::Count;

/// How the counts spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// Up a binomial tree and down again: fewest messages.
    Tree,
    /// In round r to the node 2^r further on (dissemination): fewest rounds.
    Dissemination,
}

/// A count for another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountMessage {
    /// Which of the nodes.
    pub to: usize,
    /// The count, and the round that it is of; in a tree, whether it goes up or down.
    pub count: Count,
}

/// Slots of a tree's messages.
const UP: u32 = 0;
const DOWN: u32 = 1;

/// One node's part in finding the least count.
#[derive(Debug)]
pub struct GlobalMinimum {
    me: usize,
    nodes: usize,
    pattern: Pattern,
    /// This node's count.
    own: u64,
    /// Tree: the count of each child, by its bit. Dissemination: what has come in each round.
    received: Vec<u64>,
    /// What has been sent: in each round, or up.
    sent: Vec<u64>,
    /// The least of all, as far as is known here.
    minimum: u64,
    /// What has been sent down.
    sent_down: u64,
}

fn rounds(nodes: usize) -> usize {
    nodes.next_power_of_two().trailing_zeros() as usize
}

impl GlobalMinimum {
    /// For node `me` of so many; all counts are 0.
    pub fn new(me: usize, nodes: usize, pattern: Pattern) -> GlobalMinimum {
        let rounds = rounds(nodes);
        GlobalMinimum {
            me,
            nodes,
            pattern,
            own: 0,
            received: vec![0; rounds],
            sent: vec![0; rounds.max(1)],
            minimum: 0,
            sent_down: 0,
        }
    }

    /// What every node's count has reached, as far as is known here.
    pub fn get(&self) -> u64 {
        self.minimum
    }

    /// Whether this node's count is higher than the least: others are behind, as far as is known here.
    pub fn is_ahead(&self) -> bool {
        self.own > self.minimum
    }

    /// This node's count has reached `count`. Adds what is to be sent to `out`.
    pub fn raise(&mut self, count: u64, out: &mut Vec<CountMessage>) {
        if count > self.own {
            self.own = count;
            self.spread(out);
        }
    }

    /// Another node has sent a count. Adds what is to be sent on to `out`.
    pub fn receive(&mut self, from: usize, Count { slot, count }: Count, out: &mut Vec<CountMessage>) {
        let known = match self.pattern {
            Pattern::Tree if slot == DOWN => &mut self.minimum,
            Pattern::Tree => match self.children().find(|(_, child)| *child == from) {
                Some((bit, _)) => &mut self.received[bit],
                None => return,
            },
            Pattern::Dissemination => match self.received.get_mut(slot as usize) {
                Some(known) => known,
                None => return,
            },
        };
        if count > *known {
            *known = count;
            self.spread(out);
        }
    }

    /// Bits and nodes of the children in the tree.
    fn children(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (me, nodes) = (self.me, self.nodes);
        let bits = if me == 0 { rounds(nodes) } else { me.trailing_zeros() as usize };
        (0..bits).map(move |bit| (bit, me + (1 << bit))).filter(move |(_, child)| *child < nodes)
    }

    fn spread(&mut self, out: &mut Vec<CountMessage>) {
        match self.pattern {
            Pattern::Tree => self.spread_in_tree(out),
            Pattern::Dissemination => self.disseminate(out),
        }
    }

    fn spread_in_tree(&mut self, out: &mut Vec<CountMessage>) {
        let subtree = self.children().map(|(bit, _)| self.received[bit]).fold(self.own, u64::min);
        if self.me == 0 {
            self.minimum = self.minimum.max(subtree);
        } else if subtree > self.sent[0] {
            self.sent[0] = subtree;
            let parent = self.me & (self.me - 1);
            out.push(CountMessage { to: parent, count: Count { slot: UP, count: subtree } });
        }
        if self.minimum > self.sent_down {
            self.sent_down = self.minimum;
            let count = Count { slot: DOWN, count: self.minimum };
            out.extend(self.children().map(|(_, child)| CountMessage { to: child, count }));
        }
    }

    fn disseminate(&mut self, out: &mut Vec<CountMessage>) {
        let mut least = self.own;
        for round in 0..self.received.len() {
            if least > self.sent[round] {
                self.sent[round] = least;
                let to = (self.me + (1 << round)) % self.nodes;
                out.push(CountMessage { to, count: Count { slot: round as u32, count: least } });
            }
            least = least.min(self.received[round]);
        }
        self.minimum = self.minimum.max(least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_random::Random;

    /// Counts grow at random; messages arrive in any order, and some of them twice. No node ever knows more
    /// than all have reached, and in the end all know it.
    #[test]
    fn a_node_never_knows_more_than_all_have_reached() {
        let mut random = Random::new(1);
        for pattern in [Pattern::Tree, Pattern::Dissemination] {
            for nodes in 2..=17 {
                let mut all: Vec<GlobalMinimum> =
                    (0..nodes).map(|me| GlobalMinimum::new(me, nodes, pattern)).collect();
                let mut reached = vec![0u64; nodes];
                let mut on_the_way: Vec<(usize, CountMessage)> = Vec::new();
                let last = 40;
                while reached.iter().any(|count| *count < last) || !on_the_way.is_empty() {
                    let mut out = Vec::new();
                    let sender = if random.below(2) == 0 || on_the_way.is_empty() {
                        let node = random.below(nodes);
                        reached[node] = last.min(reached[node] + random.below(4) as u64);
                        all[node].raise(reached[node], &mut out);
                        node
                    } else {
                        let at = random.below(on_the_way.len());
                        let arrives_again = random.below(5) == 0;
                        let (from, message) =
                            if arrives_again { on_the_way[at] } else { on_the_way.swap_remove(at) };
                        all[message.to].receive(from, message.count, &mut out);
                        message.to
                    };
                    on_the_way.extend(out.into_iter().map(|message| (sender, message)));
                    let least = *reached.iter().min().unwrap();
                    assert!(all.iter().all(|node| node.get() <= least), "{pattern:?}, {nodes} nodes");
                }
                let all_know = all.iter().all(|node| node.get() == last && !node.is_ahead());
                assert!(all_know, "{pattern:?}, {nodes} nodes: {all:?}");
            }
        }
    }
}

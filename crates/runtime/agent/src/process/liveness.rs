//! Which of the nodes that are waited for still live.
//!
//! An idle agent sends nothing: no node is asked while no rank waits for it. A node that is waited for is
//! asked for a sign of life when it has given none for a quarter of the patience, and is lost when it has
//! given none for all of it. A slow node is not a dead one: agents answer while their ranks do not.

use std::time::{Duration, Instant};

/// What is known of the nodes of a job.
pub struct NodeLiveness {
    patience: Duration,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    last_heard_from: Instant,
    last_asked: Instant,
    /// Since when it has been waited for.
    awaited_since: Option<Instant>,
    /// The network has given it up.
    is_unreachable: bool,
    /// It has said that its ranks have ended.
    has_left: bool,
}

/// What is to be done about a node that is waited for, by its number in the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It should be asked for a sign of life.
    Ask(usize),
    /// It is lost: it has given no sign of life for as long as nodes may be silent.
    Silent(usize),
    /// It is lost: the network reports that it cannot be reached.
    Unreachable(usize),
}

impl NodeLiveness {
    /// `patience`: how long a node that is waited for may be silent.
    pub fn new(nodes: usize, patience: Duration, now: Instant) -> NodeLiveness {
        let node = Node {
            last_heard_from: now,
            last_asked: now,
            awaited_since: None,
            is_unreachable: false,
            has_left: false,
        };
        NodeLiveness { patience, nodes: vec![node; nodes] }
    }

    /// A node has given a sign of life.
    pub fn heard_from(&mut self, node: usize, now: Instant) {
        self.nodes[node].last_heard_from = now;
    }

    /// The network has given a node up.
    pub fn set_unreachable(&mut self, node: usize) {
        self.nodes[node].is_unreachable = true;
    }

    /// A node's agent has said that its ranks have ended. That it cannot be reached afterwards is no loss.
    pub fn set_left(&mut self, node: usize) {
        self.nodes[node].has_left = true;
    }

    /// A node that the network has given up although it has not said that its ranks have ended.
    pub fn unreachable_node(&self) -> Option<usize> {
        self.nodes.iter().position(|node| node.is_unreachable && !node.has_left)
    }

    /// After how long to check again at the latest, while a node is waited for.
    pub fn check_interval(&self) -> Duration {
        self.patience / 8
    }

    /// What is to be done now. `is_awaited` says which nodes are waited for.
    pub fn check(&mut self, now: Instant, is_awaited: impl Fn(usize) -> bool) -> Vec<Verdict> {
        let patience = self.patience;
        let mut verdicts = Vec::new();
        for (number, node) in self.nodes.iter_mut().enumerate() {
            if !is_awaited(number) {
                node.awaited_since = None;
                continue;
            }
            let since = *node.awaited_since.get_or_insert(now);
            let silent_for = now.duration_since(node.last_heard_from.max(since));
            if node.is_unreachable && !node.has_left {
                verdicts.push(Verdict::Unreachable(number));
            } else if silent_for >= patience {
                verdicts.push(Verdict::Silent(number));
            } else if silent_for >= patience / 4 && now.duration_since(node.last_asked) >= patience / 4 {
                node.last_asked = now;
                verdicts.push(Verdict::Ask(number));
            }
        }
        verdicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_node_is_asked_and_then_lost_if_it_is_waited_for() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut nodes = NodeLiveness::new(3, Duration::from_secs(2), start);
        assert!(nodes.check(at(10_000), |_| false).is_empty(), "no node is waited for");
        let first = |node| node == 1;
        assert!(nodes.check(at(10_000), first).is_empty(), "it has only been waited for since now");
        assert_eq!(nodes.check(at(10_600), first), [Verdict::Ask(1)]);
        assert!(nodes.check(at(10_700), first).is_empty(), "it has just been asked");
        nodes.heard_from(1, at(11_000));
        assert!(nodes.check(at(11_400), first).is_empty());
        assert_eq!(nodes.check(at(12_900), first), [Verdict::Ask(1)], "a slow node is not a dead one");
        assert_eq!(nodes.check(at(13_000), first), [Verdict::Silent(1)]);
    }

    #[test]
    fn a_node_that_the_network_gives_up_is_lost_at_once() {
        let start = Instant::now();
        let mut nodes = NodeLiveness::new(3, Duration::from_secs(2), start);
        nodes.set_unreachable(2);
        assert_eq!(nodes.check(start, |node| node == 2), [Verdict::Unreachable(2)]);
        assert!(nodes.check(start, |node| node == 1).is_empty());
        assert_eq!(nodes.unreachable_node(), Some(2));
        nodes.set_left(2);
        assert_eq!(nodes.unreachable_node(), None, "it has taken its leave");
    }
}

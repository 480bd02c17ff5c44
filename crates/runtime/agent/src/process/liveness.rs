//! Which of the nodes that are waited for still live.
//!
//! An idle agent sends nothing: no node is asked while no rank waits for it. A node that is waited for is
//! asked for a sign of life when it has given none for a quarter of the patience, and is lost when it has
//! given none for all of it. A slow node is not a dead one: agents answer while their ranks do not.
//!
//! Silence is counted only while this agent looks on. A machine that stood still, or an agent that got no
//! core, has heard of no node, and that says nothing about those nodes.

use std::time::{Duration, Instant};

/// What is known of the nodes of a job.
pub struct NodeLiveness {
    patience: Duration,
    checked_at: Instant,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    /// It was waited for at the last check, and has given no sign of life since.
    silence: Option<Silence>,
    /// The network has given it up.
    is_unreachable: bool,
    /// It has said that its ranks have ended.
    has_left: bool,
}

#[derive(Clone, Copy)]
struct Silence {
    so_far: Duration,
    /// How often it has been asked.
    asked: u32,
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
        let node = Node { silence: None, is_unreachable: false, has_left: false };
        NodeLiveness { patience, checked_at: now, nodes: vec![node; nodes] }
    }

    /// A node has given a sign of life.
    pub fn heard_from(&mut self, node: usize) {
        self.nodes[node].silence = None;
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

    /// Whether a node's agent is not there any more, with or without having said so.
    pub fn is_gone(&self, node: usize) -> bool {
        self.nodes[node].is_unreachable || self.nodes[node].has_left
    }

    /// After how long to check again at the latest, while a node is waited for.
    pub fn check_interval(&self) -> Duration {
        self.patience / 8
    }

    /// Whether it is time to check again if a node is waited for.
    pub fn is_check_due(&self, now: Instant) -> bool {
        now.duration_since(self.checked_at) >= self.check_interval()
    }

    /// What is to be done now. `is_awaited` says which nodes are waited for.
    pub fn check(&mut self, now: Instant, is_awaited: impl Fn(usize) -> bool) -> Vec<Verdict> {
        let (patience, interval) = (self.patience, self.check_interval());
        let passed = now.duration_since(std::mem::replace(&mut self.checked_at, now)).min(interval);
        let mut verdicts = Vec::new();
        for (number, node) in self.nodes.iter_mut().enumerate() {
            if !is_awaited(number) {
                node.silence = None;
                continue;
            }
            let silence = match &mut node.silence {
                Some(silence) => {
                    silence.so_far += passed;
                    silence
                }
                none => none.insert(Silence { so_far: Duration::ZERO, asked: 0 }),
            };
            if node.is_unreachable && !node.has_left {
                verdicts.push(Verdict::Unreachable(number));
            } else if silence.so_far >= patience {
                verdicts.push(Verdict::Silent(number));
            } else if silence.so_far >= patience / 4 * (silence.asked + 1) {
                silence.asked += 1;
                verdicts.push(Verdict::Ask(number));
            }
        }
        verdicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(2);

    /// Checks every 100 ms until a verdict comes; returns it and when that was, in ms.
    fn next_verdict(nodes: &mut NodeLiveness, start: Instant, from_ms: u64) -> (u64, Verdict) {
        let at = |ms: &u64| start + Duration::from_millis(*ms);
        let mut times = (from_ms..).step_by(100);
        times.find_map(|ms| Some((ms, *nodes.check(at(&ms), |node| node == 1).first()?))).unwrap()
    }

    #[test]
    fn a_silent_node_is_asked_and_then_lost_if_it_is_waited_for() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut nodes = NodeLiveness::new(3, PATIENCE, start);
        assert!(nodes.check(at(9_900), |_| false).is_empty(), "no node is waited for");
        assert_eq!(next_verdict(&mut nodes, start, 10_000), (10_500, Verdict::Ask(1)));
        nodes.heard_from(1);
        assert_eq!(next_verdict(&mut nodes, start, 10_600), (11_100, Verdict::Ask(1)));
        assert_eq!(next_verdict(&mut nodes, start, 11_200), (11_600, Verdict::Ask(1)));
        assert_eq!(next_verdict(&mut nodes, start, 11_700), (12_100, Verdict::Ask(1)));
        assert_eq!(next_verdict(&mut nodes, start, 12_200), (12_600, Verdict::Silent(1)));
    }

    #[test]
    fn time_in_which_nothing_was_checked_does_not_count_as_silence() {
        let start = Instant::now();
        let mut nodes = NodeLiveness::new(3, PATIENCE, start);
        assert_eq!(next_verdict(&mut nodes, start, 0), (500, Verdict::Ask(1)));
        assert!(!nodes.is_check_due(start + Duration::from_millis(749)));
        assert!(nodes.is_check_due(start + Duration::from_millis(750)));
        let stall_ms = 60_000;
        assert_eq!(next_verdict(&mut nodes, start, 500 + stall_ms), (60_800, Verdict::Ask(1)));
        assert_eq!(next_verdict(&mut nodes, start, 60_900), (61_300, Verdict::Ask(1)));
        assert_eq!(next_verdict(&mut nodes, start, 61_400), (61_800, Verdict::Silent(1)));
    }

    #[test]
    fn a_node_that_the_network_gives_up_is_lost_at_once() {
        let start = Instant::now();
        let mut nodes = NodeLiveness::new(3, PATIENCE, start);
        nodes.set_unreachable(2);
        assert_eq!(nodes.check(start, |node| node == 2), [Verdict::Unreachable(2)]);
        assert!(nodes.check(start, |node| node == 1).is_empty());
        assert_eq!(nodes.unreachable_node(), Some(2));
        assert!(nodes.is_gone(2) && !nodes.is_gone(1));
        nodes.set_left(2);
        assert_eq!(nodes.unreachable_node(), None, "it has taken its leave");
    }
}

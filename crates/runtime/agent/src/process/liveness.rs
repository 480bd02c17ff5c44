//! Who of the nodes that are waited for still lives.
//!
//! Nobody is asked while nobody waits: an idle agent sends nothing. A node that is waited for is asked
//! for a sign of life when it has given none for a quarter of the patience, and is lost when it has
//! given none for all of it. Slow is not dead: agents answer while their ranks do not.

use std::time::{Duration, Instant};

pub struct Health {
    patience: Duration,
    nodes: Vec<Node>,
}

#[derive(Clone, Copy)]
struct Node {
    heard: Instant,
    asked: Instant,
    /// Since when it has been waited for.
    since: Option<Instant>,
    /// The network has given it up.
    is_gone: bool,
}

/// What is to be done about a node that is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Ask(usize),
    /// It has given no sign of life for as long as nodes may be silent.
    Silent(usize),
    /// The network says that it cannot be reached.
    Unreachable(usize),
}

impl Health {
    pub fn new(nodes: usize, patience: Duration, now: Instant) -> Health {
        Health { patience, nodes: vec![Node { heard: now, asked: now, since: None, is_gone: false }; nodes] }
    }

    pub fn hear(&mut self, node: usize, now: Instant) {
        self.nodes[node].heard = now;
    }

    pub fn gone(&mut self, node: usize) {
        self.nodes[node].is_gone = true;
    }

    /// When to look next, at the latest, while somebody is waited for.
    pub fn step(&self) -> Duration {
        self.patience / 8
    }

    /// Looks after all nodes, of which `waited_for` tells the ones that are waited for.
    pub fn look(&mut self, now: Instant, waited_for: impl Fn(usize) -> bool) -> Vec<Verdict> {
        let patience = self.patience;
        let mut verdicts = Vec::new();
        for (number, node) in self.nodes.iter_mut().enumerate() {
            if !waited_for(number) {
                node.since = None;
                continue;
            }
            let since = *node.since.get_or_insert(now);
            let silent = now.duration_since(node.heard.max(since));
            if node.is_gone {
                verdicts.push(Verdict::Unreachable(number));
            } else if silent >= patience {
                verdicts.push(Verdict::Silent(number));
            } else if silent >= patience / 4 && now.duration_since(node.asked) >= patience / 4 {
                node.asked = now;
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
    fn who_is_waited_for_and_silent_is_asked_and_then_lost() {
        let start = Instant::now();
        let at = |ms: u64| start + Duration::from_millis(ms);
        let mut health = Health::new(3, Duration::from_secs(2), start);
        assert!(health.look(at(10_000), |_| false).is_empty(), "nobody is waited for");
        assert!(
            health.look(at(10_000), |node| node == 1).is_empty(),
            "it has only been waited for since now"
        );
        assert_eq!(health.look(at(10_600), |node| node == 1), [Verdict::Ask(1)]);
        assert!(health.look(at(10_700), |node| node == 1).is_empty(), "it has just been asked");
        health.hear(1, at(11_000));
        assert!(health.look(at(11_400), |node| node == 1).is_empty());
        assert_eq!(health.look(at(12_900), |node| node == 1), [Verdict::Ask(1)], "slow is not dead");
        assert_eq!(health.look(at(13_000), |node| node == 1), [Verdict::Silent(1)]);
        health.gone(2);
        assert_eq!(health.look(at(13_000), |node| node == 2), [Verdict::Unreachable(2)]);
    }
}

//! Questions that are repeated until each has been answered, or its node has been silent for too long.

use crate::context::Here;
use evenkeel_fabric::NodeId;
use std::collections::BTreeMap;
use std::time::Duration;

/// When a question is repeated: after twice as long each time.
#[derive(Debug)]
pub(crate) struct Patience {
    pub first: Duration,
    pub again: Duration,
    interval: Duration,
}

impl Patience {
    /// For a question that is asked at this moment.
    pub fn from(here: &Here) -> Patience {
        let interval = here.settings.resend;
        Patience { first: here.now, again: here.now + interval, interval }
    }

    /// Whether it is to be repeated now.
    pub fn due(&mut self, here: &Here) -> bool {
        let due = self.again <= here.now;
        if due {
            self.interval = (self.interval * 2).min(here.settings.limit / 8).max(here.settings.resend);
            self.again = here.now + self.interval;
        }
        due
    }
}

/// Who has been asked, and what they answered.
#[derive(Debug)]
pub(crate) struct Gather<A> {
    waiting: BTreeMap<NodeId, Patience>,
    pub answers: Vec<(NodeId, A)>,
    pub silent: Vec<NodeId>,
}

impl<A> Gather<A> {
    /// Nodes that are being asked at this moment.
    pub fn asking(nodes: &[NodeId], here: &Here) -> Gather<A> {
        Gather {
            waiting: nodes.iter().map(|&node| (node, Patience::from(here))).collect(),
            answers: Vec::new(),
            silent: Vec::new(),
        }
    }

    /// Takes an answer up; false if none was expected.
    pub fn answered(&mut self, node: NodeId, answer: A) -> bool {
        let expected = self.waiting.remove(&node).is_some();
        if expected {
            self.answers.push((node, answer));
        }
        expected
    }

    /// Whether there is nobody left to wait for.
    pub fn complete(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Who is to be asked again now. Nodes that have not been heard of for the limit, or have been declared
    /// dead, are moved to `silent`.
    pub fn due(&mut self, here: &Here) -> Vec<NodeId> {
        let (silent, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|(node, asked)| here.silent(*node, asked.first));
        self.waiting = waiting;
        let silent: BTreeMap<NodeId, Patience> = silent;
        self.silent.extend(silent.into_keys());
        self.waiting.iter_mut().filter_map(|(&node, asked)| asked.due(here).then_some(node)).collect()
    }

    /// When the one that is still waited for longest was first asked.
    pub fn since(&self) -> Option<Duration> {
        self.waiting.values().map(|asked| asked.first).min()
    }

    /// When `due` has to be called next.
    pub fn alarm(&self) -> Option<Duration> {
        self.waiting.values().map(|asked| asked.again).min()
    }
}

//! Requests that are repeated until each is answered, or its receiver has been silent for too long.

use crate::context::Context;
use evenkeel_fabric::NodeId;
use std::collections::BTreeMap;
use std::time::Duration;

/// When a request is repeated: after twice as long each time, up to an eighth of the limit.
#[derive(Debug)]
pub(crate) struct Backoff {
    /// When it was first sent.
    pub first: Duration,
    /// When it is sent next.
    pub next: Duration,
    interval: Duration,
}

impl Backoff {
    /// For a request that is sent now.
    pub fn start(context: &Context) -> Backoff {
        let interval = context.settings.resend;
        Backoff { first: context.now, next: context.now + interval, interval }
    }

    /// Whether the request has to be repeated now; if so, the next time is set.
    pub fn is_due(&mut self, context: &Context) -> bool {
        let is_due = self.next <= context.now;
        if is_due {
            let settings = context.settings;
            self.interval = (self.interval * 2).min(settings.limit / 8).max(settings.resend);
            self.next = context.now + self.interval;
        }
        is_due
    }
}

/// Collects the answers of several nodes to one request.
#[derive(Debug)]
pub(crate) struct Collector<A> {
    waiting: BTreeMap<NodeId, Backoff>,
    pub answers: Vec<(NodeId, A)>,
    /// Nodes that have been silent for too long.
    pub silent: Vec<NodeId>,
}

impl<A> Collector<A> {
    /// For a request that is sent to these nodes now.
    pub fn new(nodes: &[NodeId], context: &Context) -> Collector<A> {
        Collector {
            waiting: nodes.iter().map(|&node| (node, Backoff::start(context))).collect(),
            answers: Vec::new(),
            silent: Vec::new(),
        }
    }

    /// Adds an answer; false if none was expected of this node.
    pub fn add(&mut self, node: NodeId, answer: A) -> bool {
        let is_expected = self.waiting.remove(&node).is_some();
        if is_expected {
            self.answers.push((node, answer));
        }
        is_expected
    }

    /// Whether every node has answered or is silent.
    pub fn is_complete(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The nodes to which the request has to be sent again now. Nodes that have not been heard of for the
    /// limit, or were declared dead, are moved to `silent`.
    pub fn due(&mut self, context: &Context) -> Vec<NodeId> {
        let (silent, waiting): (BTreeMap<_, _>, _) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|(node, backoff)| context.is_silent(*node, backoff.first));
        self.waiting = waiting;
        self.silent.extend(silent.into_keys());
        let due = |(&node, backoff): (&NodeId, &mut Backoff)| backoff.is_due(context).then_some(node);
        self.waiting.iter_mut().filter_map(due).collect()
    }

    /// When the request was first sent to the nodes that have not answered.
    pub fn waiting_since(&self) -> Option<Duration> {
        self.waiting.values().map(|backoff| backoff.first).min()
    }

    /// When `due` has to be called next.
    pub fn next_due(&self) -> Option<Duration> {
        self.waiting.values().map(|backoff| backoff.next).min()
    }
}

//! Sends large data to a set of nodes ahead of the operation that needs them.
//!
//! Data go from their origin along a chain of the set's nodes, in chunks. Each node forwards what it has
//! while more arrives, so every link carries the data once, and the sequencer carries none of them unless
//! it is in the set. At the end of a long chain data would arrive late by as many chunks as there are
//! nodes. Where the set is large, each half of the data therefore goes down a tree of its own, with two
//! nodes below each; a node that forwards one half is a leaf of the other's tree (Sanders, Speck, Träff:
//! Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009). So there, too, no node
//! sends more than it receives.
//!
//! Data wait in a place of their own, where no operation and no reader sees them. When the origin knows that
//! every node has all of them, it has the operation ordered, which then moves bytes that are already there.
//! Atomicity and order are the operation's business, not this module's.
//!
//! Between neighbours at most [`WINDOW`] bytes are under way. Lost data are sent again from where the other
//! node's bytes end.

use crate::collector::Backoff;
use crate::context::Context;
use crate::message::{Body, Chunk, ChunkProgress, TransferKey};
use crate::node_set::NodeSet;
use crate::operation::OperationNumber;
use crate::tree::{children, children_of_half};
use evenkeel_fabric::NodeId;
use std::collections::BTreeMap;
use std::time::Duration;

/// Bytes that are sent at once.
const CHUNK: usize = 32 << 10;
/// Bytes that a neighbour may not have acknowledged yet. Its acknowledgement waits behind data of its own: 20
/// ms in the queue of a limited link, and more on two of them.
const WINDOW: usize = 4 << 20;
/// The same where each half goes down a tree of its own. With a larger window, what one half has sent
/// ahead is in the other half's way: among 256 nodes (simulated, 200 MB/s) 12 MiB take 71 ms with this
/// one, 86 with four times as much, 73 with half.
const WINDOW_OF_HALVES: usize = 1 << 20;
/// Sets of more nodes than this use two trees.
const LONGEST_CHAIN: usize = 64;
/// Data of which nothing is heard for so many limits are dropped: their origin is gone, or has had its
/// outcome long ago.
const DROPPED_AFTER: u32 = 4;

/// A node to which this one forwards data.
struct Child {
    node: NodeId,
    /// Bytes that were sent to it.
    sent: usize,
    /// Bytes that it has.
    own: usize,
    /// Bytes that it and all nodes below it have.
    all: usize,
    backoff: Backoff,
}

/// Data on their way through this node.
struct Stream {
    set: NodeSet,
    total: usize,
    /// The node from which they come; None: this one.
    parent: Option<NodeId>,
    children: Vec<Child>,
    /// When something last came from the parent. What comes from children does not count: two nodes would
    /// keep each other's stream alive for ever.
    last: Duration,
}

/// What came of sending this node's data ahead.
pub(crate) enum Dissemination {
    /// Every node has all of them.
    Complete(OperationNumber),
    /// A node has been silent for too long.
    Failed(OperationNumber, NodeId),
}

/// All data that this node sends, receives or forwards.
#[derive(Default)]
pub(crate) struct Disseminator {
    streams: BTreeMap<TransferKey, Stream>,
    /// Results for this node's own transfers, until they are taken.
    pub results: Vec<Dissemination>,
}

/// Whether data for these nodes go in halves, each down a tree of its own.
fn is_halved(set: &NodeSet) -> bool {
    set.len() > LONGEST_CHAIN
}

impl Stream {
    fn new(
        context: &Context,
        set: NodeSet,
        total: usize,
        key: TransferKey,
        parent: Option<NodeId>,
    ) -> Stream {
        let next = if is_halved(&set) {
            children_of_half(&set, key.origin, context.node, key.half)
        } else {
            children(&set, key.origin, context.node, 1)
        };
        let child = |node| Child { node, sent: 0, own: 0, all: 0, backoff: Backoff::start(context) };
        let children = next.into_iter().map(child).collect();
        Stream { set, total, parent, children, last: context.now }
    }

    /// Bytes that this node, which has `own`, and all nodes below it have.
    fn all(&self, own: usize) -> usize {
        self.children.iter().map(|child| child.all).fold(own, usize::min)
    }

    fn chunk(&self, key: TransferKey, at: usize, bytes: Vec<u8>) -> Body {
        Body::Chunk(Chunk { key, set: self.set.clone(), total: self.total, at, bytes })
    }
}

/// How many bytes of a transfer this node has. If they were taken out by their operation, it had all.
fn own_bytes(context: &Context, key: TransferKey, total: usize) -> usize {
    context.staged.get(&key).map_or(total, Vec::len)
}

impl Disseminator {
    /// Begins to send data of this node.
    pub fn send(&mut self, context: &mut Context, number: OperationNumber, set: NodeSet, mut bytes: Vec<u8>) {
        let second = if is_halved(&set) { Some(bytes.split_off(bytes.len() / 2)) } else { None };
        let mut keys = Vec::new();
        for (half, bytes) in (0..).zip([Some(bytes), second].into_iter().flatten()) {
            let key = TransferKey { origin: context.node, number, half };
            let total = bytes.len();
            context.staged.insert(key, bytes);
            self.streams.insert(key, Stream::new(context, set.clone(), total, key, None));
            keys.push(key);
        }
        self.forward(context, &keys);
        keys.into_iter().for_each(|key| self.report(context, key, None));
    }

    /// Some bytes have come from the parent; or it asks how far this node is.
    pub fn receive(&mut self, context: &mut Context, from: NodeId, chunk: Chunk) {
        let Chunk { key, set, total, at, bytes } = chunk;
        if at.checked_add(bytes.len()).is_none_or(|end| end > total)
            || !set.contains(context.node)
            || key.origin == context.node
        {
            return;
        }
        let stream = self.streams.entry(key).or_insert_with(|| {
            context.staged.insert(key, Vec::new());
            Stream::new(context, set, total, key, Some(from))
        });
        stream.last = context.now;
        // If the operation has taken the data out already, all of them were here.
        if let Some(staged) = context.staged.get_mut(&key) {
            if at <= staged.len() && at + bytes.len() > staged.len() {
                staged.extend_from_slice(&bytes[staged.len() - at..]);
            }
        }
        self.forward(context, &[key]);
        self.report(context, key, bytes.is_empty().then_some(at));
    }

    /// A child says how far it, and all nodes below it, are.
    pub fn progress(&mut self, context: &mut Context, from: NodeId, progress: ChunkProgress) {
        let ChunkProgress { key, own, all, asked } = progress;
        let Some(stream) = self.streams.get_mut(&key) else { return };
        let Some(child) = stream.children.iter_mut().find(|child| child.node == from) else { return };
        if asked == Some(child.sent) && own < child.sent {
            // What was sent before the question did not arrive: it is lost. (Or it was overtaken; then it
            // arrives twice.)
            child.sent = own.max(child.own);
            self.forward(context, &[key]);
            return;
        }
        if own <= child.own && all <= child.all {
            return;
        }
        child.own = child.own.max(own);
        child.all = child.all.max(all);
        child.sent = child.sent.max(own);
        child.backoff = Backoff::start(context);
        self.forward(context, &[key]);
        self.report(context, key, None);
    }

    /// A node somewhere below has been silent for too long.
    pub fn lose(&mut self, context: &mut Context, key: TransferKey, node: NodeId) {
        match self.streams.get(&key).map(|stream| stream.parent) {
            Some(Some(parent)) => context.send(parent, Body::ChunkLost { key, node }),
            Some(None) => self.results.push(Dissemination::Failed(key.number, node)),
            None => {}
        }
    }

    /// Drops the data of an operation of this node that has its outcome.
    pub fn end(&mut self, context: &mut Context, number: OperationNumber) {
        for half in [0, 1] {
            let key = TransferKey { origin: context.node, number, half };
            self.streams.remove(&key);
            context.staged.remove(&key);
        }
    }

    /// Forwards what is here of these transfers and may be sent.
    fn forward(&mut self, context: &mut Context, keys: &[TransferKey]) {
        // In turns: a child that got its first chunk only after the other child's last would lag by that
        // much.
        let mut has_sent = true;
        while std::mem::take(&mut has_sent) {
            for key in keys {
                let Some(stream) = self.streams.get_mut(key) else { continue };
                // If they are not here any more, their operation is carried out, and so every node has them.
                let Some(staged) = context.staged.get(key) else { continue };
                let window = if is_halved(&stream.set) { WINDOW_OF_HALVES } else { WINDOW };
                for index in 0..stream.children.len() {
                    let child = &stream.children[index];
                    let (node, at) = (child.node, child.sent);
                    if at >= staged.len().min(child.own + window) {
                        continue;
                    }
                    let end = (at + CHUNK).min(staged.len());
                    context.outgoing.push((node, stream.chunk(*key, at, staged[at..end].to_vec())));
                    stream.children[index].sent = end;
                    has_sent = true;
                }
            }
        }
    }

    /// Tells the parent how far this part of the chain is; or notes that this node's data are everywhere.
    fn report(&mut self, context: &mut Context, key: TransferKey, asked: Option<usize>) {
        let Some(stream) = self.streams.get(&key) else { return };
        let own = own_bytes(context, key, stream.total);
        let all = stream.all(own);
        match stream.parent {
            Some(parent) => context.send(parent, Body::ChunkProgress(ChunkProgress { key, own, all, asked })),
            None if self.is_complete(context, key) || !context.settings.rules.data_first => {
                self.results.push(Dissemination::Complete(key.number))
            }
            None => {}
        }
    }

    /// Whether all nodes have all of a transfer of this node, both halves.
    fn is_complete(&self, context: &Context, key: TransferKey) -> bool {
        let mut halves = self.streams.range(TransferKey { half: 0, ..key }..=TransferKey { half: 1, ..key });
        halves.all(|(key, stream)| stream.all(own_bytes(context, *key, stream.total)) == stream.total)
    }

    /// Asks children from which nothing has come, gives silent ones up, and drops old data.
    pub fn tick(&mut self, context: &mut Context) {
        let mut failed = Vec::new();
        for (&key, stream) in &mut self.streams {
            for index in 0..stream.children.len() {
                let child = &mut stream.children[index];
                if child.all >= stream.total || !child.backoff.is_due(context) {
                    continue;
                }
                let (node, at) = (child.node, child.sent);
                if context.is_silent(node, child.backoff.first) {
                    failed.push((key, node));
                }
                // The child may be slow, and its data on their way. A question costs little, and where
                // messages keep their order its answer tells whether data were lost.
                context.outgoing.push((node, stream.chunk(key, at, Vec::new())));
            }
        }
        for (key, node) in failed {
            self.lose(context, key, node);
        }
        let longest = context.settings.limit * DROPPED_AFTER;
        let (now, staged, evicted) = (context.now, &mut *context.staged, context.evicted);
        self.streams.retain(|key, stream| {
            let is_kept =
                stream.parent.is_none() || (now < stream.last + longest && !evicted.contains(&key.origin));
            if !is_kept {
                staged.remove(key);
            }
            is_kept
        });
    }

    /// When `tick` has to be called next.
    pub fn next_due(&self, limit: Duration) -> Option<Duration> {
        let of = |stream: &Stream| {
            let incomplete = stream.children.iter().filter(|child| child.all < stream.total);
            let dropped = stream.parent.map(|_| stream.last + limit * DROPPED_AFTER);
            incomplete.map(|child| child.backoff.next).chain(dropped).min()
        };
        self.streams.values().filter_map(of).min()
    }
}

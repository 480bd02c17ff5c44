//! Large data on their way to a set of nodes, before the operation that needs them is ordered.
//!
//! Data go from their origin along a chain of the set's nodes, in chunks, each node passing on what it
//! has while more comes in: every link carries them once, and node 0 none of them unless it is one of
//! the set. The last of a long chain would wait for as many chunks as there are nodes: where the set is
//! large, each half of the data goes down a tree of its own, two below each, and who passes one half on
//! is at the end of the other's tree (Sanders, Speck, Träff: Two-tree algorithms for full bandwidth
//! broadcast, reduction and scan, 2009). So there too nobody sends more than came in. They wait in a
//! place of their own, where no operation and no reader sees them. When the origin knows that every
//! node has all of them it has the operation ordered, which then moves bytes that are already there:
//! all or none, and one order, are its matter, not this one's. Between neighbours at most [`WINDOW`]
//! bytes are under way; what is lost is sent again from where the other's bytes end.

use crate::collector::Patience;
use crate::context::Here;
use crate::message::Message;
use crate::operation::NodeSet;
use crate::tree::{children, passes_half_to};
use evenkeel_fabric::NodeId;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

/// Bytes that go at once.
const CHUNK: usize = 32 << 10;
/// Bytes that a neighbour may not have acknowledged yet. What it says waits behind data of its own: 20
/// ms in the queue of a limited link, and more on two of them.
const WINDOW: usize = 4 << 20;
/// The same where each half goes down a tree of its own. With more, what one half has sent ahead is in
/// the other's way: among 256 nodes (simulated, 200 MB/s) 12 MiB take 71 ms so, 86 with four times as
/// much, 73 with half.
const WINDOW_OF_HALVES: usize = 1 << 20;
/// Sets of more nodes than this use two trees.
const LONGEST_CHAIN: usize = 64;
/// What nothing is heard of for so many limits is forgotten: its origin is gone, or has long had its answer.
const FORGOTTEN_AFTER: u32 = 4;

/// Data of one transfer, or a half of them: whose, its number there, and which half.
pub(crate) type Key = (NodeId, u64, u8);

/// What has come of each transfer, from its first byte on.
pub(crate) type Staged = HashMap<Key, Vec<u8>>;

/// A node to which this one passes data on.
struct Below {
    node: NodeId,
    /// Bytes that have been sent, that it has, and that it and all below it have.
    sent: usize,
    own: usize,
    all: usize,
    patience: Patience,
}

struct Stream {
    set: NodeSet,
    total: usize,
    above: Option<NodeId>,
    below: Vec<Below>,
    /// When something last came from above. What comes from below does not count: two nodes would keep each
    /// other's alive for ever.
    last: Duration,
}

impl Stream {
    /// Bytes that this node, which has `own`, and all below it have.
    fn all(&self, own: usize) -> usize {
        self.below.iter().map(|below| below.all).fold(own, usize::min)
    }
}

/// What came of sending data from this node.
pub(crate) enum Sent {
    Everywhere(u64),
    /// A node has been silent for too long.
    Broken(u64, NodeId),
}

/// All data that this node sends, takes or passes on.
#[derive(Default)]
pub(crate) struct Relay {
    streams: BTreeMap<Key, Stream>,
    /// For this node's own transfers, until they are taken up.
    pub sent: Vec<Sent>,
}

/// Whether data for these nodes go in halves, each down a tree of its own.
fn is_halved(set: &NodeSet) -> bool {
    set.len() > LONGEST_CHAIN
}

impl Relay {
    /// Begins to send data of this node.
    pub fn send(&mut self, here: &mut Here, number: u64, set: NodeSet, mut bytes: Vec<u8>) {
        let second = if is_halved(&set) { Some(bytes.split_off(bytes.len() / 2)) } else { None };
        let mut keys = Vec::new();
        for (half, bytes) in [Some(bytes), second].into_iter().flatten().enumerate() {
            let (key, total) = ((here.node, number, half as u8), bytes.len());
            here.staged.insert(key, bytes);
            self.streams.insert(key, Stream::new(here, set.clone(), total, key, None));
            keys.push(key);
        }
        self.push(here, &keys);
        keys.into_iter().for_each(|key| self.report(here, key, None));
    }

    /// Some bytes have come from the node above. None: it asks how far this one is, having sent all up to
    /// `at`.
    #[allow(clippy::too_many_arguments, reason = "the parts of one message")]
    pub fn data(
        &mut self,
        here: &mut Here,
        from: NodeId,
        key: Key,
        set: NodeSet,
        total: usize,
        at: usize,
        bytes: &[u8],
    ) {
        if at.checked_add(bytes.len()).is_none_or(|end| end > total)
            || !set.contains(here.node)
            || key.0 == here.node
        {
            return;
        }
        let stream = self.streams.entry(key).or_insert_with(|| {
            here.staged.insert(key, Vec::new());
            Stream::new(here, set, total, key, Some(from))
        });
        stream.last = here.now;
        // Taken out already, by the operation that it was for: then all of it was here.
        if let Some(staged) = here.staged.get_mut(&key) {
            if at <= staged.len() && at + bytes.len() > staged.len() {
                staged.extend_from_slice(&bytes[staged.len() - at..]);
            }
        }
        self.push(here, &[key]);
        self.report(here, key, bytes.is_empty().then_some(at));
    }

    /// A node below says how far it, and all below it, are; `asked`: when it was asked, so many bytes had
    /// been sent to it.
    pub fn have(
        &mut self,
        here: &mut Here,
        from: NodeId,
        key: Key,
        own: usize,
        all: usize,
        asked: Option<usize>,
    ) {
        let Some(stream) = self.streams.get_mut(&key) else { return };
        let Some(below) = stream.below.iter_mut().find(|below| below.node == from) else { return };
        if asked == Some(below.sent) && own < below.sent {
            // What was sent before the question is not there: lost, or overtaken, and then it comes twice.
            below.sent = own.max(below.own);
            self.push(here, &[key]);
            return;
        }
        if own <= below.own && all <= below.all {
            return;
        }
        below.own = below.own.max(own);
        below.all = below.all.max(all);
        below.sent = below.sent.max(own);
        below.patience = Patience::from(here);
        self.push(here, &[key]);
        self.report(here, key, None);
    }

    /// A node somewhere below has been silent for too long.
    pub fn broken(&mut self, here: &mut Here, key: Key, node: NodeId) {
        match self.streams.get(&key).map(|stream| stream.above) {
            Some(Some(above)) => {
                here.send(above, Message::Broken { origin: key.0, number: key.1, half: key.2, node })
            }
            Some(None) => self.sent.push(Sent::Broken(key.1, node)),
            None => {}
        }
    }

    /// A transfer of this node has its outcome.
    pub fn end(&mut self, here: &mut Here, number: u64) {
        for half in [0, 1] {
            self.streams.remove(&(here.node, number, half));
            here.staged.remove(&(here.node, number, half));
        }
    }

    /// How many bytes of a transfer this node has.
    fn own(here: &Here, key: Key, total: usize) -> usize {
        here.staged.get(&key).map_or(total, Vec::len)
    }

    /// Passes on what is here of these and may be sent.
    fn push(&mut self, here: &mut Here, keys: &[Key]) {
        // By turns: who got its first chunk after the other's last would have to make up for it.
        let mut more = true;
        while std::mem::take(&mut more) {
            for key in keys {
                let Some(stream) = self.streams.get_mut(key) else { continue };
                // Without the bytes everybody has them: the operation is carried out only then.
                let Some(staged) = here.staged.get(key) else { continue };
                let window = if is_halved(&stream.set) { WINDOW_OF_HALVES } else { WINDOW };
                for below in
                    stream.below.iter_mut().filter(|below| below.sent < staged.len().min(below.own + window))
                {
                    let end = (below.sent + CHUNK).min(staged.len());
                    let bytes = staged[below.sent..end].to_vec();
                    let message = Message::Data {
                        origin: key.0,
                        number: key.1,
                        half: key.2,
                        set: stream.set.clone(),
                        total: stream.total,
                        at: below.sent,
                        bytes,
                    };
                    here.out.push((below.node, message));
                    below.sent = end;
                    more = true;
                }
            }
        }
    }

    /// Tells the node above how far this part of the chain is, or the origin that all is done.
    fn report(&mut self, here: &mut Here, key: Key, asked: Option<usize>) {
        let Some(stream) = self.streams.get(&key) else { return };
        let own = Relay::own(here, key, stream.total);
        let all = stream.all(own);
        match stream.above {
            Some(above) => {
                here.send(above, Message::Have { origin: key.0, number: key.1, half: key.2, own, all, asked })
            }
            None if self.is_everywhere(here, key) || !here.settings.rules.data_first => {
                self.sent.push(Sent::Everywhere(key.1))
            }
            None => {}
        }
    }

    /// Whether all nodes have all of a transfer of this node, both halves.
    fn is_everywhere(&self, here: &Here, (origin, number, _): Key) -> bool {
        let mut halves = self.streams.range((origin, number, 0)..=(origin, number, 1));
        halves.all(|(key, stream)| stream.all(Relay::own(here, *key, stream.total)) == stream.total)
    }

    pub fn tick(&mut self, here: &mut Here) {
        let mut broken = Vec::new();
        for (&key, stream) in &mut self.streams {
            let total = stream.total;
            for below in stream.below.iter_mut().filter(|below| below.all < total) {
                if !below.patience.due(here) {
                    continue;
                }
                if here.silent(below.node, below.patience.first) {
                    broken.push((key, below.node));
                }
                // It may be slow, and what it has been sent on its way: a question costs nothing, and where
                // messages keep their order its answer tells.
                let message = Message::Data {
                    origin: key.0,
                    number: key.1,
                    half: key.2,
                    set: stream.set.clone(),
                    total,
                    at: below.sent,
                    bytes: Vec::new(),
                };
                here.out.push((below.node, message));
            }
        }
        for (key, node) in broken {
            self.broken(here, key, node);
        }
        let longest = here.settings.limit * FORGOTTEN_AFTER;
        let (now, staged, evicted) = (here.now, &mut *here.staged, here.evicted);
        self.streams.retain(|key, stream| {
            let kept = stream.above.is_none() || (now < stream.last + longest && !evicted.contains(&key.0));
            if !kept {
                staged.remove(key);
            }
            kept
        });
    }

    /// When `tick` has to be called next.
    pub fn alarm(&self, limit: Duration) -> Option<Duration> {
        let of = |stream: &Stream| {
            let again = stream
                .below
                .iter()
                .filter(|below| below.all < stream.total)
                .map(|below| below.patience.again);
            let forgotten = stream.above.map(|_| stream.last + limit * FORGOTTEN_AFTER);
            again.chain(forgotten).min()
        };
        self.streams.values().filter_map(of).min()
    }
}

impl Stream {
    fn new(here: &Here, set: NodeSet, total: usize, (origin, _, half): Key, above: Option<NodeId>) -> Stream {
        let below = |node| Below { node, sent: 0, own: 0, all: 0, patience: Patience::from(here) };
        let next = if is_halved(&set) {
            passes_half_to(&set, origin, here.node, half)
        } else {
            children(&set, origin, here.node, 1)
        };
        let below = next.into_iter().map(below).collect();
        Stream { set, total, above, below, last: here.now }
    }
}

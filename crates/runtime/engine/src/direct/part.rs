//! What a rank has of a communicator whose small collectives the ranks carry themselves.

use super::answer::{Aligned, Content};
use super::collective::{DirectCollective, Outgoing};
use super::description::{Description, MAX_MEMBERS};
use crate::collective::call::{Call, CollectiveKind};
use crate::comm::shared::Shared;
use crate::job::direct_link::DirectLink;
use crate::job::node::Node;
use crate::reduction::operators::OperatorTable;
use evenkeel_datagram::Frame;
use evenkeel_segment::Mapped;
use evenkeel_segment::block::Block;
use evenkeel_segment::statements::{DATA_BYTES, MAX_NODES, StatementGeometry, Statements};
use evenkeel_segment::sync::Words;
use evenkeel_spanning::NodeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The part.
pub struct DirectPart {
    /// What the nodes say.
    pub statements: Statements<Mapped>,
    block: Block,
    /// The job's name for the communicator.
    id: u64,
    map: Arc<NodeMap>,
    /// This node among those of the communicator.
    here: usize,
    /// This rank among the members here.
    me: usize,
    /// The number of the next collective.
    next: AtomicU64,
    /// Room to combine parts in.
    pub(crate) parts: Mutex<Vec<Aligned>>,
}

/// Returns the layout of the statements of a communicator that ranks of all nodes carry; `None` if they
/// cannot. The same on all ranks, but for the members on their nodes.
pub(crate) fn geometry(node: &Node, map: &NodeMap, here: usize) -> Option<StatementGeometry> {
    node.agent()?.direct.as_ref()?;
    let fits = map.nodes.len() <= MAX_NODES && map.counts.largest() <= MAX_MEMBERS;
    fits.then(|| StatementGeometry::new(map.counts.on(here), map.nodes.len()))
}

impl DirectPart {
    /// The part of member `me` of this node; `None` if there is no room for the statements.
    pub(crate) fn new(
        shared: &Shared,
        id: u64,
        map: &Arc<NodeMap>,
        here: usize,
        me: usize,
    ) -> Option<DirectPart> {
        let node = shared.node;
        let geometry = geometry(node, map, here)?;
        let block = node.allocator().statements(shared.block, &geometry)?;
        Some(DirectPart {
            statements: Statements { memory: node.segment.at(block.offset()), geometry },
            block,
            id,
            map: Arc::clone(map),
            here,
            me,
            next: AtomicU64::new(0),
            parts: Mutex::default(),
        })
    }

    /// Drops this process's reference to the block.
    pub(crate) fn release(&self, node: &Node) {
        node.allocator().drop_reference(self.block, &self.statements.geometry);
    }

    /// The job's name for the communicator.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The description of a call, if ranks carry it out. The same on all ranks.
    pub(crate) fn describe(&self, call: &Call, operators: &OperatorTable) -> Option<Description> {
        let kind = call.kind();
        let has_root = match kind {
            CollectiveKind::Barrier | CollectiveKind::Allreduce => false,
            CollectiveKind::Bcast | CollectiveKind::Reduce => true,
            _ => return None,
        };
        if call.bytes > DATA_BYTES {
            return None;
        }
        let operator = match call.combine {
            Some(combine) => operators.number_of(combine)?,
            None => 0,
        };
        let (hub, root) = match has_root {
            true => (self.map.node_of(call.root as usize), self.map.local_rank_of(call.root as usize)),
            false => (0, 0),
        };
        Some(Description { kind, operator, bytes: call.bytes, hub, root })
    }

    /// Begins a call that [`DirectPart::describe`] has accepted. All members must begin theirs in the same
    /// order.
    ///
    /// # Safety
    /// `call` must satisfy the requirements in the documentation of [`Call`].
    pub(crate) unsafe fn begin(&self, call: &Call, description: Description) -> DirectCollective {
        let number = self.next.load(Ordering::Relaxed);
        self.next.store(number + 1, Ordering::Relaxed);
        let is_root = (self.here, self.me) == (description.hub, description.root);
        let contributes = description.gathers() || is_root;
        let mut data = Aligned::default();
        if contributes && description.bytes > 0 {
            // SAFETY: by the caller's promise there are so many bytes; there is room for them.
            unsafe { std::ptr::copy_nonoverlapping(call.send, data.0.as_mut_ptr(), description.bytes) };
        }
        DirectCollective::new(number, description, self.me, self.here, data)
    }

    /// Gives a rank the result of a collective that is over, if it gets one.
    ///
    /// # Safety
    /// As for [`DirectPart::begin`], with the same call.
    pub(crate) unsafe fn end(&self, call: &Call, description: Description, collective: &DirectCollective) {
        if collective.needs_result() && description.bytes > 0 {
            // SAFETY: as above.
            unsafe {
                std::ptr::copy_nonoverlapping(collective.data().0.as_ptr(), call.recv, description.bytes)
            };
        }
    }

    /// Sends what a collective has to say.
    pub(crate) fn send(&self, node: &Node, link: &DirectLink, number: u64, outgoing: Outgoing<'_>) {
        let nodes = &self.map.nodes;
        let others = (0..nodes.len()).filter(|at| *at != self.here).map(|at| nodes[at] as usize);
        let communicator = self.id;
        match outgoing {
            Outgoing::ToHub(hub, description, data) => {
                let content = Content::new(description, data);
                let frame = Frame::Statement { communicator, number, content: content.bytes() };
                link.send(&node.segment, &frame, std::iter::once(nodes[hub] as usize));
            }
            Outgoing::ToOthers(description, data) => {
                let content = Content::new(description, data);
                link.send(
                    &node.segment,
                    &Frame::Statement { communicator, number, content: content.bytes() },
                    others,
                );
            }
            Outgoing::Credit(finished) => {
                link.send(&node.segment, &Frame::Credit { communicator, finished }, others)
            }
        }
    }

    /// Takes what a node of the job says about this communicator.
    pub(crate) fn accept(&self, from: u32, frame: &Frame<'_>) {
        let Some(from) = self.map.nodes.iter().position(|node| *node == from) else { return };
        match *frame {
            Frame::Statement { number, content, .. } => {
                accept_statement(&self.statements, self.here, from, number, content);
            }
            Frame::Credit { finished, .. } => {
                self.statements.raise_credit(from, finished);
            }
            Frame::Probe { .. } => {}
        }
    }
}

/// Takes what node `from` says in a collective. What is too early or too late to be true is left out.
pub fn accept_statement<M: Words>(
    statements: &Statements<M>,
    here: usize,
    from: usize,
    number: u64,
    content: &[u8],
) {
    let Some((word, data)) = content.split_first_chunk::<4>() else { return };
    let (word, finished) = (u32::from_le_bytes(*word), statements.finished());
    let is_possible = finished <= number && number - finished < 2 * statements.geometry.window;
    if !is_possible || from == here || data.len() > DATA_BYTES {
        return;
    }
    let description = Description::from_word(word);
    if description.gathers() {
        // All its ranks have begun this collective, so they have finished those before it.
        statements.raise_credit(from, number);
        if description.synchronizes() && from == description.hub {
            for node in 0..statements.geometry.nodes {
                statements.raise_credit(node, number);
            }
        }
    }
    statements.state(number, from, word, data);
}

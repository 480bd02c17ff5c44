//! What the members of a communicator that spans nodes reserve, and tell each other, when it is made.

use crate::job::node::Node;
use evenkeel_segment::Geometry;
use evenkeel_segment::block::Block;
use evenkeel_spanning::NodeMap;
use evenkeel_spanning::description::MAX_MEMBERS;
use std::sync::Arc;

/// Most nodes of a communicator, and members on one node, that fit into one order to the agent.
const MOST_IN_ORDER: usize = 256;
const _: () = assert!(MOST_IN_ORDER <= MAX_MEMBERS);

/// What one member has reserved for a new communicator, and tells all others. 0: it has reserved nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Reservation {
    /// The first member on each node: the id of the block for the part there.
    pub(crate) block: u64,
    /// The first of all members: the id by which the agents know the communicator.
    pub(crate) id: u64,
}

impl Reservation {
    /// Reserves what member `me` has to: a block if it is the first on its node, an id if it is the first
    /// of all.
    pub fn make(node: &Node, map: &NodeMap, me: usize) -> Reservation {
        if map.local_rank_of(me) != 0 {
            return Reservation::default();
        }
        let geometry = Geometry::spanning(map.counts.on(map.node_of(me)) + 1);
        let block = node.allocator().allocate(&geometry).map_or(0, Block::id);
        let id = match node.agent() {
            Some(agent) if me == 0 => agent.next_communicator_id(node.me),
            _ => 0,
        };
        Reservation { block, id }
    }
}

/// Which nodes the members are on, by their world ranks. None if they are all on one node, or if the
/// agents cannot serve them, which all members find alike.
pub fn node_map(node: &Node, members: &[i32]) -> Option<Arc<NodeMap>> {
    let agent = node.agent()?;
    let node_of = |&rank: &i32| agent.node_of.get(usize::try_from(rank).ok()?).copied();
    let nodes: Vec<u32> = members.iter().map(node_of).collect::<Option<_>>()?;
    let map = NodeMap::new(&nodes);
    let fits = map.nodes.len() <= MOST_IN_ORDER && map.counts.largest() <= MOST_IN_ORDER;
    (map.nodes.len() > 1 && fits).then(|| Arc::new(map))
}

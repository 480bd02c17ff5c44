//! What the members of a communicator that spans nodes reserve and send each other when it is made.

use crate::direct::part;
use crate::job::node::Node;
use evenkeel_segment::Geometry;
use evenkeel_segment::block::Block;
use evenkeel_spanning::NodeMap;
use evenkeel_spanning::description::MAX_MEMBERS;
use std::sync::Arc;

/// The most nodes of a communicator, and the most members on one node, that fit into one command to the
/// agent.
const MOST_IN_COMMAND: usize = 256;
const _: () = assert!(MOST_IN_COMMAND <= MAX_MEMBERS);

/// What one member has reserved for a new communicator and sends to all others. 0 means that it has
/// reserved nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Reservation {
    /// From the first member on each node: the id of the block for the part there.
    pub(crate) block: u64,
    /// From the first of all members: the id by which the agents know the communicator.
    pub(crate) id: u64,
    /// From the first member on each node: 1 if there is room for the statements of small collectives.
    pub(crate) statements: u64,
}

impl Reservation {
    /// Makes the reservation of member `me`: a block if it is the first member on its node, and an id if it
    /// is the first of all members.
    pub fn make(node: &Node, map: &NodeMap, me: usize) -> Reservation {
        if map.local_rank_of(me) != 0 {
            return Reservation::default();
        }
        let here = map.node_of(me);
        let block = node.allocator().allocate(&Geometry::spanning(map.counts.on(here) + 1));
        // They can be done without.
        let geometry = part::geometry(node, map, here);
        let statements = block.zip(geometry.filter(|geometry| node.allocator().has_spare(geometry)));
        let statements =
            statements.and_then(|(block, geometry)| node.allocator().statements(block, &geometry));
        let id = match node.agent() {
            Some(agent) if me == 0 => agent.next_communicator_id(node.me),
            _ => 0,
        };
        Reservation { block: block.map_or(0, Block::id), id, statements: u64::from(statements.is_some()) }
    }
}

/// Returns which nodes the members are on, by their world ranks. All members get `None` if they are all on
/// one node, or if the agents cannot serve the communicator.
pub fn node_map(node: &Node, members: &[i32]) -> Option<Arc<NodeMap>> {
    let agent = node.agent()?;
    let node_of = |&rank: &i32| agent.node_of.get(usize::try_from(rank).ok()?).copied();
    let nodes: Vec<u32> = members.iter().map(node_of).collect::<Option<_>>()?;
    let map = NodeMap::new(&nodes);
    let fits = map.nodes.len() <= MOST_IN_COMMAND && map.counts.largest() <= MOST_IN_COMMAND;
    (map.nodes.len() > 1 && fits).then(|| Arc::new(map))
}

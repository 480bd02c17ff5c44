//! Tables near the current ones that give every switch a path to every destination.

use crate::network::{Channel, Network, SwitchId};
use crate::order::ChannelOrder;
use crate::schemes;
use crate::table::{Destination, Table};
use crate::tables::{ChannelPositions, Graph, NONE, TreeBuilder};

/// The current tables with changes only for destinations that have lost paths, or that prevent others from
/// having paths.
///
/// The current paths ascend in `order`. A search moves channels in this order until all switches can reach
/// all others. Destinations whose paths are complete and still ascend keep their entries. Other
/// destinations get the shortest ascending paths, over current channels where possible.
///
/// `None` if the search finds no such order. Other seeds may find one, and find other tables.
pub(super) fn nearby_table(
    network: &Network,
    current: &Table,
    order: &ChannelOrder,
    seed: u64,
) -> Option<Table> {
    let order = schemes::connecting_order(network, order, seed)?;
    let graph = Graph::of(network);
    let positions = ChannelPositions::of(network, &order);
    let mut builder = TreeBuilder::new(&graph);
    let mut table = current.clone();
    for to in current.destinations() {
        if is_complete(network, current, &order, to) {
            continue;
        }
        let mut costs = vec![1.0; graph.channels];
        let used = network.switch_ids().filter_map(|s| current.next(network, s, to));
        used.for_each(|c| costs[c.index()] = 0.0);
        let tree = builder.build(&graph, Some(&positions), to.switch(network).0, &costs);
        for (s, c) in tree.next.iter().enumerate().filter(|(_, c)| **c != NONE) {
            table.set(SwitchId(s as u32), to, Some(network.out_port(Channel(*c))));
        }
    }
    Some(table)
}

/// Whether all switches reach a destination along channels that ascend.
fn is_complete(network: &Network, table: &Table, order: &ChannelOrder, to: Destination) -> bool {
    let end = to.switch(network);
    network.switch_ids().filter(|s| *s != end).all(|s| {
        let Some(c) = table.next(network, s, to) else { return false };
        // Channels ascend from hop to hop, so every path ends, and it can end only at the destination.
        network.to(c) == end
            || table.next(network, network.to(c), to).is_some_and(|next| order.allows(c, next))
    })
}

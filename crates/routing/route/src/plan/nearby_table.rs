//! Tables near today's that give every switch a path to every destination.

use crate::network::{Channel, Network, SwitchId};
use crate::order::ChannelOrder;
use crate::schemes;
use crate::table::{Destination, Table, home};
use crate::tables::{Graph, NONE, Places, TreeBuilder};

/// Today's tables, changed only where a destination has lost paths, or stands in the way of one that
/// has. `today` ascends in `order`. From there a search moves channels in the order until all can reach
/// all; destinations whose paths are whole and still ascend stay as they are, and the others get the
/// shortest paths that ascend, by today's channels where these do.
///
/// Nothing if no such order is found; another seed may find one, and other tables.
pub fn near(network: &Network, today: &Table, order: &ChannelOrder, seed: u64) -> Option<Table> {
    let order = schemes::reaching(network, order, seed)?;
    let graph = Graph::of(network);
    let places = Places::of(network, &order);
    let mut builder = TreeBuilder::new(&graph);
    let mut table = today.clone();
    for to in today.destinations() {
        if whole(network, today, &order, to) {
            continue;
        }
        let mut costs = vec![1.0; graph.channels];
        network.switch_ids().filter_map(|s| today.next(network, s, to)).for_each(|c| costs[c.index()] = 0.0);
        let tree = builder.build(&graph, Some(&places), home(network, to).0, &costs);
        for (s, c) in tree.next.iter().enumerate().filter(|(_, c)| **c != NONE) {
            table.set(SwitchId(s as u32), to, Some(network.out_port(Channel(*c))));
        }
    }
    Some(table)
}

/// Whether all switches reach a destination, along channels that ascend.
fn whole(network: &Network, table: &Table, order: &ChannelOrder, to: Destination) -> bool {
    let end = home(network, to);
    network.switch_ids().filter(|s| *s != end).all(|s| {
        let Some(c) = table.next(network, s, to) else { return false };
        // Each hop is higher than the last, so that this ends at the destination.
        network.to(c) == end || table.next(network, network.to(c), to).is_some_and(|on| order.allows(c, on))
    })
}

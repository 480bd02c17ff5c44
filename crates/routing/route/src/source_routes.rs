//! Source routing: the sender writes the whole path into the packet, as in Myrinet.

use crate::network::{Channel, Network, SwitchId};
use crate::order::ChannelOrder;
use crate::table::{Destination, Table};
use evenkeel_random::Random;

/// One path for each ordered pair of switches. Packets between end nodes take the path of their switches.
///
/// Paths to one destination need not form a tree. So every pair can have a shortest path among those that an
/// order allows, which destination-based tables cannot always give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRoutes {
    switches: usize,
    /// The channels of all paths, one path after the other, by sender's and then by receiver's switch.
    channels: Vec<Channel>,
    /// By pair: where its path begins.
    start: Vec<u32>,
}

impl SourceRoutes {
    /// A shortest allowed path for each pair, chosen at random.
    ///
    /// At each hop, every channel that begins a shortest allowed remainder is equally likely. Pairs without
    /// an allowed path have an empty one. O(switches · turns).
    pub fn shortest(network: &Network, order: &ChannelOrder, random: &mut Random) -> SourceRoutes {
        let n = network.switches().len();
        let latest_first: Vec<Channel> = order.lowest_first().into_iter().rev().collect();
        let mut paths: Vec<Vec<Channel>> = vec![Vec::new(); n * n];
        for to in network.switch_ids() {
            let left = hops_left(network, order, &latest_first, to);
            for from in network.switch_ids().filter(|from| *from != to) {
                let path = &mut paths[from.index() * n + to.index()];
                let mut at = from;
                while at != to {
                    let usable = |c: &Channel| path.last().is_none_or(|p: &Channel| order.allows(*p, *c));
                    let open: Vec<Channel> = network.leaving(at).iter().copied().filter(usable).collect();
                    let Some(least) = open.iter().filter_map(|c| left[c.index()]).min() else { break };
                    let best: Vec<Channel> =
                        open.into_iter().filter(|c| left[c.index()] == Some(least)).collect();
                    let c = best[random.below(best.len())];
                    path.push(c);
                    at = network.to(c);
                }
            }
        }
        SourceRoutes::from_paths(n, &paths)
    }

    /// The paths of a table to the first end node of each switch, or to the management port of a switch
    /// without end nodes.
    pub fn from_table(network: &Network, table: &Table) -> SourceRoutes {
        let n = network.switches().len();
        let mut paths = vec![Vec::new(); n * n];
        for s in network.switch_ids() {
            let to =
                network.end_nodes_at(s).first().map_or(Destination::Switch(s), |e| Destination::EndNode(*e));
            for from in network.switch_ids() {
                paths[from.index() * n + s.index()] = table.path(network, from, to).unwrap_or_default();
            }
        }
        SourceRoutes::from_paths(n, &paths)
    }

    fn from_paths(switches: usize, paths: &[Vec<Channel>]) -> SourceRoutes {
        let mut start = vec![0];
        for path in paths {
            start.push(start[start.len() - 1] + path.len() as u32);
        }
        SourceRoutes { switches, channels: paths.concat(), start }
    }

    /// The channels from one switch to another. Empty from a switch to itself, and if no path is allowed.
    pub fn path(&self, from: SwitchId, to: SwitchId) -> &[Channel] {
        let pair = from.index() * self.switches + to.index();
        &self.channels[self.start[pair] as usize..self.start[pair + 1] as usize]
    }
}

/// By channel: hops of the shortest allowed path to a switch that begins with this channel.
fn hops_left(
    network: &Network,
    order: &ChannelOrder,
    latest_first: &[Channel],
    to: SwitchId,
) -> Vec<Option<u32>> {
    let mut left: Vec<Option<u32>> = vec![None; network.channels()];
    // The channels that may follow a channel are later in the order, so their hops are known already.
    for c in latest_first {
        let end = network.to(*c);
        left[c.index()] = if end == to {
            Some(1)
        } else {
            let onward = network.leaving(end).iter().filter(|next| order.allows(*c, **next));
            onward.filter_map(|next| left[next.index()]).min().map(|hops| hops + 1)
        };
    }
    left
}

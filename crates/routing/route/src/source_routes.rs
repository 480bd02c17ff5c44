//! Source routes: the sender puts the whole path into the packet, as in Myrinet.

use crate::network::{Channel, Network, SwitchId};
use crate::order::ChannelOrder;
use crate::table::{Destination, Table, home};
use evenkeel_random::Random;

/// One path for each ordered pair of switches; what end nodes send to each other takes that of their
/// switches.
///
/// A path need not agree with any other, so that all pairs can have a shortest path that the order
/// allows, which destination-based tables cannot always give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRoutes {
    switches: usize,
    /// By sender's switch and receiver's switch; all channels one after the other.
    channels: Vec<Channel>,
    start: Vec<u32>,
}

impl SourceRoutes {
    /// For each pair one of its shortest allowed paths: from hop to hop, one of the channels that lead on
    /// in time, each as likely as any other. Pairs without any allowed path have an empty one. O(switches ·
    /// turns).
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
        SourceRoutes::of(n, &paths)
    }

    /// The paths that a table gives to each switch's first end node or, where it has none, its management
    /// port.
    pub fn from_table(network: &Network, table: &Table) -> SourceRoutes {
        let n = network.switches().len();
        let mut paths = vec![Vec::new(); n * n];
        for s in network.switch_ids() {
            let to = network.attached(s).first().map_or(Destination::Switch(s), |e| Destination::EndNode(*e));
            for from in network.switch_ids() {
                paths[from.index() * n + home(network, to).index()] =
                    table.path(network, from, to).unwrap_or_default();
            }
        }
        SourceRoutes::of(n, &paths)
    }

    fn of(switches: usize, paths: &[Vec<Channel>]) -> SourceRoutes {
        let mut start = vec![0];
        for path in paths {
            start.push(start[start.len() - 1] + path.len() as u32);
        }
        SourceRoutes { switches, channels: paths.concat(), start }
    }

    /// The channels from one switch to another; none from a switch to itself, or where no path is allowed.
    pub fn path(&self, from: SwitchId, to: SwitchId) -> &[Channel] {
        let pair = from.index() * self.switches + to.index();
        &self.channels[self.start[pair] as usize..self.start[pair + 1] as usize]
    }
}

/// By channel: how many hops the shortest allowed path to a switch has that begins with it.
fn hops_left(
    network: &Network,
    order: &ChannelOrder,
    latest_first: &[Channel],
    to: SwitchId,
) -> Vec<Option<u32>> {
    let mut left: Vec<Option<u32>> = vec![None; network.channels()];
    // What a channel may be followed by comes later in the order, so it is known by then.
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

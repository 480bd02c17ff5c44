//! Orders that make routing free of deadlock: of the switches, as in up*/down* routing, and of the channels.

use crate::network::{Channel, Network, SwitchId};

/// A total order of the switches, whose highest is the root. A channel leads *up* if it leads to a higher
/// switch.
///
/// Up*/down* routing allows every turn except from a down channel to an up channel. The schemes of that
/// family (breadth first, depth first, the genetic search) differ only in this order. In a connected network,
/// an allowed path joins every two switches if and only if exactly one switch has no higher neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchOrder {
    /// By switch: its position, from 0.
    position: Vec<u32>,
}

impl SwitchOrder {
    /// The order in which these switches ascend.
    ///
    /// # Panics
    /// If a switch is missing or given twice.
    pub fn from_lowest(switches: &[SwitchId]) -> SwitchOrder {
        let mut position = vec![u32::MAX; switches.len()];
        for (i, s) in switches.iter().enumerate() {
            assert_eq!(position[s.index()], u32::MAX, "switch {} is given twice", s.0);
            position[s.index()] = i as u32;
        }
        SwitchOrder { position }
    }

    /// The position of a switch, from 0 for the lowest.
    pub fn position(&self, s: SwitchId) -> u32 {
        self.position[s.index()]
    }

    /// The switches, lowest first.
    pub fn lowest_first(&self) -> Vec<SwitchId> {
        let mut all: Vec<SwitchId> = (0..self.position.len() as u32).map(SwitchId).collect();
        all.sort_unstable_by_key(|s| self.position(*s));
        all
    }

    /// Whether a channel leads to a higher switch.
    pub fn leads_up(&self, network: &Network, c: Channel) -> bool {
        self.position(network.from(c)) < self.position(network.to(c))
    }

    /// Number of switches without a higher neighbour. In a connected network all pairs have an allowed path
    /// if this is 1.
    pub fn roots(&self, network: &Network) -> usize {
        let above = |s: &SwitchId| network.leaving(*s).iter().any(|c| self.leads_up(network, *c));
        network.switch_ids().filter(|s| !above(s)).count()
    }

    /// Number of forbidden turns, counted separately for each direction.
    ///
    /// These are the ordered pairs of up channels from a switch to different neighbours. Parallel cables to a
    /// neighbour count separately.
    pub fn restrictions(&self, network: &Network) -> u64 {
        let of = |s: SwitchId| {
            let up: Vec<Channel> =
                network.leaving(s).iter().copied().filter(|c| self.leads_up(network, *c)).collect();
            up.iter()
                .map(|a| up.iter().filter(|b| network.to(**b) != network.to(*a)).count() as u64)
                .sum::<u64>()
        };
        network.switch_ids().map(of).sum()
    }
}

/// A total order of the channels. A path is allowed if its channels ascend.
///
/// Whatever the tables, the channel dependency graph then has no cycle, so packets never deadlock (Dally and
/// Seitz 1987). The converse holds too: every channel dependency graph without a cycle has such an order. An
/// order of channels is more general than an order of switches, which allows a turn in both directions or in
/// neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelOrder {
    /// By channel: its position, from 0.
    position: Vec<u32>,
}

impl ChannelOrder {
    /// The order in which these channels ascend.
    ///
    /// # Panics
    /// If a channel is missing or given twice.
    pub fn from_lowest(channels: &[Channel]) -> ChannelOrder {
        let mut position = vec![u32::MAX; channels.len()];
        for (i, c) in channels.iter().enumerate() {
            assert_eq!(position[c.index()], u32::MAX, "channel {} is given twice", c.0);
            position[c.index()] = i as u32;
        }
        ChannelOrder { position }
    }

    /// The order that allows the same paths as up*/down* routing with a switch order.
    ///
    /// Up channels come first, those from lower switches before those from higher ones. Down channels follow,
    /// those from higher switches first.
    pub fn up_down(network: &Network, order: &SwitchOrder) -> ChannelOrder {
        let mut channels: Vec<Channel> = network.channel_ids().collect();
        channels.sort_by_key(|c| {
            let position = i64::from(order.position(network.from(*c)));
            if order.leads_up(network, *c) { (false, position) } else { (true, -position) }
        });
        ChannelOrder::from_lowest(&channels)
    }

    /// The position of a channel, from 0 for the lowest.
    pub fn position(&self, c: Channel) -> u32 {
        self.position[c.index()]
    }

    /// The channels, lowest first.
    pub fn lowest_first(&self) -> Vec<Channel> {
        let mut all: Vec<Channel> = (0..self.position.len() as u32).map(Channel).collect();
        all.sort_unstable_by_key(|c| self.position(*c));
        all
    }

    /// Whether a path may continue from one channel to the next.
    pub fn allows(&self, first: Channel, then: Channel) -> bool {
        self.position(first) < self.position(then)
    }
}

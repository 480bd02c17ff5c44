//! Orders, from which freedom from deadlock follows: of the switches, as in up*/down* routing, and of
//! the channels.

use crate::network::{Channel, Network, SwitchId};

/// A total order on the switches; the highest is the root. A channel leads *up* if it leads to a higher
/// switch.
///
/// Up*/down* routing allows every turn but those from a down channel to an up channel. All schemes of
/// that family (breadth-first, depth-first, the genetic search) differ in this order alone. Every two
/// switches are joined by an allowed path exactly if one switch has no higher neighbour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchOrder {
    /// By switch: its place, from 0.
    place: Vec<u32>,
}

impl SwitchOrder {
    /// From the switches, lowest first.
    ///
    /// # Panics
    /// If a switch is missing or named twice.
    pub fn from_lowest(switches: &[SwitchId]) -> SwitchOrder {
        let mut place = vec![u32::MAX; switches.len()];
        for (i, s) in switches.iter().enumerate() {
            assert_eq!(place[s.index()], u32::MAX, "switch {} is named twice", s.0);
            place[s.index()] = i as u32;
        }
        SwitchOrder { place }
    }

    pub fn place(&self, s: SwitchId) -> u32 {
        self.place[s.index()]
    }

    /// The switches, lowest first.
    pub fn lowest_first(&self) -> Vec<SwitchId> {
        let mut all: Vec<SwitchId> = (0..self.place.len() as u32).map(SwitchId).collect();
        all.sort_unstable_by_key(|s| self.place(*s));
        all
    }

    pub fn leads_up(&self, network: &Network, c: Channel) -> bool {
        self.place(network.from(c)) < self.place(network.to(c))
    }

    /// Switches without a higher neighbour. In a connected network, all pairs have an allowed path if there
    /// is one of them.
    pub fn roots(&self, network: &Network) -> usize {
        let above = |s: &SwitchId| network.leaving(*s).iter().any(|c| self.leads_up(network, *c));
        network.switch_ids().filter(|s| !above(s)).count()
    }

    /// Turns that are forbidden, each direction counted by itself: pairs of different neighbours above a
    /// switch. A second cable to the same neighbour makes further turns.
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

/// A total order on the channels; a path is allowed if its channels ascend.
///
/// Then no cycle of channels that wait for each other can close, whatever the tables, so that packets
/// never deadlock (Dally and Seitz 1987; the converse holds too: whatever is free of cycles has such an
/// order). It is more general than an order of switches, where a turn is allowed in both directions or
/// in none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelOrder {
    /// By channel; all differ.
    place: Vec<u32>,
}

impl ChannelOrder {
    /// From the channels, lowest first.
    ///
    /// # Panics
    /// If a channel is missing or named twice.
    pub fn from_lowest(channels: &[Channel]) -> ChannelOrder {
        let mut place = vec![u32::MAX; channels.len()];
        for (i, c) in channels.iter().enumerate() {
            assert_eq!(place[c.index()], u32::MAX, "channel {} is named twice", c.0);
            place[c.index()] = i as u32;
        }
        ChannelOrder { place }
    }

    /// The order that allows what up*/down* routing by a switch order allows: first the channels up, those
    /// from lower switches first, then the channels down, those from higher switches first.
    pub fn up_down(network: &Network, order: &SwitchOrder) -> ChannelOrder {
        let mut channels: Vec<Channel> = network.channel_ids().collect();
        channels.sort_by_key(|c| {
            let place = i64::from(order.place(network.from(*c)));
            if order.leads_up(network, *c) { (false, place) } else { (true, -place) }
        });
        ChannelOrder::from_lowest(&channels)
    }

    pub fn place(&self, c: Channel) -> u32 {
        self.place[c.index()]
    }

    /// The channels, lowest first.
    pub fn lowest_first(&self) -> Vec<Channel> {
        let mut all: Vec<Channel> = (0..self.place.len() as u32).map(Channel).collect();
        all.sort_unstable_by_key(|c| self.place(*c));
        all
    }

    /// Whether a packet may go on from one channel to the next.
    pub fn allows(&self, first: Channel, then: Channel) -> bool {
        self.place(first) < self.place(then)
    }
}

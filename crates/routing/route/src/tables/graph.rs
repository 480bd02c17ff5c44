//! The network as plain arrays, for loops that run billions of times.

use crate::network::{Channel, Network, SwitchId};
use crate::order::ChannelOrder;

pub(crate) struct Graph {
    pub switches: usize,
    pub channels: usize,
    pub from: Vec<u32>,
    pub to: Vec<u32>,
    /// Channels into each switch, and where each switch's begin.
    pub into: Vec<u32>,
    pub into_start: Vec<u32>,
    /// Channels out of each switch, and where each switch's begin; the same numbers of them as into it.
    pub leaving: Vec<u32>,
    /// By channel: which of its switch's channels it is.
    pub slot: Vec<u32>,
    /// By channel: where its turns begin.
    turn_start: Vec<u32>,
    /// End nodes at each switch: what it sends for.
    pub weight: Vec<u32>,
    /// Those of them that count as receivers; all, unless only part of the destinations is looked at.
    pub receiving: Vec<u32>,
}

impl Graph {
    pub fn of(network: &Network) -> Graph {
        let (mut into, mut into_start, mut leaving, mut slot) =
            (Vec::new(), vec![0], Vec::new(), vec![0; network.channels()]);
        for s in network.switch_ids() {
            into.extend(network.leaving(s).iter().map(|c| c.reverse().0));
            leaving.extend(network.leaving(s).iter().map(|c| c.0));
            network.leaving(s).iter().enumerate().for_each(|(i, c)| slot[c.index()] = i as u32);
            into_start.push(into.len() as u32);
        }
        let weight: Vec<u32> =
            network.switch_ids().map(|s: SwitchId| network.attached(s).len() as u32).collect();
        let mut turn_start = vec![0];
        for c in network.channel_ids() {
            turn_start.push(turn_start[c.index()] + network.leaving(network.to(c)).len() as u32);
        }
        Graph {
            switches: network.switches().len(),
            channels: network.channels(),
            from: network.channel_ids().map(|c| network.from(c).0).collect(),
            to: network.channel_ids().map(|c: Channel| network.to(c).0).collect(),
            into,
            into_start,
            leaving,
            slot,
            turn_start,
            receiving: weight.clone(),
            weight,
        }
    }

    pub fn entering(&self, s: u32) -> &[u32] {
        &self.into[self.into_start[s as usize] as usize..self.into_start[s as usize + 1] as usize]
    }

    pub fn leaving(&self, s: u32) -> &[u32] {
        &self.leaving[self.into_start[s as usize] as usize..self.into_start[s as usize + 1] as usize]
    }

    /// A number for each two channels of which the second begins where the first ends; they lie close
    /// together for each first.
    pub fn turn(&self, first: u32, then: u32) -> usize {
        (self.turn_start[first as usize] + self.slot[then as usize]) as usize
    }

    /// How many turns there are, those back to where one came from among them.
    pub fn turns(&self) -> usize {
        self.turn_start[self.channels] as usize
    }
}

/// An order of the channels, from both sides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// By channel: its place, from 0.
    pub place: Vec<u32>,
    /// The channels, from the last place to the first.
    pub latest_first: Vec<u32>,
}

impl Places {
    pub fn new(place: Vec<u32>) -> Places {
        let mut latest_first = vec![0; place.len()];
        place.iter().enumerate().for_each(|(c, p)| latest_first[place.len() - 1 - *p as usize] = c as u32);
        Places { place, latest_first }
    }

    pub fn of(network: &Network, order: &ChannelOrder) -> Places {
        Places::new(network.channel_ids().map(|c| order.place(c)).collect())
    }
}

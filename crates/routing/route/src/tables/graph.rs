//! The network as plain arrays of numbers, for loops that run billions of times.

use crate::network::Network;

/// A network as arrays.
pub(crate) struct Graph {
    /// Number of switches.
    pub switches: usize,
    /// Number of channels.
    pub channels: usize,
    /// By channel: the switch that it leaves, and the switch that it enters.
    pub from: Vec<u32>,
    pub to: Vec<u32>,
    /// Channels that enter each switch and that leave it, one switch after the other. A switch has as many of
    /// either, so that both begin at `start`.
    entering: Vec<u32>,
    leaving: Vec<u32>,
    start: Vec<u32>,
    /// By channel: its index among the channels that leave its switch.
    slot: Vec<u32>,
    /// By channel: the number of its first turn.
    turn_start: Vec<u32>,
    /// By switch: end nodes, which send packets.
    pub senders: Vec<u32>,
    /// By switch: end nodes that count as destinations. All do, unless only some destinations are of
    /// interest.
    pub receivers: Vec<u32>,
}

impl Graph {
    /// The arrays of a network.
    pub fn of(network: &Network) -> Graph {
        let (mut entering, mut leaving, mut start) = (Vec::new(), Vec::new(), vec![0]);
        let mut slot = vec![0; network.channels()];
        for s in network.switch_ids() {
            entering.extend(network.leaving(s).iter().map(|c| c.reverse().0));
            leaving.extend(network.leaving(s).iter().map(|c| c.0));
            network.leaving(s).iter().enumerate().for_each(|(i, c)| slot[c.index()] = i as u32);
            start.push(leaving.len() as u32);
        }
        let senders: Vec<u32> = network.switch_ids().map(|s| network.end_nodes_at(s).len() as u32).collect();
        let mut turn_start = vec![0];
        for c in network.channel_ids() {
            turn_start.push(turn_start[c.index()] + network.leaving(network.to(c)).len() as u32);
        }
        Graph {
            switches: network.switches().len(),
            channels: network.channels(),
            from: network.channel_ids().map(|c| network.from(c).0).collect(),
            to: network.channel_ids().map(|c| network.to(c).0).collect(),
            entering,
            leaving,
            start,
            slot,
            turn_start,
            receivers: senders.clone(),
            senders,
        }
    }

    /// The channels that enter a switch.
    pub fn entering(&self, s: u32) -> &[u32] {
        &self.entering[self.start[s as usize] as usize..self.start[s as usize + 1] as usize]
    }

    /// The channels that leave a switch.
    pub fn leaving(&self, s: u32) -> &[u32] {
        &self.leaving[self.start[s as usize] as usize..self.start[s as usize + 1] as usize]
    }

    /// The number of a turn: of two channels of which the second leaves the switch that the first enters.
    /// The turns of one first channel have adjacent numbers.
    pub fn turn(&self, first: u32, then: u32) -> usize {
        (self.turn_start[first as usize] + self.slot[then as usize]) as usize
    }

    /// Number of turns, including those back to the switch that a packet came from.
    pub fn turns(&self) -> usize {
        self.turn_start[self.channels] as usize
    }
}

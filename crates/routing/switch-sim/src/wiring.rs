//! Switches, hosts and the channels between them, as arrays of numbers.

use evenkeel_route::{EndNodeId, Network, SwitchId};

/// One direction of a link, by its number in a [`Wiring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u32);

/// What is at an end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A switch.
    Switch(SwitchId),
    /// A host.
    Host(EndNodeId),
}

/// A network as the simulator needs it.
///
/// Link `i` between switches has the channels `2i`, from its first switch to its second, and `2i + 1`,
/// back. After all links, each host has a channel into its switch and one from it. Parallel links are links
/// of their own.
#[derive(Clone, Debug)]
pub struct Wiring {
    switches: u32,
    links: Vec<(SwitchId, SwitchId)>,
    /// By host: its switch.
    host_switch: Vec<SwitchId>,
    /// By switch: its outgoing channels, those to hosts last.
    out: Vec<Vec<ChannelId>>,
}

impl Wiring {
    /// The wiring of some links, with the switch of each host.
    ///
    /// # Panics
    /// If a link or a host names a switch that does not exist.
    pub fn new(switches: u32, links: Vec<(SwitchId, SwitchId)>, host_switch: Vec<SwitchId>) -> Wiring {
        let mut out = vec![Vec::new(); switches as usize];
        for (i, (a, b)) in links.iter().enumerate() {
            out[a.0 as usize].push(ChannelId(2 * i as u32));
            out[b.0 as usize].push(ChannelId(2 * i as u32 + 1));
        }
        for (h, s) in host_switch.iter().enumerate() {
            out[s.0 as usize].push(ChannelId((2 * links.len() + 2 * h + 1) as u32));
        }
        Wiring { switches, links, host_switch, out }
    }

    /// The wiring of a network. Channels between switches keep their numbers.
    pub fn of(network: &Network) -> Wiring {
        let links = network.channel_ids().step_by(2).map(|c| (network.from(c), network.to(c))).collect();
        Wiring::new(
            network.switches().len() as u32,
            links,
            network.end_nodes().iter().map(|e| e.switch).collect(),
        )
    }

    /// Number of switches.
    pub fn switches(&self) -> u32 {
        self.switches
    }

    /// Number of hosts.
    pub fn hosts(&self) -> u32 {
        self.host_switch.len() as u32
    }

    /// Number of channels, including those of hosts.
    pub fn channels(&self) -> u32 {
        2 * (self.links.len() + self.host_switch.len()) as u32
    }

    /// The links between switches, each with its two switches.
    pub fn links(&self) -> &[(SwitchId, SwitchId)] {
        &self.links
    }

    /// The switch to which a host is attached.
    pub fn switch_of(&self, host: EndNodeId) -> SwitchId {
        self.host_switch[host.0 as usize]
    }

    /// All channels that leave a switch, to switches and to hosts.
    pub fn leaving(&self, switch: SwitchId) -> &[ChannelId] {
        &self.out[switch.0 as usize]
    }

    /// The channel from a host into its switch.
    pub fn injection(&self, host: EndNodeId) -> ChannelId {
        ChannelId((2 * self.links.len()) as u32 + 2 * host.0)
    }

    /// The channel from a switch to its host.
    pub fn ejection(&self, host: EndNodeId) -> ChannelId {
        ChannelId(self.injection(host).0 + 1)
    }

    /// The node that a channel leaves.
    pub fn from(&self, channel: ChannelId) -> Node {
        self.end(channel, channel.0 % 2 == 0)
    }

    /// The node that a channel enters.
    pub fn to(&self, channel: ChannelId) -> Node {
        self.end(channel, channel.0 % 2 == 1)
    }

    fn end(&self, channel: ChannelId, first: bool) -> Node {
        let link = channel.0 as usize / 2;
        match self.links.get(link) {
            Some((a, b)) => Node::Switch(if first { *a } else { *b }),
            None => {
                let host = EndNodeId((link - self.links.len()) as u32);
                if first { Node::Host(host) } else { Node::Switch(self.switch_of(host)) }
            }
        }
    }

    /// The least number of links from a switch to another, as `[from][to]`; `u32::MAX` without a path.
    pub fn distances(&self) -> Vec<Vec<u32>> {
        (0..self.switches).map(|s| self.distances_from(SwitchId(s))).collect()
    }

    fn distances_from(&self, from: SwitchId) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.switches as usize];
        distance[from.0 as usize] = 0;
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(s) = queue.pop_front() {
            for channel in self.leaving(s) {
                if let Node::Switch(next) = self.to(*channel) {
                    if distance[next.0 as usize] == u32::MAX {
                        distance[next.0 as usize] = distance[s.0 as usize] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        distance
    }

    /// A name for people: "switch 3 -> switch 5".
    pub fn name(&self, channel: ChannelId) -> String {
        let end = |e: Node| match e {
            Node::Switch(s) => format!("switch {}", s.0),
            Node::Host(h) => format!("host {}", h.0),
        };
        format!("{} -> {}", end(self.from(channel)), end(self.to(channel)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_know_their_ends() {
        let s = SwitchId;
        let wiring = Wiring::new(3, vec![(s(0), s(1)), (s(1), s(2))], vec![s(0), s(2)]);
        assert_eq!(wiring.channels(), 8);
        assert_eq!(
            (wiring.from(ChannelId(3)), wiring.to(ChannelId(3))),
            (Node::Switch(s(2)), Node::Switch(s(1)))
        );
        let (into, out) = (wiring.injection(EndNodeId(1)), wiring.ejection(EndNodeId(1)));
        assert_eq!((wiring.from(into), wiring.to(into)), (Node::Host(EndNodeId(1)), Node::Switch(s(2))));
        assert_eq!((wiring.from(out), wiring.to(out)), (Node::Switch(s(2)), Node::Host(EndNodeId(1))));
        assert_eq!(wiring.leaving(s(2)), [ChannelId(3), out]);
        assert_eq!(wiring.distances()[0], [0, 1, 2]);
        assert_eq!(wiring.name(ChannelId(0)), "switch 0 -> switch 1");
    }
}

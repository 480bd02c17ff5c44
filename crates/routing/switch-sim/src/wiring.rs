//! Switches, hosts and the channels between them, as arrays.

use evenkeel_route::{EndNodeId, Network, SwitchId};

/// One direction of a link, by its number in its [`Wiring`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u32);

/// What stands at an end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Switch(SwitchId),
    Host(EndNodeId),
}

/// A network as the simulator wants it. Link `i` is the channels `2i` (as given) and `2i + 1` (back);
/// after all links, host `h` has a channel into its switch and one out of it. Several links between the
/// same switches are several links.
#[derive(Clone, Debug)]
pub struct Wiring {
    switches: u32,
    links: Vec<(SwitchId, SwitchId)>,
    home: Vec<SwitchId>,
    /// Outgoing channels of each switch, those to hosts last.
    out: Vec<Vec<ChannelId>>,
}

impl Wiring {
    /// `home[h]` is the switch of host `h`. Panics if a link or a host names a switch that is not there.
    pub fn new(switches: u32, links: Vec<(SwitchId, SwitchId)>, home: Vec<SwitchId>) -> Wiring {
        let mut out = vec![Vec::new(); switches as usize];
        for (i, (a, b)) in links.iter().enumerate() {
            out[a.0 as usize].push(ChannelId(2 * i as u32));
            out[b.0 as usize].push(ChannelId(2 * i as u32 + 1));
        }
        for (h, s) in home.iter().enumerate() {
            out[s.0 as usize].push(ChannelId((2 * links.len() + 2 * h + 1) as u32));
        }
        Wiring { switches, links, home, out }
    }

    /// Channels between switches keep the numbers that they have in the network.
    pub fn of(network: &Network) -> Wiring {
        let links = network.channel_ids().step_by(2).map(|c| (network.from(c), network.to(c))).collect();
        Wiring::new(
            network.switches().len() as u32,
            links,
            network.end_nodes().iter().map(|e| e.switch).collect(),
        )
    }

    pub fn switches(&self) -> u32 {
        self.switches
    }

    pub fn hosts(&self) -> u32 {
        self.home.len() as u32
    }

    pub fn channels(&self) -> u32 {
        2 * (self.links.len() + self.home.len()) as u32
    }

    pub fn links(&self) -> &[(SwitchId, SwitchId)] {
        &self.links
    }

    /// The switch that a host is attached to.
    pub fn home(&self, host: EndNodeId) -> SwitchId {
        self.home[host.0 as usize]
    }

    /// All channels that leave a switch, to switches and to hosts.
    pub fn leaving(&self, switch: SwitchId) -> &[ChannelId] {
        &self.out[switch.0 as usize]
    }

    /// From a host into its switch.
    pub fn injection(&self, host: EndNodeId) -> ChannelId {
        ChannelId((2 * self.links.len()) as u32 + 2 * host.0)
    }

    /// From a switch to its host.
    pub fn ejection(&self, host: EndNodeId) -> ChannelId {
        ChannelId(self.injection(host).0 + 1)
    }

    /// Where a channel begins.
    pub fn from(&self, channel: ChannelId) -> End {
        self.end(channel, channel.0 % 2 == 0)
    }

    /// Where a channel ends.
    pub fn to(&self, channel: ChannelId) -> End {
        self.end(channel, channel.0 % 2 == 1)
    }

    fn end(&self, channel: ChannelId, first: bool) -> End {
        let link = channel.0 as usize / 2;
        match self.links.get(link) {
            Some((a, b)) => End::Switch(if first { *a } else { *b }),
            None => {
                let host = EndNodeId((link - self.links.len()) as u32);
                if first { End::Host(host) } else { End::Switch(self.home(host)) }
            }
        }
    }

    /// Links from each switch to each other along the fewest of them; `u32::MAX` where there is no way.
    /// `[from][to]`.
    pub fn distances(&self) -> Vec<Vec<u32>> {
        (0..self.switches).map(|s| self.distances_from(SwitchId(s))).collect()
    }

    fn distances_from(&self, from: SwitchId) -> Vec<u32> {
        let mut distance = vec![u32::MAX; self.switches as usize];
        distance[from.0 as usize] = 0;
        let mut queue = std::collections::VecDeque::from([from]);
        while let Some(s) = queue.pop_front() {
            for channel in self.leaving(s) {
                if let End::Switch(next) = self.to(*channel) {
                    if distance[next.0 as usize] == u32::MAX {
                        distance[next.0 as usize] = distance[s.0 as usize] + 1;
                        queue.push_back(next);
                    }
                }
            }
        }
        distance
    }

    /// "switch 3 -> switch 5", for people.
    pub fn name(&self, channel: ChannelId) -> String {
        let end = |e: End| match e {
            End::Switch(s) => format!("switch {}", s.0),
            End::Host(h) => format!("host {}", h.0),
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
            (End::Switch(s(2)), End::Switch(s(1)))
        );
        let (into, out) = (wiring.injection(EndNodeId(1)), wiring.ejection(EndNodeId(1)));
        assert_eq!((wiring.from(into), wiring.to(into)), (End::Host(EndNodeId(1)), End::Switch(s(2))));
        assert_eq!((wiring.from(out), wiring.to(out)), (End::Switch(s(2)), End::Host(EndNodeId(1))));
        assert_eq!(wiring.leaving(s(2)), [ChannelId(3), out]);
        assert_eq!(wiring.distances()[0], [0, 1, 2]);
        assert_eq!(wiring.name(ChannelId(0)), "switch 0 -> switch 1");
    }
}

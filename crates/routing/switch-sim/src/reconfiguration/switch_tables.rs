//! What each switch takes its links for, and where it therefore sends packets: minimal adaptive lanes
//! with up*/down* to escape by.
//!
//! Whether a turn is legal is decided by the views of the switch where it is made, and by nothing else.
//! A link that a switch is about to reverse is *narrow* there: only turns that are legal both ways are
//! made.

use super::directed_graph::{Directed, FAR};
use crate::routing::{Lane, Routing};
use crate::simulator::packet::Packet;
use crate::wiring::{ChannelId, End, Wiring};
use evenkeel_route::SwitchId;
use std::rc::Rc;

/// What a switch takes a link for, from where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// The other end is up.
    Up,
    /// The other end is down.
    Down,
    /// It is being reversed.
    Narrow,
}

/// Whether a switch may send on by one link what came by another. A channel *from* an up neighbour is a
/// down channel.
pub fn legal(came_by: View, leaves_by: View) -> bool {
    // What came down must not go up again.
    came_by == View::Down || leaves_by == View::Down
}

/// Distances that a switch has been told: by links of a network with directions, and without.
#[derive(Clone, Debug)]
pub struct Knowledge {
    pub graph: Directed,
    /// As [`Directed::distances`] gives them.
    pub escape: Vec<[Vec<u32>; 2]>,
    /// `[to][from]`, whatever the directions.
    pub minimal: Vec<Vec<u32>>,
}

impl Knowledge {
    pub fn of(graph: &Directed) -> Rc<Knowledge> {
        let minimal = (0..graph.size()).map(|to| graph.hops(to)).collect();
        Rc::new(Knowledge { escape: graph.distances(), minimal, graph: graph.clone() })
    }
}

/// The tables of all switches.
#[derive(Clone, Debug)]
pub struct Views {
    /// By switch: its outgoing channels to switches, each with its link.
    leaving: Vec<Vec<(ChannelId, u32, u32)>>,
    home: Vec<u32>,
    links: u32,
    /// By channel: what the switch that it *leaves* takes its link for.
    pub view: Vec<View>,
    /// By channel: whether it works, as the switch that it leaves knows.
    pub works: Vec<bool>,
    /// By switch: what its minimal tables and its escape tables were made from; nothing: they are empty.
    pub minimal: Vec<Option<Rc<Knowledge>>>,
    pub escape: Vec<Option<Rc<Knowledge>>>,
    /// By switch: what it goes by where these know no way.
    pub before: Vec<Option<Rc<Knowledge>>>,
    /// While tables change, packets without a way to escape may go by adaptive lanes or wait: control
    /// messages do not wait for packets, so there will be a way, or they are found out in the end.
    pub changing: bool,
}

impl Views {
    pub fn new(wiring: &Wiring, graph: &Directed) -> Views {
        let knowledge = Knowledge::of(graph);
        let links = wiring.links().len() as u32;
        let leaving = |s: u32| {
            let to = |c: &ChannelId| match wiring.to(*c) {
                End::Switch(next) => Some((*c, c.0 / 2, next.0)),
                End::Host(_) => None,
            };
            wiring.leaving(SwitchId(s)).iter().filter_map(to).collect()
        };
        let mut views = Views {
            leaving: (0..wiring.switches()).map(leaving).collect(),
            home: (0..wiring.hosts()).map(|h| wiring.home(evenkeel_route::EndNodeId(h)).0).collect(),
            links,
            view: vec![View::Up; 2 * links as usize],
            works: vec![true; 2 * links as usize],
            minimal: vec![Some(knowledge.clone()); wiring.switches() as usize],
            escape: vec![Some(knowledge); wiring.switches() as usize],
            before: vec![None; wiring.switches() as usize],
            changing: false,
        };
        (0..links).for_each(|link| views.follow(graph, link));
        views
    }

    /// Both ends take a link for what it is in a network with directions.
    pub fn follow(&mut self, graph: &Directed, link: u32) {
        for (channel, from) in
            [(2 * link, graph.links[link as usize].0), (2 * link + 1, graph.links[link as usize].1)]
        {
            self.view[channel as usize] = if graph.leads_up(link, from) { View::Up } else { View::Down };
            self.works[channel as usize] = graph.works(link);
        }
    }

    /// The channel by which a switch uses one of its links.
    pub fn channel(&self, graph: &Directed, link: u32, from: u32) -> usize {
        (2 * link + u32::from(graph.links[link as usize].1 == from)) as usize
    }

    /// The way to escape: of the legal channels the one nearest to the destination by the switch's own
    /// knowledge.
    pub fn escape(&self, at: u32, came_by: Option<ChannelId>, to: u32) -> Option<ChannelId> {
        let usable = || {
            let works = self.leaving[at as usize].iter().filter(|(c, _, _)| self.works[c.0 as usize]);
            works.filter(|(c, _, _)| {
                came_by.is_none_or(|came| legal(self.view[came.0 as usize ^ 1], self.view[c.0 as usize]))
            })
        };
        let nearest = |knowledge: &Rc<Knowledge>| {
            // After a way up all is possible, after a way down only down.
            let phase = |c: ChannelId| usize::from(self.view[c.0 as usize] != View::Up);
            let near =
                usable().map(|(c, _, next)| (knowledge.escape[to as usize][phase(*c)][*next as usize], *c));
            near.filter(|(d, _)| *d != FAR).min().map(|(_, c)| c)
        };
        self.escape[at as usize].as_ref().and_then(nearest).or_else(|| {
            self.escape[at as usize].as_ref().and(self.before[at as usize].as_ref()).and_then(nearest)
        })
    }

    /// Dependencies between escape channels that the views allow, whatever the tables say: a packet may
    /// hold the first and wait for the second. A packet may have come into any channel by adaptive lanes,
    /// so all turns count.
    pub fn dependencies(&self, alive: &[bool]) -> Vec<Vec<u32>> {
        let mut after = vec![Vec::new(); 2 * self.links as usize];
        // Where there are no tables nothing is sent on.
        for (_, leaving) in
            self.leaving.iter().enumerate().filter(|(s, _)| alive[*s] && self.escape[*s].is_some())
        {
            for (back, _, _) in leaving.iter().filter(|(c, _, _)| self.works[c.0 as usize]) {
                for (onward, _, _) in leaving.iter().filter(|(c, _, _)| self.works[c.0 as usize] && c != back)
                {
                    if legal(self.view[back.0 as usize], self.view[onward.0 as usize]) {
                        after[back.0 as usize ^ 1].push(onward.0);
                    }
                }
            }
        }
        after
    }

    /// Whether no escape channel can wait for itself: the first invariant.
    pub fn escape_is_acyclic(&self, alive: &[bool]) -> bool {
        let after = self.dependencies(alive);
        let mut before = vec![0_u32; after.len()];
        after.iter().flatten().for_each(|c| before[*c as usize] += 1);
        let mut free: Vec<u32> = (0..after.len() as u32).filter(|c| before[*c as usize] == 0).collect();
        let mut taken = 0;
        while let Some(c) = free.pop() {
            taken += 1;
            for next in &after[c as usize] {
                before[*next as usize] -= 1;
                if before[*next as usize] == 0 {
                    free.push(*next);
                }
            }
        }
        taken == after.len()
    }
}

impl Routing for Views {
    fn candidates(&self, at: SwitchId, from: Lane, packet: &Packet, out: &mut Vec<Lane>) {
        let to = self.home[packet.destination.0 as usize];
        // What comes by an adaptive lane holds no escape channel any more, since the whole packet fits into a
        // buffer: it begins anew.
        let came_by = Some(from.channel).filter(|c| c.0 < 2 * self.links && from.lane == 0);
        let escape = self.escape(at.0, came_by, to);
        // A packet that the escape tables know no way for has nothing to wait for: adaptive lanes alone may
        // wait in circles.
        if escape.is_none() && !self.changing {
            return;
        }
        if let Some(knowledge) = &self.minimal[at.0 as usize] {
            let here = knowledge.minimal[to as usize][at.0 as usize];
            let nearer = |next: u32| knowledge.minimal[to as usize][next as usize] < here;
            out.extend(
                self.leaving[at.0 as usize]
                    .iter()
                    .filter(|(c, _, next)| self.works[c.0 as usize] && nearer(*next))
                    .map(|(c, _, _)| Lane { channel: *c, lane: 1 }),
            );
        }
        out.extend(escape.map(|channel| Lane { channel, lane: 0 }));
    }
}

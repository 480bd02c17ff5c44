//! The tables of all switches, as a routing function: minimal adaptive lanes, and up*/down* escape paths.
//!
//! Each switch decides by its own tables alone whether a turn is allowed. While it reverses a link, it
//! makes only turns that are allowed in both directions.

use super::directed_graph::{DirectedGraph, UNREACHABLE};
use super::link_direction::{LinkDirection, is_turn_allowed};
use super::topology_snapshot::TopologySnapshot;
use crate::packet::Packet;
use crate::routing::{Routing, VirtualLane};
use crate::wiring::{ChannelId, Node, Wiring};
use evenkeel_route::SwitchId;
use std::rc::Rc;

/// The tables of all switches.
#[derive(Clone, Debug)]
pub struct SwitchTables {
    /// By switch: its outgoing channels to switches, each with its link and the neighbour.
    leaving: Vec<Vec<(ChannelId, u32, u32)>>,
    /// By host: its switch.
    host_switch: Vec<u32>,
    links: u32,
    /// By channel: the direction of its link, as the switch that the channel *leaves* knows it.
    pub direction: Vec<LinkDirection>,
    /// By channel: whether it works, as far as the switch that it leaves knows.
    pub works: Vec<bool>,
    /// By switch: the topology from which its adaptive tables were made, or `None` if they are empty.
    pub minimal: Vec<Option<Rc<TopologySnapshot>>>,
    /// By switch: the topology from which its escape tables were made, or `None` if they are empty.
    pub escape: Vec<Option<Rc<TopologySnapshot>>>,
    /// By switch: the topology of its earlier escape tables, which it uses if the present ones have no path.
    pub previous_escape: Vec<Option<Rc<TopologySnapshot>>>,
    /// Whether tables are changing. Packets without an escape path may then take adaptive lanes or wait.
    /// Control messages do not wait for packets, so there will be a path, or the packets are stranded in
    /// the end.
    pub is_changing: bool,
}

impl SwitchTables {
    /// Tables that were made from a graph.
    pub fn new(wiring: &Wiring, graph: &DirectedGraph) -> SwitchTables {
        let snapshot = TopologySnapshot::of(graph);
        let links = wiring.links().len() as u32;
        let leaving = |s: u32| {
            let to = |c: &ChannelId| match wiring.to(*c) {
                Node::Switch(next) => Some((*c, c.0 / 2, next.0)),
                Node::Host(_) => None,
            };
            wiring.leaving(SwitchId(s)).iter().filter_map(to).collect()
        };
        let mut tables = SwitchTables {
            leaving: (0..wiring.switches()).map(leaving).collect(),
            host_switch: (0..wiring.hosts())
                .map(|h| wiring.switch_of(evenkeel_route::EndNodeId(h)).0)
                .collect(),
            links,
            direction: vec![LinkDirection::Up; 2 * links as usize],
            works: vec![true; 2 * links as usize],
            minimal: vec![Some(snapshot.clone()); wiring.switches() as usize],
            escape: vec![Some(snapshot); wiring.switches() as usize],
            previous_escape: vec![None; wiring.switches() as usize],
            is_changing: false,
        };
        (0..links).for_each(|link| tables.follow(graph, link));
        tables
    }

    /// Sets the direction of a link, and whether it works, at both ends as in a graph.
    pub fn follow(&mut self, graph: &DirectedGraph, link: u32) {
        for (channel, from) in
            [(2 * link, graph.links[link as usize].0), (2 * link + 1, graph.links[link as usize].1)]
        {
            self.direction[channel as usize] =
                if graph.leads_up(link, from) { LinkDirection::Up } else { LinkDirection::Down };
            self.works[channel as usize] = graph.works(link);
        }
    }

    /// Empties all tables of a switch.
    pub fn clear(&mut self, s: u32) {
        self.minimal[s as usize] = None;
        self.escape[s as usize] = None;
        self.previous_escape[s as usize] = None;
    }

    /// The channel by which a switch uses one of its links.
    pub fn channel(&self, graph: &DirectedGraph, link: u32, from: u32) -> usize {
        (2 * link + u32::from(graph.links[link as usize].1 == from)) as usize
    }

    /// The escape channel of a switch for a destination: of the allowed channels, the nearest by the
    /// switch's own tables.
    pub fn escape_channel(&self, at: u32, arrived_by: Option<ChannelId>, to: u32) -> Option<ChannelId> {
        let usable = || {
            let works = self.leaving[at as usize].iter().filter(|(c, _, _)| self.works[c.0 as usize]);
            works.filter(|(c, _, _)| {
                arrived_by.is_none_or(|by| {
                    is_turn_allowed(self.direction[by.0 as usize ^ 1], self.direction[c.0 as usize])
                })
            })
        };
        let nearest = |snapshot: &Rc<TopologySnapshot>| {
            // After an up channel a path may go up or down, after a down channel only down.
            let phase = |c: ChannelId| usize::from(self.direction[c.0 as usize] != LinkDirection::Up);
            let near =
                usable().map(|(c, _, next)| (snapshot.escape[to as usize][phase(*c)][*next as usize], *c));
            near.filter(|(d, _)| *d != UNREACHABLE).min().map(|(_, c)| c)
        };
        self.escape[at as usize].as_ref().and_then(nearest).or_else(|| {
            self.escape[at as usize]
                .as_ref()
                .and(self.previous_escape[at as usize].as_ref())
                .and_then(nearest)
        })
    }

    /// The dependencies between escape channels that the directions allow: a packet may hold the first
    /// channel and wait for the second. Packets may enter any channel from adaptive lanes, so all allowed
    /// turns count, whatever the tables.
    pub fn dependencies(&self, alive: &[bool]) -> Vec<Vec<u32>> {
        let mut after = vec![Vec::new(); 2 * self.links as usize];
        // A switch without tables forwards nothing.
        for (_, leaving) in
            self.leaving.iter().enumerate().filter(|(s, _)| alive[*s] && self.escape[*s].is_some())
        {
            for (back, _, _) in leaving.iter().filter(|(c, _, _)| self.works[c.0 as usize]) {
                for (next, _, _) in leaving.iter().filter(|(c, _, _)| self.works[c.0 as usize] && c != back) {
                    if is_turn_allowed(self.direction[back.0 as usize], self.direction[next.0 as usize]) {
                        after[back.0 as usize ^ 1].push(next.0);
                    }
                }
            }
        }
        after
    }

    /// Whether the dependencies between escape channels have no cycle: the first invariant.
    pub fn escape_is_acyclic(&self, alive: &[bool]) -> bool {
        let after = self.dependencies(alive);
        let mut incoming = vec![0_u32; after.len()];
        after.iter().flatten().for_each(|c| incoming[*c as usize] += 1);
        let mut free: Vec<u32> = (0..after.len() as u32).filter(|c| incoming[*c as usize] == 0).collect();
        let mut removed = 0;
        while let Some(c) = free.pop() {
            removed += 1;
            for next in &after[c as usize] {
                incoming[*next as usize] -= 1;
                if incoming[*next as usize] == 0 {
                    free.push(*next);
                }
            }
        }
        removed == after.len()
    }
}

impl Routing for SwitchTables {
    fn candidates(&self, at: SwitchId, from: VirtualLane, packet: &Packet, out: &mut Vec<VirtualLane>) {
        let to = self.host_switch[packet.destination.0 as usize];
        // A packet that arrived by an adaptive lane holds no escape channel, because the whole packet fits
        // into a buffer. It may start an escape path here.
        let arrived_by = Some(from.channel).filter(|c| c.0 < 2 * self.links && from.lane == 0);
        let escape = self.escape_channel(at.0, arrived_by, to);
        // Without an escape path a packet must not wait for adaptive lanes, because their dependencies may
        // have cycles.
        if escape.is_none() && !self.is_changing {
            return;
        }
        if let Some(snapshot) = &self.minimal[at.0 as usize] {
            let here = snapshot.minimal[to as usize][at.0 as usize];
            let nearer = |next: u32| snapshot.minimal[to as usize][next as usize] < here;
            out.extend(
                self.leaving[at.0 as usize]
                    .iter()
                    .filter(|(c, _, next)| self.works[c.0 as usize] && nearer(*next))
                    .map(|(c, _, _)| VirtualLane { channel: *c, lane: 1 }),
            );
        }
        out.extend(escape.map(|channel| VirtualLane { channel, lane: 0 }));
    }
}

//! Explores whole reconfiguration protocols in every order of events, on networks that are too large for
//! tests.
//!
//!     cargo run --release -p evenkeel-switch-sim --example explorations

use evenkeel_route::SwitchId;
use evenkeel_switch_sim::Wiring;
use evenkeel_switch_sim::reconfiguration::directed_graph::DirectedGraph;
use evenkeel_switch_sim::reconfiguration::exploration::{ExplorationError, ProtocolFault, explore_protocol};
use evenkeel_switch_sim::reconfiguration::{Protocol, TopologyChange};

/// What is explored: links, changes in their order, and the protocol.
type Exploration = (&'static [(u32, u32)], Vec<TopologyChange>, Protocol);

const MAX_STATES: usize = 1_000_000;

fn main() {
    use TopologyChange::{SwitchAdded, SwitchRemoved};
    let triangle: &'static [(u32, u32)] = &[(0, 1), (1, 2), (0, 2)];
    let ring: &'static [(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3)];
    let diamond: &'static [(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)];
    let complete: &'static [(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3), (1, 3), (0, 2)];
    let planned = Protocol::Planned;
    let mut all: Vec<Exploration> = (0..3).map(|s| (triangle, vec![SwitchAdded(s)], planned)).collect();
    all.extend((0..4).map(|s| (ring, vec![SwitchAdded(s)], planned)));
    all.push((triangle, vec![SwitchRemoved(0), SwitchAdded(0)], planned));
    for protocol in [Protocol::Static, Protocol::Overlapped, planned] {
        all.push((diamond, vec![SwitchRemoved(0), SwitchRemoved(2)], protocol));
        all.push((complete, vec![SwitchRemoved(3), SwitchRemoved(0)], protocol));
        all.push((ring, vec![SwitchRemoved(0), SwitchAdded(0)], protocol));
    }
    all.push((diamond, vec![SwitchAdded(0)], planned));
    for (links, changes, protocol) in all {
        match explore(links, &changes, protocol) {
            Ok(states) => println!("{links:?}, {changes:?}, {protocol:?}: {states} states, all correct"),
            Err(error) => println!("{links:?}, {changes:?}, {protocol:?}: {error}"),
        }
    }
}

fn explore(
    links: &[(u32, u32)],
    changes: &[TopologyChange],
    protocol: Protocol,
) -> Result<usize, ExplorationError> {
    let switches = links.iter().map(|l| l.1 + 1).max().expect("there are links");
    let pairs = links.iter().map(|(a, b)| (SwitchId(*a), SwitchId(*b))).collect();
    let wiring = Wiring::new(switches, pairs, Vec::new());
    let absent = if let TopologyChange::SwitchAdded(s) = changes[0] { Some(s) } else { None };
    let is_alive: Vec<bool> = (0..switches).map(|s| Some(s) != absent).collect();
    let root = is_alive.iter().position(|a| *a).expect("a switch works") as u32;
    let graph = DirectedGraph::breadth_first(is_alive, links.to_vec(), vec![true; links.len()], root);
    explore_protocol(&wiring, &graph, changes, protocol, ProtocolFault::None, MAX_STATES)
}

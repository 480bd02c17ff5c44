//! Whole protocols of reconfiguration on networks of four switches, in every order of events: those
//! that are too large for tests.
//!
//!     cargo run --release -p evenkeel-switch-sim --example explorations

use evenkeel_route::SwitchId;
use evenkeel_switch_sim::Wiring;
use evenkeel_switch_sim::reconfiguration::directed_graph::Directed;
use evenkeel_switch_sim::reconfiguration::exploration::{Mistake, explore};
use evenkeel_switch_sim::reconfiguration::{Change, Method};

/// Links, changes one after the other, and the protocol.
type Case = (&'static [(u32, u32)], Vec<Change>, Method);

const MOST: usize = 1_000_000;

fn main() {
    use Change::{SwitchComes, SwitchGoes};
    let triangle: &'static [(u32, u32)] = &[(0, 1), (1, 2), (0, 2)];
    let ring: &'static [(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3)];
    let diamond: &'static [(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)];
    let complete: &'static [(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3), (1, 3), (0, 2)];
    let planned = Method::Planned;
    let mut cases: Vec<Case> = (0..3).map(|s| (triangle, vec![SwitchComes(s)], planned)).collect();
    cases.extend((0..4).map(|s| (ring, vec![SwitchComes(s)], planned)));
    cases.push((triangle, vec![SwitchGoes(0), SwitchComes(0)], planned));
    for method in [Method::Static, Method::Overlapped, planned] {
        cases.push((diamond, vec![SwitchGoes(0), SwitchGoes(2)], method));
        cases.push((complete, vec![SwitchGoes(3), SwitchGoes(0)], method));
        cases.push((ring, vec![SwitchGoes(0), SwitchComes(0)], method));
    }
    cases.push((diamond, vec![SwitchComes(0)], planned));
    for (links, changes, method) in cases {
        let switches = links.iter().map(|l| l.1 + 1).max().expect("links");
        let wiring = Wiring::new(
            switches,
            links.iter().map(|(a, b)| (SwitchId(*a), SwitchId(*b))).collect(),
            Vec::new(),
        );
        let absent = if let SwitchComes(s) = changes[0] { Some(s) } else { None };
        let alive: Vec<bool> = (0..switches).map(|s| Some(s) != absent).collect();
        let root = alive.iter().position(|a| *a).expect("somebody is there") as u32;
        let graph = Directed::breadth_first(alive, links.to_vec(), vec![true; links.len()], root);
        match explore(&wiring, &graph, &changes, method, Mistake::None, MOST) {
            Ok(states) => println!("{links:?}, {changes:?}, {method:?}: {states} states, all right"),
            Err(why) => println!("{links:?}, {changes:?}, {method:?}: {why}"),
        }
    }
}

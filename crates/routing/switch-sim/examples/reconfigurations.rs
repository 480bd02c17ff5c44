//! Removes the root of random networks under traffic and adds it again, with each protocol. Prints a line
//! of JSON for each change.
//!
//!     cargo run --release -p evenkeel-switch-sim --example reconfigurations \
//!         > bench/switch-sim/reconfigurations.jsonl

use evenkeel_route::generate;
use evenkeel_switch_sim::reconfiguration::directed_graph::DirectedGraph;
use evenkeel_switch_sim::reconfiguration::switch_tables::SwitchTables;
use evenkeel_switch_sim::reconfiguration::{ControlParameters, Protocol, TopologyChange, reconfigure};
use evenkeel_switch_sim::*;

/// When the root is removed and added. In the paper, both are 100,000 cycles later.
const CHANGES: [(TopologyChange, u64); 2] =
    [(TopologyChange::SwitchRemoved(0), 50_000), (TopologyChange::SwitchAdded(0), 100_000)];

fn main() {
    for switches in [8, 16, 24, 32, 48, 64] {
        for seed in 1..=10 {
            let shape = generate::Irregular { switches, degree: 4, end_nodes: 4, parallel: false };
            let wiring = Wiring::of(&generate::irregular(shape, seed).expect("such a network exists"));
            for protocol in [Protocol::Static, Protocol::Overlapped, Protocol::Planned] {
                remove_and_add_root(&wiring, seed, protocol);
            }
        }
    }
}

fn remove_and_add_root(wiring: &Wiring, seed: u64, protocol: Protocol) {
    let switches = wiring.switches() as usize;
    let links: Vec<(u32, u32)> = wiring.links().iter().map(|(a, b)| (a.0, b.0)).collect();
    let working = vec![true; links.len()];
    let mut graph = DirectedGraph::breadth_first(vec![true; switches], links, working, 0);
    let parameters = Parameters { buffer_phits: 16, ..Parameters::CUT_THROUGH };
    let mut simulator = Simulator::new(wiring, parameters, SwitchTables::new(wiring, &graph))
        .expect("the parameters are in range");
    let load = 2.0 / (switches as f64).sqrt() / 16.0;
    let traffic = Traffic { pattern: Pattern::Uniform, length: Length::Fixed(16), load, copies: 1, seed };
    let mut traffic = OpenLoop::new(traffic, wiring);
    for (change, at) in CHANGES {
        while simulator.now() < at {
            simulator.run((simulator.now() + 1000).min(at), &mut traffic).expect("no deadlock");
            simulator.discard_stranded();
        }
        let control = ControlParameters::USUAL;
        let cost = reconfigure(&mut simulator, &mut traffic, &mut graph, change, protocol, control)
            .unwrap_or_else(|e| panic!("{switches} {seed} {protocol:?} {change:?}: {e}"));
        let record = serde_json::json!({
            "switches": switches, "seed": seed, "load": load, "method": protocol,
            "change": change, "outcome": cost,
        });
        println!("{record}");
    }
}

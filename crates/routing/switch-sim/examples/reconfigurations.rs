//! The root of random networks goes and comes back under traffic, by each protocol: a line of JSON for
//! each.
//!
//!     cargo run --release -p evenkeel-switch-sim --example reconfigurations > bench/switch-sim/reconfigurations.jsonl

use evenkeel_route::generate;
use evenkeel_switch_sim::reconfiguration::directed_graph::Directed;
use evenkeel_switch_sim::reconfiguration::switch_tables::Views;
use evenkeel_switch_sim::reconfiguration::{Change, Method, Settings, reconfigure};
use evenkeel_switch_sim::*;

/// The paper's times: the root goes at 150,000 cycles and comes back at 200,000; here everything is
/// 100,000 earlier.
const GOES: u64 = 50_000;
const COMES: u64 = 100_000;

fn main() {
    for switches in [8, 16, 24, 32, 48, 64] {
        for seed in 1..=10 {
            let of = generate::Irregular { switches, degree: 4, end_nodes: 4, parallel: false };
            let wiring = Wiring::of(&generate::irregular(of, seed).expect("a possible network"));
            let links: Vec<(u32, u32)> = wiring.links().iter().map(|(a, b)| (a.0, b.0)).collect();
            for method in [Method::Static, Method::Overlapped, Method::Planned] {
                let mut graph =
                    Directed::breadth_first(vec![true; switches], links.clone(), vec![true; links.len()], 0);
                let parameters = Parameters { buffer_phits: 16, ..Parameters::CUT_THROUGH };
                let mut simulator = Simulator::new(&wiring, parameters, Views::new(&wiring, &graph))
                    .expect("right parameters");
                let load = 2.0 / (switches as f64).sqrt() / 16.0;
                let mut traffic = OpenLoop::new(
                    Traffic { pattern: Pattern::Uniform, length: Length::Fixed(16), load, copies: 1, seed },
                    &wiring,
                );
                for (change, at) in [(Change::SwitchGoes(0), GOES), (Change::SwitchComes(0), COMES)] {
                    while simulator.now() < at {
                        simulator.run((simulator.now() + 1000).min(at), &mut traffic).expect("no deadlock");
                        simulator.discard_stranded();
                    }
                    let outcome = reconfigure(
                        &mut simulator,
                        &mut traffic,
                        &mut graph,
                        change,
                        method,
                        Settings::USUAL,
                    )
                    .unwrap_or_else(|e| panic!("{switches} {seed} {method:?} {change:?}: {e}"));
                    let record = serde_json::json!({"switches": switches, "seed": seed, "load": load, "method": method, "change": change, "outcome": outcome});
                    println!("{record}");
                }
            }
        }
    }
}

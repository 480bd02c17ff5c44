//! Measures how many phits the simulator moves per second on one core: a mesh of 64 switches and 256 hosts
//! with dimension-order tables, with wormhole and with cut-through switching.
//!
//!     cargo run --release -p evenkeel-switch-sim --example speed

use evenkeel_route::{EndNodeId, SwitchId};
use evenkeel_switch_sim::*;
use std::time::Instant;

const SIDE: u32 = 8;

fn mesh() -> (Wiring, TableRouting) {
    let mut links = Vec::new();
    for s in 0..SIDE * SIDE {
        if s % SIDE + 1 < SIDE {
            links.push((SwitchId(s), SwitchId(s + 1)));
        }
        if s / SIDE + 1 < SIDE {
            links.push((SwitchId(s), SwitchId(s + SIDE)));
        }
    }
    let wiring = Wiring::new(SIDE * SIDE, links, (0..4 * SIDE * SIDE).map(|h| SwitchId(h / 4)).collect());
    let mut table = TableRouting::new(wiring.switches(), wiring.hosts());
    for at in 0..wiring.switches() {
        for to in 0..wiring.hosts() {
            let end = wiring.switch_of(EndNodeId(to)).0;
            let next = match (at % SIDE, end % SIDE) {
                (a, b) if a < b => at + 1,
                (a, b) if a > b => at - 1,
                _ if at < end => at + SIDE,
                _ if at > end => at - SIDE,
                _ => continue,
            };
            let leads = |c: &&ChannelId| wiring.to(**c) == Node::Switch(SwitchId(next));
            let channel = *wiring.leaving(SwitchId(at)).iter().find(leads).expect("neighbours are connected");
            table.set(SwitchId(at), to, VirtualLane { channel, lane: 0 });
        }
    }
    (wiring, table)
}

fn main() {
    let (wiring, table) = mesh();
    for (name, parameters) in
        [("wormhole, one lane", Parameters::MYRINET), ("cut-through, two lanes", Parameters::CUT_THROUGH)]
    {
        for load in [0.05, 0.15, 0.9] {
            let mut simulator =
                Simulator::new(&wiring, parameters, table.clone()).expect("the parameters are in range");
            let traffic =
                Traffic { pattern: Pattern::Uniform, length: Length::Fixed(32), load, copies: 1, seed: 1 };
            let mut traffic = OpenLoop::new(traffic, &wiring);
            let begun = Instant::now();
            simulator.run(50_000, &mut traffic).expect("no deadlock");
            let moves = simulator.phits_moved().iter().sum::<u64>() as f64 / 1e6;
            let seconds = begun.elapsed().as_secs_f64();
            let rate = moves / seconds;
            println!(
                "{name:>24}, load {load:4}: {moves:6.1} million moves in {seconds:.2} s, \
                 {rate:.1} million per second"
            );
        }
    }
}

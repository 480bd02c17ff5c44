//! Compares up*/down* routing by breadth-first and by depth-first trees on random networks (Sancho, Robles,
//! Duato, CANPC 2000, table 1). Prints a line of JSON for each network and tree.
//!
//!     cargo run --release -p evenkeel-switch-sim --example table1 > bench/switch-sim/table1.jsonl

use evenkeel_route::{ChannelOrder, Network, Random, SourceRoutes, SwitchId, SwitchOrder, generate, schemes};

const NETWORKS: u64 = 100;

fn main() {
    for switches in [9, 16, 32, 64] {
        for seed in 1..=NETWORKS {
            let shape = generate::Irregular { switches, degree: 4, end_nodes: 4, parallel: false };
            let network = generate::irregular(shape, seed).expect("such a network exists");
            for (scheme, order) in [
                ("bfs", schemes::breadth_first(&network, schemes::best_root(&network))),
                ("dfs", schemes::depth_first(&network)),
            ] {
                println!("{}", figures(&network, &order, scheme, seed));
            }
        }
    }
}

/// Figures over all ordered pairs of switches, with one random shortest legal path for each.
fn figures(network: &Network, order: &SwitchOrder, scheme: &str, seed: u64) -> serde_json::Value {
    let routes =
        SourceRoutes::shortest(network, &ChannelOrder::up_down(network, order), &mut Random::new(seed));
    let n = network.switches().len();
    let mut load = vec![0_u32; network.channels()];
    let (mut hops, mut longer, mut diameter) = (0, 0, 0);
    for from in network.switch_ids() {
        let minimal = distances(network, from);
        for to in network.switch_ids().filter(|to| *to != from) {
            let path = routes.path(from, to);
            path.iter().for_each(|c| load[c.index()] += 1);
            hops += path.len();
            longer += u32::from(path.len() > minimal[to.0 as usize]);
            diameter = diameter.max(path.len());
        }
    }
    let pairs = (n * (n - 1)) as f64;
    serde_json::json!({
        "switches": n, "scheme": scheme, "seed": seed, "distance": hops as f64 / pairs,
        "restrictions": order.restrictions(network) as f64 / n as f64,
        "longer": f64::from(longer) / pairs, "diameter": diameter, "load": load.into_iter().max(),
    })
}

fn distances(network: &Network, from: SwitchId) -> Vec<usize> {
    let mut distance = vec![usize::MAX; network.switches().len()];
    distance[from.0 as usize] = 0;
    let mut queue = std::collections::VecDeque::from([from]);
    while let Some(s) = queue.pop_front() {
        for c in network.leaving(s) {
            let next = network.to(*c);
            if distance[next.0 as usize] == usize::MAX {
                distance[next.0 as usize] = distance[s.0 as usize] + 1;
                queue.push_back(next);
            }
        }
    }
    distance
}

//! Table 1 of Sancho, Robles and Duato (CANPC 2000), as far as it can be reproduced.
//!
//! The paper does not say which generator the authors used, nor how they chose among equal paths. So
//! distances and restrictions agree within some per cent, and loads and long paths do not.

use evenkeel_route::generate::{Irregular, irregular};
use evenkeel_route::schemes::{best_root, breadth_first, depth_first};
use evenkeel_route::{ChannelOrder, Network, Random, SourceRoutes, SwitchOrder};

/// Mean over ordered pairs of switches, and restrictions per switch.
fn row(network: &Network, order: &SwitchOrder, seed: u64) -> [f64; 2] {
    let n = network.switches().len() as f64;
    let routes =
        SourceRoutes::shortest(network, &ChannelOrder::up_down(network, order), &mut Random::new(seed));
    let hops: usize = network
        .switch_ids()
        .map(|a| network.switch_ids().map(|b| routes.path(a, b).len()).sum::<usize>())
        .sum();
    [hops as f64 / (n * (n - 1.0)), order.restrictions(network) as f64 / n]
}

#[test]
fn distances_and_restrictions_are_those_of_table_1() {
    // Switches; then average distance and restrictions per switch, of breadth-first and of depth-first trees.
    let printed = [
        (9, [1.583, 3.774], [1.556, 3.552]),
        (16, [2.208, 3.375], [2.108, 3.125]),
        (32, [3.102, 3.562], [2.792, 2.821]),
        (64, [4.013, 3.281], [3.634, 2.687]),
    ];
    for (switches, breadth, depth) in printed {
        let count = if switches == 64 { 4 } else { 10 };
        let mut sums = [[0.0; 2]; 2];
        // The paper's switches have all ports in use.
        let made = (1..).map(|seed| {
            (seed, irregular(Irregular { switches, degree: 4, end_nodes: 4, parallel: false }, seed).unwrap())
        });
        for (seed, network) in made.filter(|(_, network)| network.channels() == 4 * switches).take(count) {
            let found = [
                row(&network, &breadth_first(&network, best_root(&network)), seed),
                row(&network, &depth_first(&network), seed),
            ];
            sums.iter_mut()
                .flatten()
                .zip(found.iter().flatten())
                .for_each(|(sum, found)| *sum += found / count as f64);
        }
        println!(
            "{switches} switches: breadth first {:.3?}, printed {breadth:.3?}; \
             depth first {:.3?}, printed {depth:.3?}",
            sums[0], sums[1]
        );
        for (printed, found, band) in [(breadth, sums[0], 0.09), (depth, sums[1], 0.06)] {
            for i in 0..2 {
                assert!(
                    (found[i] / printed[i] - 1.0).abs() < band,
                    "{switches} switches: {found:?}, printed {printed:?}"
                );
            }
        }
    }
}

//! Every scheme on networks of every kind: all packets arrive, nothing can deadlock, and each scheme keeps
//! its promises.

use evenkeel_route::check::{Traffic, check, check_traffic};
use evenkeel_route::generate::{self, Dragonfly, Failures, FatTree, Hierarchical, Irregular, Torus};
use evenkeel_route::schemes::{
    AscendingSearch, GeneticParameters, ascending, ascending_lanes, best_root, breadth_first, depth_first,
    exhaustive, genetic, local_search, propagation_order, static_fitness,
};
use evenkeel_route::tables::{BalanceEffort, balanced, balanced_lanes, minimal};
use evenkeel_route::{
    Channel, ChannelOrder, Destination, Network, Random, SourceRoutes, SwitchId, SwitchOrder,
};

fn irregular(switches: usize, degree: usize, end_nodes: usize, seed: u64) -> Network {
    generate::irregular(Irregular { switches, degree, end_nodes, parallel: false }, seed).unwrap()
}

fn networks() -> Vec<Network> {
    let torus =
        generate::torus(&Torus { sizes: vec![3, 3, 3], wrapped: true, cables: 2, end_nodes: 1 }).unwrap();
    let tree = generate::fat_tree(&FatTree::three_levels(3)).unwrap();
    vec![
        irregular(20, 3, 2, 3),
        irregular(24, 5, 1, 4),
        generate::with_failures(&torus, Failures { cables: 5, switches: 1 }, 1).unwrap(),
        generate::with_failures(&tree, Failures { cables: 6, switches: 2 }, 1).unwrap(),
        generate::dragonfly(Dragonfly { groups: 5, switches: 3, global: 2, end_nodes: 2 }).unwrap(),
        generate::hierarchical(
            Hierarchical { groups: 4, switches: 5, degree: 3, uplinks: 4, end_nodes: 1 },
            6,
        )
        .unwrap(),
    ]
}

fn few_steps() -> AscendingSearch {
    AscendingSearch { effort: 0.1, seed: 1 }
}

fn orders(network: &Network) -> Vec<(&'static str, ChannelOrder)> {
    let up_down = |order: SwitchOrder| {
        assert_eq!(order.roots(network), 1);
        ChannelOrder::up_down(network, &order)
    };
    vec![
        ("breadth first", up_down(breadth_first(network, SwitchId(0)))),
        ("best root", up_down(breadth_first(network, best_root(network)))),
        ("depth first", up_down(depth_first(network))),
        ("propagation order", up_down(propagation_order(network, SwitchId(1), &mut Random::new(2)))),
        ("ascending", ascending(network, few_steps(), &mut |_| {})),
    ]
}

#[test]
fn no_scheme_deadlocks_whatever_packets_enter_anywhere() {
    for network in networks() {
        for (name, order) in orders(&network) {
            let found = check_traffic(
                &network,
                &balanced(&network, &order, BalanceEffort::default()),
                Traffic::Everything,
            );
            assert!(found.is_sound(), "{name}: {}", found.faults[0].describe(&network));
        }
    }
}

/// The twin of the test above: without an order, minimal paths deadlock.
#[test]
fn minimal_paths_are_minimal_and_can_deadlock() {
    let found = check(&irregular(24, 5, 1, 4), &minimal(&irregular(24, 5, 1, 4), BalanceEffort::default()));
    assert_eq!(found.non_minimal_pairs, 0);
    assert_eq!(found.faults.len(), 1, "one cycle, nothing else");
}

/// The claim on which the table builder rests.
#[test]
fn a_table_has_a_path_for_every_pair_with_an_ascending_path() {
    let (mut reached, mut cut_off) = (0, 0);
    for seed in 0..60 {
        let network = irregular(9, 3, 1, seed);
        let random = &mut Random::new(seed);
        let mut channels: Vec<Channel> = network.channel_ids().collect();
        random.shuffle(&mut channels);
        let order = ChannelOrder::from_lowest(&channels);
        let routes = SourceRoutes::shortest(&network, &order, random);
        let table = balanced(&network, &order, BalanceEffort::default());
        for e in network.end_node_ids() {
            let end = network.end_node(e).switch;
            for s in network.switch_ids().filter(|s| *s != end) {
                let path = table.path(&network, s, Destination::EndNode(e));
                assert_eq!(path.is_some(), !routes.path(s, end).is_empty(), "seed {seed}");
                assert!(
                    path.iter()
                        .flatten()
                        .zip(path.iter().flatten().skip(1))
                        .all(|(a, b)| order.allows(*a, *b))
                );
                if path.is_some() { reached += 1 } else { cut_off += 1 }
            }
        }
        let shortest: u64 = network
            .switch_ids()
            .map(|a| network.switch_ids().map(|b| routes.path(a, b).len() as u64).sum::<u64>())
            .sum();
        let found = check(&network, &table);
        assert!(
            found.broken_paths > 0 || found.mean_hops() * found.pairs as f64 >= shortest as f64 - 0.5,
            "no table is shorter than the shortest allowed paths"
        );
    }
    assert!(
        reached > 500 && cut_off > 500,
        "too few of one kind: {reached} pairs with a path, {cut_off} without"
    );
}

#[test]
fn ascending_has_fewer_hops_and_less_load_than_the_best_root() {
    for seed in 0..3 {
        let network = irregular(48, 4, 2, seed);
        let tree = ChannelOrder::up_down(&network, &breadth_first(&network, best_root(&network)));
        let ours = ascending(&network, AscendingSearch { effort: 0.5, seed: 1 }, &mut |_| {});
        let [tree, ours] =
            [tree, ours].map(|order| check(&network, &balanced(&network, &order, BalanceEffort::default())));
        assert!(ours.mean_hops() < 0.97 * tree.mean_hops(), "{} {}", ours.mean_hops(), tree.mean_hops());
        assert!(ours.max_load() < tree.max_load(), "{} {}", ours.max_load(), tree.max_load());
    }
}

#[test]
fn a_fat_tree_keeps_its_minimal_paths() {
    let network = generate::with_failures(
        &generate::fat_tree(&FatTree::two_levels(8, 4, 4)).unwrap(),
        Failures { cables: 3, switches: 0 },
        3,
    )
    .unwrap();
    let found = check(
        &network,
        &balanced(&network, &ascending(&network, few_steps(), &mut |_| {}), BalanceEffort::default()),
    );
    assert_eq!(found.non_minimal_pairs, 0);
}

#[test]
fn the_same_seed_gives_the_same_tables() {
    let network = irregular(20, 4, 2, 8);
    let make = |seed| {
        balanced(
            &network,
            &ascending(&network, AscendingSearch { effort: 0.2, seed }, &mut |_| {}),
            BalanceEffort::default(),
        )
    };
    assert_eq!(make(5), make(5));
    assert_ne!(make(5), make(6));
}

#[test]
fn progress_increases_from_0_to_1() {
    let mut seen = vec![0.0];
    ascending(&irregular(16, 4, 1, 1), few_steps(), &mut |share| seen.push(share));
    assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]));
    assert!((seen[seen.len() - 1] - 1.0).abs() < 0.05, "{seen:?}");
}

/// On graphs where all switches have degree 4, no order with one root forbids fewer than 2(N + 4)/N turns
/// per switch.
#[test]
fn depth_first_forbids_fewer_turns_than_breadth_first() {
    for seed in 0..3 {
        let network = irregular(32, 4, 4, seed);
        let each = |order: SwitchOrder| order.restrictions(&network) as f64 / 32.0;
        let (depth, breadth) =
            (each(depth_first(&network)), each(breadth_first(&network, best_root(&network))));
        assert!(depth < breadth && depth >= 2.0 * 36.0 / 32.0 - 0.3, "{depth} {breadth}");
    }
}

#[test]
fn generators_make_networks_of_the_size_that_they_promise() {
    let network = irregular(64, 6, 4, 1);
    assert_eq!((network.switches().len(), network.end_nodes().len()), (64, 256));
    assert!(network.is_connected() && network.channels() >= 64 * 6 - 4);
    assert_eq!(network, irregular(64, 6, 4, 1));
    assert_ne!(network, irregular(64, 6, 4, 2));
    let mut neighbours: Vec<_> = network.channel_ids().map(|c| (network.from(c), network.to(c))).collect();
    neighbours.sort();
    neighbours.dedup();
    assert_eq!(neighbours.len(), network.channels(), "no two cables join the same switches");

    let torus =
        generate::torus(&Torus { sizes: vec![4, 3, 2], wrapped: true, cables: 1, end_nodes: 2 }).unwrap();
    // A dimension of two switches has one cable, not two.
    assert_eq!(
        (torus.switches().len(), torus.channels() / 2, torus.end_nodes().len()),
        (24, 24 + 24 + 12, 48)
    );
    let tree = generate::fat_tree(&FatTree::three_levels(4)).unwrap();
    assert_eq!((tree.switches().len(), tree.end_nodes().len(), tree.channels() / 2), (80, 128, 256));
    assert_eq!(tree.distances(SwitchId(0)).into_iter().flatten().max(), Some(4));
    let dragonfly =
        generate::dragonfly(Dragonfly { groups: 9, switches: 4, global: 2, end_nodes: 2 }).unwrap();
    assert_eq!((dragonfly.switches().len(), dragonfly.channels() / 2), (36, 9 * 6 + 36));
    assert!(dragonfly.distances(SwitchId(0)).into_iter().flatten().max() <= Some(3));
    let left = generate::with_failures(&network, Failures { cables: 10, switches: 3 }, 4).unwrap();
    assert!(left.is_connected() && left.switches().len() == 61 && left.channels() < network.channels() - 20);
}

/// On so few switches all orders can be tried.
#[test]
fn searches_among_the_orders_of_switches_find_the_best_order_and_no_better_one() {
    let mut found = 0;
    for seed in 0..3 {
        let network = irregular(7, 3, 2, seed);
        let mut fitness = static_fitness(&network);
        let best = fitness(&exhaustive(&network, &mut static_fitness(&network)));
        let random = &mut Random::new(seed);
        let start = breadth_first(&network, SwitchId(0));
        let searched = [
            genetic(
                &network,
                std::slice::from_ref(&start),
                GeneticParameters::default(),
                &mut static_fitness(&network),
                random,
            ),
            local_search(&network, &start, 500, &mut static_fitness(&network), random),
        ];
        for order in searched {
            assert_eq!(order.roots(&network), 1);
            let worth = fitness(&order);
            assert!(best <= worth && worth <= fitness(&start), "{best} {worth}");
            found += u32::from(worth == best);
        }
    }
    assert!(found >= 4, "only {found} of 6 searches found the best");
}

#[test]
fn more_virtual_lanes_make_paths_shorter_and_none_can_deadlock() {
    let network = irregular(40, 4, 2, 2);
    let mut last = f64::INFINITY;
    for lanes in [1, 2, 4] {
        let (orders, lane) =
            ascending_lanes(&network, AscendingSearch { effort: 0.3, seed: 1 }, lanes, &mut |_| {});
        let table = balanced_lanes(&network, &orders, &lane, BalanceEffort::default());
        let found = check_traffic(&network, &table, Traffic::Everything);
        assert!(found.is_sound(), "{lanes}: {}", found.faults[0].describe(&network));
        assert!(found.mean_hops() < last, "{lanes} lanes: {} after {last}", found.mean_hops());
        last = found.mean_hops();
    }
}

#[test]
fn rebalancing_lowers_the_greatest_load_within_its_budget_of_hops() {
    let mut lower = 0;
    for seed in 0..6 {
        let network = irregular(30, 4, 2, seed);
        let order = ChannelOrder::up_down(&network, &depth_first(&network));
        let [before, same, longer] = [(0, 0.0), (400, 0.0), (400, 0.1)].map(|(candidates, detour)| {
            check(
                &network,
                &balanced(&network, &order, BalanceEffort { candidates, detour, ..BalanceEffort::default() }),
            )
        });
        assert!(same.is_sound() && longer.is_sound());
        assert!(same.max_load() <= before.max_load() && longer.max_load() <= before.max_load());
        assert!(same.mean_hops() <= before.mean_hops() + 1e-9);
        let detour = before.mean_hops() - before.mean_minimal_hops();
        assert!(longer.mean_hops() <= before.mean_hops() + 0.1 * detour + 1e-9);
        lower += u32::from(longer.max_load() < before.max_load());
    }
    assert!(lower >= 4, "it lowered the load on {lower} of 6 networks");
}

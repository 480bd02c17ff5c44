//! Every scheme, on networks of every kind: all can reach all, nothing can deadlock, and what a scheme
//! promises holds.

use evenkeel_route::check::{Traffic, check, check_traffic};
use evenkeel_route::generate::{self, Dragonfly, FatTree, Faults, Hierarchical, Irregular, Torus};
use evenkeel_route::schemes::{
    Genetic, Search, ascending, ascending_lanes, best_root, breadth_first, depth_first, exhaustive, genetic,
    local_search, post, static_fitness,
};
use evenkeel_route::tables::{Effort, balanced, balanced_lanes, minimal};
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
        generate::with_faults(&torus, Faults { cables: 5, switches: 1 }, 1).unwrap(),
        generate::with_faults(&tree, Faults { cables: 6, switches: 2 }, 1).unwrap(),
        generate::dragonfly(Dragonfly { groups: 5, switches: 3, global: 2, end_nodes: 2 }).unwrap(),
        generate::hierarchical(
            Hierarchical { groups: 4, switches: 5, degree: 3, uplinks: 4, end_nodes: 1 },
            6,
        )
        .unwrap(),
    ]
}

fn few_steps() -> Search {
    Search { effort: 0.1, seed: 1 }
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
        ("post", up_down(post(network, SwitchId(1), &mut Random::new(2)))),
        ("ascending", ascending(network, few_steps(), &mut |_| {})),
    ]
}

#[test]
fn every_scheme_is_sound_for_whatever_enters_anywhere() {
    for network in networks() {
        for (name, order) in orders(&network) {
            let found =
                check_traffic(&network, &balanced(&network, &order, Effort::default()), Traffic::Everything);
            assert!(found.sound(), "{name}: {}", found.faults[0].describe(&network));
        }
    }
}

/// Without an order minimal paths deadlock, or the above says nothing.
#[test]
fn minimal_paths_are_minimal_and_can_deadlock() {
    let found = check(&irregular(24, 5, 1, 4), &minimal(&irregular(24, 5, 1, 4), Effort::default()));
    assert_eq!(found.longer, 0);
    assert_eq!(found.faults.len(), 1, "one cycle, nothing else");
}

/// The claim on which the table builder rests: a tree has room for whoever has an ascending path at all.
#[test]
fn a_table_reaches_whatever_has_an_ascending_path() {
    let (mut reached, mut cut_off) = (0, 0);
    for seed in 0..60 {
        let network = irregular(9, 3, 1, seed);
        let random = &mut Random::new(seed);
        let mut channels: Vec<Channel> = network.channel_ids().collect();
        random.shuffle(&mut channels);
        let order = ChannelOrder::from_lowest(&channels);
        let routes = SourceRoutes::shortest(&network, &order, random);
        let table = balanced(&network, &order, Effort::default());
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
            found.broken > 0 || found.mean_hops() * found.pairs as f64 >= shortest as f64 - 0.5,
            "no table is shorter than the shortest allowed paths"
        );
    }
    assert!(
        reached > 500 && cut_off > 500,
        "{reached} pairs with a path and {cut_off} without are too few to say anything"
    );
}

#[test]
fn ours_has_fewer_hops_and_less_load_than_the_best_root() {
    for seed in 0..3 {
        let network = irregular(48, 4, 2, seed);
        let tree = ChannelOrder::up_down(&network, &breadth_first(&network, best_root(&network)));
        let ours = ascending(&network, Search { effort: 0.5, seed: 1 }, &mut |_| {});
        let [tree, ours] =
            [tree, ours].map(|order| check(&network, &balanced(&network, &order, Effort::default())));
        assert!(ours.mean_hops() < 0.97 * tree.mean_hops(), "{} {}", ours.mean_hops(), tree.mean_hops());
        assert!(ours.busiest() < tree.busiest(), "{} {}", ours.busiest(), tree.busiest());
    }
}

#[test]
fn a_fat_tree_keeps_its_minimal_paths() {
    let network = generate::with_faults(
        &generate::fat_tree(&FatTree::two_levels(8, 4, 4)).unwrap(),
        Faults { cables: 3, switches: 0 },
        3,
    )
    .unwrap();
    let found = check(
        &network,
        &balanced(&network, &ascending(&network, few_steps(), &mut |_| {}), Effort::default()),
    );
    assert_eq!(found.longer, 0);
}

#[test]
fn the_same_seed_gives_the_same_tables() {
    let network = irregular(20, 4, 2, 8);
    let make = |seed| {
        balanced(&network, &ascending(&network, Search { effort: 0.2, seed }, &mut |_| {}), Effort::default())
    };
    assert_eq!(make(5), make(5));
    assert_ne!(make(5), make(6));
}

#[test]
fn progress_runs_from_nothing_to_all() {
    let mut seen = vec![0.0];
    ascending(&irregular(16, 4, 1, 1), few_steps(), &mut |share| seen.push(share));
    assert!(seen.windows(2).all(|pair| pair[0] <= pair[1]));
    assert!((seen[seen.len() - 1] - 1.0).abs() < 0.05, "{seen:?}");
}

/// On graphs with equal degrees no order with one root forbids fewer turns than this (2(N + 4)/N per
/// switch for degree 4).
#[test]
fn depth_first_forbids_little() {
    for seed in 0..3 {
        let network = irregular(32, 4, 4, seed);
        let each = |order: SwitchOrder| order.restrictions(&network) as f64 / 32.0;
        let (depth, breadth) =
            (each(depth_first(&network)), each(breadth_first(&network, best_root(&network))));
        assert!(depth < breadth && depth >= 2.0 * 36.0 / 32.0 - 0.3, "{depth} {breadth}");
    }
}

#[test]
fn generators_make_what_they_say() {
    let network = irregular(64, 6, 4, 1);
    assert_eq!((network.switches().len(), network.end_nodes().len()), (64, 256));
    assert!(network.connected() && network.channels() >= 64 * 6 - 4);
    assert_eq!(network, irregular(64, 6, 4, 1));
    assert_ne!(network, irregular(64, 6, 4, 2));
    let mut neighbours: Vec<_> = network.channel_ids().map(|c| (network.from(c), network.to(c))).collect();
    neighbours.sort();
    neighbours.dedup();
    assert_eq!(neighbours.len(), network.channels(), "no two cables join the same switches");

    let torus =
        generate::torus(&Torus { sizes: vec![4, 3, 2], wrapped: true, cables: 1, end_nodes: 2 }).unwrap();
    // Along a dimension of two there is one cable, not two.
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
    let left = generate::with_faults(&network, Faults { cables: 10, switches: 3 }, 4).unwrap();
    assert!(left.connected() && left.switches().len() == 61 && left.channels() < network.channels() - 20);
}

/// On eight switches all orders can be tried: the searches find the best, and none finds better.
#[test]
fn searches_among_the_orders_of_switches_find_the_best_of_all() {
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
                Genetic::default(),
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
fn more_lanes_make_paths_shorter_and_each_is_sound() {
    let network = irregular(40, 4, 2, 2);
    let mut last = f64::INFINITY;
    for lanes in [1, 2, 4] {
        let (orders, lane) = ascending_lanes(&network, Search { effort: 0.3, seed: 1 }, lanes, &mut |_| {});
        let table = balanced_lanes(&network, &orders, &lane, Effort::default());
        let found = check_traffic(&network, &table, Traffic::Everything);
        assert!(found.sound(), "{lanes}: {}", found.faults[0].describe(&network));
        assert!(found.mean_hops() < last, "{lanes} lanes: {} after {last}", found.mean_hops());
        last = found.mean_hops();
    }
}

#[test]
fn mending_lowers_the_busiest_load_and_keeps_to_its_allowance() {
    let mut lower = 0;
    for seed in 0..6 {
        let network = irregular(30, 4, 2, seed);
        let order = ChannelOrder::up_down(&network, &depth_first(&network));
        let [before, same, longer] = [(0, 0.0), (400, 0.0), (400, 0.1)].map(|(looks, longer)| {
            check(&network, &balanced(&network, &order, Effort { looks, longer, ..Effort::default() }))
        });
        assert!(same.sound() && longer.sound());
        assert!(same.busiest() <= before.busiest() && longer.busiest() <= before.busiest());
        assert!(same.mean_hops() <= before.mean_hops() + 1e-9);
        let detour = before.mean_hops() - before.mean_minimal_hops();
        assert!(longer.mean_hops() <= before.mean_hops() + 0.1 * detour + 1e-9);
        lower += u32::from(longer.busiest() < before.busiest());
    }
    assert!(lower >= 4, "it lowered the load on {lower} of 6 networks");
}

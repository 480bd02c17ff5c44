//! Explores the reversal of links in every order of messages.

use evenkeel_route::{SwitchId, generate};
use evenkeel_switch_sim::Wiring;
use evenkeel_switch_sim::reconfiguration::directed_graph::DirectedGraph;
use evenkeel_switch_sim::reconfiguration::region_merge::region_merges;
use evenkeel_switch_sim::reconfiguration::reversal_exploration::{ReversalFault, explore_reversal};
use evenkeel_switch_sim::reconfiguration::switch_tables::SwitchTables;

/// A network whose links lead up to the higher number. It has no cycle, but may have several roots.
fn directed_by_number(switches: usize, links: &[(u32, u32)]) -> (Wiring, DirectedGraph) {
    let pairs = links.iter().map(|(a, b)| (SwitchId(*a), SwitchId(*b))).collect();
    let wiring = Wiring::new(switches as u32, pairs, Vec::new());
    let graph = DirectedGraph {
        is_alive: vec![true; switches],
        second_is_up: links.iter().map(|(a, b)| b > a).collect(),
        is_link_alive: vec![true; links.len()],
        links: links.to_vec(),
    };
    (wiring, graph)
}

fn random_network(seed: u64) -> (Wiring, DirectedGraph) {
    let switches = 5 + seed as usize % 4;
    let shape = generate::Irregular { switches, degree: 3, end_nodes: 0, parallel: false };
    let network = generate::irregular(shape, seed).unwrap();
    let links: Vec<(u32, u32)> =
        network.channel_ids().step_by(2).map(|c| (network.from(c).0, network.to(c).0)).collect();
    directed_by_number(switches, &links)
}

#[test]
fn reversing_links_makes_no_cycle_in_any_order_of_messages() {
    let mut networks: Vec<(Wiring, DirectedGraph)> = (0..30).map(random_network).collect();
    // A long path from the border, 0, to the false root, 3.
    let links = [(0, 1), (1, 2), (2, 3), (0, 7), (4, 7), (5, 7), (6, 7), (0, 2)];
    networks.push(directed_by_number(8, &links));
    let (mut states, mut noticed) = (0, [0, 0]);
    for (index, (wiring, mut graph)) in networks.into_iter().enumerate() {
        for merge in region_merges(&graph) {
            let tables = SwitchTables::new(&wiring, &graph);
            states += explore_reversal(&graph, &tables, &merge, ReversalFault::None)
                .unwrap_or_else(|e| panic!("network {index}: {e}"));
            for (i, fault) in
                [ReversalFault::NotMarked, ReversalFault::NoPrerequisites].into_iter().enumerate()
            {
                noticed[i] += u32::from(explore_reversal(&graph, &tables, &merge, fault).is_err());
            }
            merge.links().for_each(|link| graph.second_is_up[link as usize] ^= true);
        }
    }
    assert!(states > 100, "{states}");
    assert!(noticed.iter().all(|count| *count > 0), "{noticed:?}: both faults are noticed");
}

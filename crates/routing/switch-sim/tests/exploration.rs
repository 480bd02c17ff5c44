//! Explores whole reconfiguration protocols on tiny networks in every order of events.

use evenkeel_route::SwitchId;
use evenkeel_switch_sim::Wiring;
use evenkeel_switch_sim::reconfiguration::directed_graph::DirectedGraph;
use evenkeel_switch_sim::reconfiguration::exploration::{
    ExplorationError, ProtocolFault, ViolationError, explore_protocol,
};
use evenkeel_switch_sim::reconfiguration::{Protocol, TopologyChange};

const PROTOCOLS: [Protocol; 3] = [Protocol::Static, Protocol::Overlapped, Protocol::Planned];
const TRIANGLE: &[(u32, u32)] = &[(0, 1), (1, 2), (0, 2)];
const RING: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3)];
const DIAMOND: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)];
const COMPLETE: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3), (1, 3), (0, 2)];

fn network(links: &[(u32, u32)], failed: &[u32]) -> (Wiring, DirectedGraph) {
    let switches = links.iter().map(|l| l.1 + 1).max().unwrap();
    let wiring =
        Wiring::new(switches, links.iter().map(|(a, b)| (SwitchId(*a), SwitchId(*b))).collect(), Vec::new());
    let is_alive: Vec<bool> = (0..switches).map(|s| !failed.contains(&s)).collect();
    let root = is_alive.iter().position(|a| *a).unwrap() as u32;
    (wiring, DirectedGraph::breadth_first(is_alive, links.to_vec(), vec![true; links.len()], root))
}

fn explore(
    links: &[(u32, u32)],
    changes: &[TopologyChange],
    protocol: Protocol,
    fault: ProtocolFault,
) -> Result<usize, ExplorationError> {
    // If the first change adds a switch, the switch does not work before.
    let failed = if let TopologyChange::SwitchAdded(s) = changes[0] { vec![s] } else { Vec::new() };
    let (wiring, graph) = network(links, &failed);
    explore_protocol(&wiring, &graph, changes, protocol, fault, 20_000)
}

fn assert_correct(links: &[(u32, u32)], changes: &[TopologyChange], protocol: Protocol) {
    let states = explore(links, changes, protocol, ProtocolFault::None)
        .unwrap_or_else(|e| panic!("{links:?} {changes:?} {protocol:?}: {e}"));
    assert!(states > 5, "{states}");
}

#[test]
fn protocols_are_correct_in_every_order_of_the_events_of_one_change() {
    for links in [TRIANGLE, RING, DIAMOND, COMPLETE] {
        for s in 0..=links.iter().map(|l| l.1).max().unwrap() {
            for protocol in PROTOCOLS {
                assert_correct(links, &[TopologyChange::SwitchRemoved(s)], protocol);
                // When a switch is added, the planned protocol has tens of thousands of orders. The example
                // `explorations` tries them.
                if protocol != Protocol::Planned {
                    assert_correct(links, &[TopologyChange::SwitchAdded(s)], protocol);
                }
            }
        }
    }
}

#[test]
fn protocols_are_correct_when_a_second_change_happens_at_any_moment() {
    use TopologyChange::{SwitchAdded, SwitchRemoved};
    for protocol in [Protocol::Static, Protocol::Overlapped] {
        assert_correct(TRIANGLE, &[SwitchRemoved(0), SwitchAdded(0)], protocol);
        assert_correct(COMPLETE, &[SwitchRemoved(0), SwitchRemoved(1)], protocol);
    }
    assert_correct(TRIANGLE, &[SwitchRemoved(0), SwitchRemoved(1)], Protocol::Planned);
}

#[test]
fn lost_messages_are_noticed() {
    for links in [RING, DIAMOND, COMPLETE] {
        for protocol in PROTOCOLS {
            // The flood of the planned protocol arrives by several paths. Only in the ring are all of them
            // cut.
            if protocol != Protocol::Planned || links == RING {
                let changes = [TopologyChange::SwitchRemoved(0)];
                let found = explore(links, &changes, protocol, ProtocolFault::LostMessages);
                let is_final_check = matches!(
                    found,
                    Err(ExplorationError::Violation { violation: ViolationError::FinalCheck(_), .. })
                );
                assert!(is_final_check, "{protocol:?}: {found:?}");
            }
        }
    }
}

#[test]
fn tables_that_are_not_emptied_are_noticed() {
    for links in [DIAMOND, COMPLETE] {
        let changes = [TopologyChange::SwitchRemoved(0)];
        let found = explore(links, &changes, Protocol::Static, ProtocolFault::KeptTables);
        let is_cycle =
            matches!(found, Err(ExplorationError::Violation { violation: ViolationError::Cycle, .. }));
        assert!(is_cycle, "{found:?}");
    }
}

//! Whole protocols of reconfiguration on tiny networks, in every order of events.

use evenkeel_route::SwitchId;
use evenkeel_switch_sim::Wiring;
use evenkeel_switch_sim::reconfiguration::directed_graph::Directed;
use evenkeel_switch_sim::reconfiguration::exploration::{Mistake, explore};
use evenkeel_switch_sim::reconfiguration::{Change, Method};

const METHODS: [Method; 3] = [Method::Static, Method::Overlapped, Method::Planned];
const TRIANGLE: &[(u32, u32)] = &[(0, 1), (1, 2), (0, 2)];
const RING: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3)];
const DIAMOND: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)];
const COMPLETE: &[(u32, u32)] = &[(0, 1), (1, 2), (2, 3), (0, 3), (1, 3), (0, 2)];

fn network(links: &[(u32, u32)], dead: &[u32]) -> (Wiring, Directed) {
    let switches = links.iter().map(|l| l.1 + 1).max().unwrap();
    let wiring =
        Wiring::new(switches, links.iter().map(|(a, b)| (SwitchId(*a), SwitchId(*b))).collect(), Vec::new());
    let alive: Vec<bool> = (0..switches).map(|s| !dead.contains(&s)).collect();
    let root = alive.iter().position(|a| *a).unwrap() as u32;
    (wiring, Directed::breadth_first(alive, links.to_vec(), vec![true; links.len()], root))
}

fn tried(
    links: &[(u32, u32)],
    changes: &[Change],
    method: Method,
    mistake: Mistake,
) -> Result<usize, String> {
    // A switch that comes first is not there before.
    let dead = if let Change::SwitchComes(s) = changes[0] { vec![s] } else { Vec::new() };
    let (wiring, graph) = network(links, &dead);
    explore(&wiring, &graph, changes, method, mistake, 20_000)
}

fn right(links: &[(u32, u32)], changes: &[Change], method: Method) {
    let states = tried(links, changes, method, Mistake::None)
        .unwrap_or_else(|e| panic!("{links:?} {changes:?} {method:?}: {e}"));
    assert!(states > 5, "{states}");
}

#[test]
fn one_change_in_every_order_of_events() {
    for links in [TRIANGLE, RING, DIAMOND, COMPLETE] {
        for s in 0..=links.iter().map(|l| l.1).max().unwrap() {
            for method in METHODS {
                right(links, &[Change::SwitchGoes(s)], method);
                // By the planned protocol there are tens of thousands of orders when a switch comes: the
                // example `explorations` has them.
                if method != Method::Planned {
                    right(links, &[Change::SwitchComes(s)], method);
                }
            }
        }
    }
}

#[test]
fn a_second_change_at_any_moment() {
    for method in [Method::Static, Method::Overlapped] {
        right(TRIANGLE, &[Change::SwitchGoes(0), Change::SwitchComes(0)], method);
        right(COMPLETE, &[Change::SwitchGoes(0), Change::SwitchGoes(1)], method);
    }
    right(TRIANGLE, &[Change::SwitchGoes(0), Change::SwitchGoes(1)], Method::Planned);
}

#[test]
fn mistakes_are_noticed() {
    for links in [RING, DIAMOND, COMPLETE] {
        for method in METHODS {
            // The flood of the planned protocol comes by several ways, but not by all here.
            if method != Method::Planned || links == RING {
                let found = tried(links, &[Change::SwitchGoes(0)], method, Mistake::Lost);
                assert!(found.as_ref().is_err_and(|e| e.contains("in the end")), "{method:?}: {found:?}");
            }
        }
    }
    for links in [DIAMOND, COMPLETE] {
        let found = tried(links, &[Change::SwitchGoes(0)], Method::Static, Mistake::KeepTables);
        assert!(found.as_ref().is_err_and(|e| e.contains("circle")), "{found:?}");
    }
}

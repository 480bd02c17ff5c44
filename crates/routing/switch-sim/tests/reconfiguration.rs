//! Networks that change under traffic.

use evenkeel_route::{SwitchId, generate};
use evenkeel_switch_sim::reconfiguration::directed_graph::Directed;
use evenkeel_switch_sim::reconfiguration::link_reversal::{Mistake, explore};
use evenkeel_switch_sim::reconfiguration::switch_tables::Views;
use evenkeel_switch_sim::reconfiguration::{Change, Method, Outcome, Settings, reconfigure, reconfigure_all};
use evenkeel_switch_sim::*;

fn network(switches: usize, seed: u64) -> (Wiring, Directed) {
    let of = generate::Irregular { switches, degree: 4.min(switches - 1), end_nodes: 2, parallel: false };
    let wiring = Wiring::of(&generate::irregular(of, seed).unwrap());
    let links: Vec<(u32, u32)> = wiring.links().iter().map(|(a, b)| (a.0, b.0)).collect();
    let graph = Directed::breadth_first(vec![true; switches], links.clone(), vec![true; links.len()], 0);
    (wiring, graph)
}

/// Switch 0, the root, goes, and comes back; then traffic ends, and everything that was not discarded
/// must arrive.
fn goes_and_comes(switches: usize, seed: u64, method: Method, settings: Settings) -> [Outcome; 2] {
    let (wiring, mut graph) = network(switches, seed);
    let parameters = Parameters { buffer_phits: 16, ..Parameters::CUT_THROUGH };
    let mut simulator = Simulator::new(&wiring, parameters, Views::new(&wiring, &graph)).unwrap();
    let mut traffic = OpenLoop::new(
        Traffic { pattern: Pattern::Uniform, length: Length::Fixed(16), load: 0.1, copies: 1, seed },
        &wiring,
    );
    simulator.run(3_000, &mut traffic).unwrap();
    let outcomes = [Change::SwitchGoes(0), Change::SwitchComes(0)].map(|change| {
        let outcome = reconfigure(&mut simulator, &mut traffic, &mut graph, change, method, settings)
            .unwrap_or_else(|e| panic!("{switches} {seed} {method:?} {change:?}: {e}"));
        // Packets for hosts that are gone are stopped where they are found to have no way.
        for _ in 0..4 {
            simulator.run(simulator.now() + 500, &mut traffic).unwrap();
            simulator.discard_stranded();
        }
        outcome
    });
    traffic.stop();
    assert!(
        simulator.finish(simulator.now() + 1_000_000, &mut traffic).unwrap(),
        "{switches} {seed} {method:?}: what was not discarded arrives"
    );
    outcomes
}

#[test]
fn every_protocol_brings_all_tables_up_to_date() {
    let mut less = [0; 3];
    for switches in [8, 16] {
        for seed in 0..4 {
            let [fixed, overlapped, planned] = [Method::Static, Method::Overlapped, Method::Planned]
                .map(|m| goes_and_comes(switches, seed, m, Settings::USUAL));
            for change in 0..2 {
                assert!(fixed[change].stopped > 0);
                assert_eq!(
                    (overlapped[change].stopped, planned[change].stopped),
                    (0, 0),
                    "only the static protocol stops injection"
                );
                assert!(
                    planned[change].cycles < fixed[change].cycles,
                    "{switches} {seed} {change}: {planned:?} {fixed:?}"
                );
            }
            less[0] += fixed[0].discarded;
            less[1] += overlapped[0].discarded;
            less[2] += planned[0].discarded;
        }
    }
    assert!(less[2] < less[0] && less[2] <= less[1], "{less:?} packets were discarded");
}

/// Whether the network holds together without some switches.
fn connected_without(graph: &Directed, dead: &[u32]) -> bool {
    let mut left = graph.clone();
    dead.iter().for_each(|s| left.alive[*s as usize] = false);
    let first = left.alive.iter().position(|a| *a).unwrap() as u32;
    left.component(first).len() == left.alive.iter().filter(|a| **a).count()
}

#[test]
fn a_change_during_a_change_is_met_by_the_static_protocol() {
    let mut fell_back = 0;
    for (seed, loss) in [(1, 0.0), (2, 0.3), (5, 0.3)] {
        for method in [Method::Static, Method::Overlapped, Method::Planned] {
            for later in [30, 150, 300, 600] {
                let (wiring, mut graph) = network(12, seed);
                let second = (1..12)
                    .find(|s| connected_without(&graph, &[0, *s]))
                    .expect("a network that stands two failures");
                let parameters = Parameters { buffer_phits: 16, ..Parameters::CUT_THROUGH };
                let mut simulator = Simulator::new(&wiring, parameters, Views::new(&wiring, &graph)).unwrap();
                let mut traffic = OpenLoop::new(
                    Traffic {
                        pattern: Pattern::Uniform,
                        length: Length::Fixed(16),
                        load: 0.05,
                        copies: 1,
                        seed,
                    },
                    &wiring,
                );
                simulator.run(2_000, &mut traffic).unwrap();
                let changes = [
                    (0, Change::SwitchGoes(0)),
                    (later, Change::SwitchGoes(second)),
                    (later + 100, Change::SwitchComes(0)),
                ];
                let settings = Settings { loss, ..Settings::USUAL };
                let outcome =
                    reconfigure_all(&mut simulator, &mut traffic, &mut graph, &changes, method, settings)
                        .unwrap_or_else(|e| panic!("{seed} {method:?} {later}: {e}"));
                fell_back += u32::from(method != Method::Static && outcome.stopped > 0);
                assert_eq!(graph.alive.iter().filter(|a| !**a).count(), 1);
                reconfigure(
                    &mut simulator,
                    &mut traffic,
                    &mut graph,
                    Change::SwitchComes(second),
                    method,
                    settings,
                )
                .unwrap();
                for _ in 0..4 {
                    simulator.run(simulator.now() + 500, &mut traffic).unwrap();
                    simulator.discard_stranded();
                }
                traffic.stop();
                assert!(
                    simulator.finish(simulator.now() + 1_000_000, &mut traffic).unwrap(),
                    "{seed} {method:?} {later}: what was not discarded arrives"
                );
                assert_eq!(
                    simulator.created().packets,
                    simulator.delivered().packets + simulator.discarded().packets
                );
            }
        }
    }
    assert!(fell_back > 10, "{fell_back}");
}

#[test]
fn lost_messages_cost_time_only() {
    let settings = Settings { loss: 0.5, ..Settings::USUAL };
    for method in [Method::Static, Method::Overlapped, Method::Planned] {
        let [with, without] = [settings, Settings::USUAL].map(|s| goes_and_comes(8, 3, method, s)[0]);
        assert!(with.cycles >= without.cycles && with.messages > without.messages, "{method:?}");
    }
}

/// Up is the higher number: that is free of circles, and may leave several roots.
fn by_numbers(switches: usize, links: &[(u32, u32)]) -> (Wiring, Directed) {
    let wiring = Wiring::new(
        switches as u32,
        links.iter().map(|(a, b)| (SwitchId(*a), SwitchId(*b))).collect(),
        Vec::new(),
    );
    let second_is_up = links.iter().map(|(a, b)| b > a).collect();
    (
        wiring,
        Directed {
            alive: vec![true; switches],
            second_is_up,
            link_alive: vec![true; links.len()],
            links: links.to_vec(),
        },
    )
}

#[test]
fn links_are_reversed_without_a_circle_whatever_arrives_first() {
    let mut cases: Vec<(Wiring, Directed)> = (0..30)
        .map(|seed| {
            let of = generate::Irregular {
                switches: 5 + seed as usize % 4,
                degree: 3,
                end_nodes: 0,
                parallel: false,
            };
            let network = generate::irregular(of, seed).unwrap();
            let links: Vec<(u32, u32)> =
                network.channel_ids().step_by(2).map(|c| (network.from(c).0, network.to(c).0)).collect();
            by_numbers(of.switches, &links)
        })
        .collect();
    // A long way from the border, 0, to the false root, 3.
    cases.push(by_numbers(8, &[(0, 1), (1, 2), (2, 3), (0, 7), (4, 7), (5, 7), (6, 7), (0, 2)]));
    let (mut states, mut caught) = (0, [0, 0]);
    for (case, (wiring, mut graph)) in cases.into_iter().enumerate() {
        for merge in graph.merges() {
            let views = Views::new(&wiring, &graph);
            states +=
                explore(&graph, &views, &merge, Mistake::None).unwrap_or_else(|e| panic!("case {case}: {e}"));
            for (i, mistake) in [Mistake::NotNarrow, Mistake::NoOrder].into_iter().enumerate() {
                caught[i] += u32::from(explore(&graph, &views, &merge, mistake).is_err());
            }
            for turn in &merge.turns {
                turn.links.iter().for_each(|link| graph.second_is_up[*link as usize] ^= true);
            }
        }
    }
    assert!(states > 100, "{states}");
    assert!(caught.iter().all(|c| *c > 0), "{caught:?}: mistakes are noticed");
}

//! Networks that change under traffic.

use evenkeel_route::generate;
use evenkeel_switch_sim::reconfiguration::directed_graph::DirectedGraph;
use evenkeel_switch_sim::reconfiguration::switch_tables::SwitchTables;
use evenkeel_switch_sim::reconfiguration::{
    ControlParameters, Protocol, ReconfigurationCost, TopologyChange, reconfigure, reconfigure_all,
};
use evenkeel_switch_sim::*;

const PROTOCOLS: [Protocol; 3] = [Protocol::Static, Protocol::Overlapped, Protocol::Planned];

/// A network with traffic on it.
struct Simulation {
    graph: DirectedGraph,
    simulator: Simulator<SwitchTables>,
    traffic: OpenLoop,
}

impl Simulation {
    fn new(switches: usize, load: f64, seed: u64) -> Simulation {
        let degree = 4.min(switches - 1);
        let shape = generate::Irregular { switches, degree, end_nodes: 2, parallel: false };
        let wiring = Wiring::of(&generate::irregular(shape, seed).unwrap());
        let links: Vec<(u32, u32)> = wiring.links().iter().map(|(a, b)| (a.0, b.0)).collect();
        let working = vec![true; links.len()];
        let graph = DirectedGraph::breadth_first(vec![true; switches], links, working, 0);
        let parameters = Parameters { buffer_phits: 16, ..Parameters::CUT_THROUGH };
        let simulator = Simulator::new(&wiring, parameters, SwitchTables::new(&wiring, &graph)).unwrap();
        let length = Length::Fixed(16);
        let traffic = Traffic { pattern: Pattern::Uniform, length, load, copies: 1, seed };
        Simulation { graph, simulator, traffic: OpenLoop::new(traffic, &wiring) }
    }

    fn run(&mut self, cycles: u64) {
        self.simulator.run(self.simulator.now() + cycles, &mut self.traffic).unwrap();
    }

    fn change(
        &mut self,
        change: TopologyChange,
        protocol: Protocol,
        parameters: ControlParameters,
    ) -> ReconfigurationCost {
        let Simulation { graph, simulator, traffic } = self;
        reconfigure(simulator, traffic, graph, change, protocol, parameters)
            .unwrap_or_else(|e| panic!("{protocol:?} {change:?}: {e}"))
    }

    /// Continues for a while, and discards packets for hosts of removed switches, which have no path.
    fn discard_stranded(&mut self) {
        for _ in 0..4 {
            self.run(500);
            self.simulator.discard_stranded();
        }
    }

    /// Ends the traffic. Everything that was not discarded must arrive.
    fn finish(&mut self) {
        self.traffic.stop();
        let limit = self.simulator.now() + 1_000_000;
        assert!(self.simulator.finish(limit, &mut self.traffic).unwrap(), "packets did not arrive");
    }
}

/// Removes switch 0, the root, and adds it again.
fn remove_and_add(
    switches: usize,
    seed: u64,
    protocol: Protocol,
    parameters: ControlParameters,
) -> [ReconfigurationCost; 2] {
    let mut simulation = Simulation::new(switches, 0.1, seed);
    simulation.run(3_000);
    let changes = [TopologyChange::SwitchRemoved(0), TopologyChange::SwitchAdded(0)];
    let costs = changes.map(|change| {
        let cost = simulation.change(change, protocol, parameters);
        simulation.discard_stranded();
        cost
    });
    simulation.finish();
    costs
}

#[test]
fn every_protocol_brings_all_tables_up_to_date() {
    let mut discarded = [0; 3];
    for switches in [8, 16] {
        for seed in 0..4 {
            let [fixed, overlapped, planned] =
                PROTOCOLS.map(|p| remove_and_add(switches, seed, p, ControlParameters::USUAL));
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
            discarded[0] += fixed[0].discarded;
            discarded[1] += overlapped[0].discarded;
            discarded[2] += planned[0].discarded;
        }
    }
    assert!(discarded[2] < discarded[0] && discarded[2] <= discarded[1], "{discarded:?}");
}

/// Whether a network is connected without some of its switches.
fn is_connected_without(graph: &DirectedGraph, removed: &[u32]) -> bool {
    let mut graph = graph.clone();
    removed.iter().for_each(|s| graph.is_alive[*s as usize] = false);
    let first = graph.is_alive.iter().position(|a| *a).unwrap() as u32;
    graph.component(first).len() == graph.is_alive.iter().filter(|a| **a).count()
}

/// Removes a second switch `later` cycles after the root, and adds the root again 100 cycles after that.
/// Returns the cost.
fn change_during_a_change(seed: u64, loss: f64, protocol: Protocol, later: u64) -> ReconfigurationCost {
    let mut simulation = Simulation::new(12, 0.05, seed);
    let second = (1..12).find(|s| is_connected_without(&simulation.graph, &[0, *s]));
    let second = second.expect("the network remains connected when two switches fail");
    simulation.run(2_000);
    let changes = [
        (0, TopologyChange::SwitchRemoved(0)),
        (later, TopologyChange::SwitchRemoved(second)),
        (later + 100, TopologyChange::SwitchAdded(0)),
    ];
    let parameters = ControlParameters { loss, ..ControlParameters::USUAL };
    let Simulation { graph, simulator, traffic } = &mut simulation;
    let cost = reconfigure_all(simulator, traffic, graph, &changes, protocol, parameters)
        .unwrap_or_else(|e| panic!("{seed} {protocol:?} {later}: {e}"));
    assert_eq!(graph.is_alive.iter().filter(|a| !**a).count(), 1);
    simulation.change(TopologyChange::SwitchAdded(second), protocol, parameters);
    simulation.discard_stranded();
    simulation.finish();
    let simulator = &simulation.simulator;
    assert_eq!(simulator.created().packets, simulator.delivered().packets + simulator.discarded().packets);
    cost
}

#[test]
fn the_static_protocol_handles_a_change_during_a_change() {
    let mut stopped = 0;
    for (seed, loss) in [(1, 0.0), (2, 0.3), (5, 0.3)] {
        for protocol in PROTOCOLS {
            for later in [30, 150, 300, 600] {
                let cost = change_during_a_change(seed, loss, protocol, later);
                stopped += u32::from(protocol != Protocol::Static && cost.stopped > 0);
            }
        }
    }
    assert!(stopped > 10, "{stopped}");
}

#[test]
fn lost_messages_cost_time_only() {
    let usual = ControlParameters::USUAL;
    let lossy = ControlParameters { loss: 0.5, ..usual };
    for protocol in PROTOCOLS {
        let [with, without] = [lossy, usual].map(|p| remove_and_add(8, 3, protocol, p)[0]);
        assert!(with.cycles >= without.cycles && with.messages > without.messages, "{protocol:?}");
    }
}

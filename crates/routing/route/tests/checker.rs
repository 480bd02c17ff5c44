//! The checker against one that tries everything, on small networks.

use evenkeel_route::check::{self, Fault, Findings, Traffic, check_traffic};
use evenkeel_route::generate::{self, Irregular, Torus};
use evenkeel_route::{
    Attachment, Channel, ChannelOrder, Destination, EndNodeId, Network, Port, Random, SwitchId, Table,
    schemes, tables,
};
use std::collections::HashSet;

/// Tables with random entries, most of them towards the destination. Some tables are sound, some loop, some
/// can deadlock.
fn random_table(network: &Network, random: &mut Random) -> Table {
    let mut table = Table::empty(network, 1);
    for to in table.destinations().collect::<Vec<_>>() {
        let distance = network.distances(to.switch(network));
        for s in network.switch_ids() {
            let port = match to {
                Destination::EndNode(e) if network.end_node(e).switch == s => network.end_node(e).switch_port,
                Destination::Switch(d) if d == s => Port(0),
                _ => {
                    let all = network.leaving(s);
                    let nearer: Vec<Channel> = all
                        .iter()
                        .copied()
                        .filter(|c| distance[network.to(*c).index()] < distance[s.index()])
                        .collect();
                    let from = if random.below(40) == 0 { all } else { &nearer };
                    network.out_port(from[random.below(from.len())])
                }
            };
            table.set(s, to, if random.below(400) == 0 { None } else { Some(port) });
        }
    }
    table
}

/// The channels of a packet, or `None` if it does not arrive within as many hops as there are switches.
fn follow(network: &Network, table: &Table, from: SwitchId, to: Destination) -> Option<Vec<Channel>> {
    let mut at = from;
    let mut path = Vec::new();
    for _ in 0..=network.switches().len() {
        match (table.port(at, to)?, to) {
            (Port(0), Destination::Switch(d)) if d == at => return Some(path),
            (port, _) => match network.attachment(at, port) {
                Attachment::EndNode(e) => return (to == Destination::EndNode(e)).then_some(path),
                Attachment::Channel(c) => (path.push(c), at = network.to(c)).1,
                Attachment::Nothing => return None,
            },
        }
    }
    None
}

/// Whether channels wait for each other in a cycle: by the transitive closure, which is slow but simple.
fn can_deadlock(channels: usize, waits: &HashSet<(u32, u32)>) -> bool {
    let mut reach = vec![vec![false; channels]; channels];
    waits.iter().for_each(|(a, b)| reach[*a as usize][*b as usize] = true);
    for k in 0..channels {
        for i in 0..channels {
            for j in 0..channels {
                reach[i][j] |= reach[i][k] && reach[k][j];
            }
        }
    }
    (0..channels).any(|c| reach[c][c])
}

/// What the checker should find, counted by following every packet.
#[derive(Default)]
struct Expected {
    /// Dependencies between channels: a packet may hold the first and wait for the second.
    waits: HashSet<(u32, u32)>,
    broken_paths: u64,
    pairs: u64,
    hops: u64,
    load: Vec<u64>,
}

impl Expected {
    fn of(network: &Network, table: &Table, traffic: Traffic) -> Expected {
        let mut expected = Expected { load: vec![0; network.channels()], ..Expected::default() };
        for to in table.destinations() {
            for from in network.switch_ids() {
                expected.count(network, table, traffic, from, to);
            }
        }
        expected
    }

    fn count(&mut self, network: &Network, table: &Table, traffic: Traffic, from: SwitchId, to: Destination) {
        let is_sender = |e: &&EndNodeId| Destination::EndNode(**e) != to;
        let senders = network.end_nodes_at(from).iter().filter(is_sender).count() as u64;
        let is_counted = matches!(to, Destination::EndNode(_)) && senders > 0;
        if traffic == Traffic::EndNodes && !is_counted {
            return;
        }
        let Some(path) = follow(network, table, from, to) else {
            self.broken_paths += 1;
            return;
        };
        self.waits.extend(path.windows(2).map(|pair| (pair[0].0, pair[1].0)));
        if is_counted {
            self.pairs += senders;
            self.hops += senders * path.len() as u64;
            path.iter().for_each(|c| self.load[c.index()] += senders);
        }
    }
}

/// Compares what the checker finds with what it should find. Returns whether packets can deadlock.
fn compare(found: &Findings, expected: &Expected, channels: usize, seed: u64) -> bool {
    let deadlocks = can_deadlock(channels, &expected.waits);
    assert_eq!(found.broken_paths, expected.broken_paths, "seed {seed}");
    assert_eq!(found.dependencies, expected.waits.len() as u64);
    assert_eq!((found.pairs, &found.load), (expected.pairs, &expected.load));
    let mean_hops = expected.hops as f64 / expected.pairs.max(1) as f64;
    assert!((found.mean_hops() - mean_hops).abs() < 1e-9);
    let is_cycle = |fault: &Fault| matches!(fault, Fault::Cycle { .. });
    assert_eq!(found.faults.iter().any(is_cycle), deadlocks, "seed {seed}");
    for fault in &found.faults {
        if let Fault::Cycle { waits: cycle, .. } = fault {
            let next = |i: usize| cycle[(i + 1) % cycle.len()].0.0;
            assert!(
                (0..cycle.len()).all(|i| expected.waits.contains(&(cycle[i].0.0, next(i)))),
                "every dependency of a reported cycle exists"
            );
        }
    }
    deadlocks
}

#[test]
fn the_checker_agrees_with_a_search_that_tries_everything() {
    let random = &mut Random::new(7);
    let mut seen = [0; 4];
    for seed in 0..150 {
        let end_nodes = 1 + random.below(2);
        let shape = Irregular { switches: 5, degree: 3, end_nodes, parallel: seed % 2 == 0 };
        let network = generate::irregular(shape, seed).unwrap();
        let table = random_table(&network, random);
        for traffic in [Traffic::EndNodes, Traffic::Everything] {
            let found = check_traffic(&network, &table, traffic);
            let expected = Expected::of(&network, &table, traffic);
            let deadlocks = compare(&found, &expected, network.channels(), seed);
            seen[usize::from(deadlocks)] += 1;
            seen[2 + usize::from(expected.broken_paths > 0)] += 1;
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "too few of one kind: {seen:?}");
}

/// A ring on which all packets go round in one direction: the textbook deadlock.
fn ring(switches: usize) -> (Network, Table) {
    let network =
        generate::torus(&Torus { sizes: vec![switches], wrapped: true, cables: 1, end_nodes: 1 }).unwrap();
    let mut table = Table::empty(&network, 1);
    for to in table.destinations().collect::<Vec<_>>() {
        let end = to.switch(&network).index();
        for s in network.switch_ids() {
            let next = network
                .leaving(s)
                .iter()
                .find(|c| network.to(**c).index() == (s.index() + 1) % switches)
                .unwrap();
            let port = match to {
                Destination::EndNode(e) if s.index() == end => network.end_node(e).switch_port,
                Destination::Switch(_) if s.index() == end => Port(0),
                _ => network.out_port(*next),
            };
            table.set(s, to, Some(port));
        }
    }
    (network, table)
}

#[test]
fn a_deadlock_on_a_ring_is_reported_channel_by_channel() {
    let (network, table) = ring(4);
    let found = check::check(&network, &table);
    let [fault @ Fault::Cycle { lane: 0, waits }] = &found.faults[..] else { panic!("{:?}", found.faults) };
    assert_eq!(waits.len(), 4);
    let said = fault.describe(&network);
    assert!(said.contains("switch0[") && said.contains("switch3[") && said.contains("waits for"), "{said}");
}

#[test]
fn a_cycle_inserted_into_sound_tables_is_found() {
    for seed in 0..20 {
        let network =
            generate::irregular(Irregular { switches: 16, degree: 4, end_nodes: 2, parallel: false }, seed)
                .unwrap();
        let order = ChannelOrder::up_down(&network, &schemes::breadth_first(&network, SwitchId(0)));
        let mut table = tables::balanced(&network, &order, tables::BalanceEffort::default());
        assert!(check::check(&network, &table).is_sound());
        // Along a cycle of the network, packets to an end node two hops away now follow the cycle.
        let cycle = some_cycle(&network);
        for i in 0..cycle.len() {
            let to = Destination::EndNode(network.end_nodes_at(network.to(cycle[(i + 1) % cycle.len()]))[0]);
            for c in [cycle[i], cycle[(i + 1) % cycle.len()]] {
                table.set(network.from(c), to, Some(network.out_port(c)));
            }
        }
        let found = check::check(&network, &table);
        assert!(
            found.faults.iter().any(|f| matches!(f, Fault::Cycle { .. })),
            "seed {seed}: {:?}",
            found.faults
        );
    }
}

/// The channels of a shortest cycle of the network.
fn some_cycle(network: &Network) -> Vec<Channel> {
    let mut best: Option<Vec<Channel>> = None;
    for c in network.channel_ids() {
        let (start, end) = (network.to(c), network.from(c));
        let mut before = vec![None; network.switches().len()];
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for next in network.leaving(at).iter().filter(|n| **n != c.reverse()) {
                let to = network.to(*next);
                if to != start && before[to.index()].is_none() {
                    before[to.index()] = Some(*next);
                    queue.push_back(to);
                }
            }
        }
        let mut path = vec![c];
        let mut at = end;
        while at != start {
            let Some(step) = before[at.index()] else { break };
            path.insert(1, step);
            at = network.from(step);
        }
        if at == start && best.as_ref().is_none_or(|b| path.len() < b.len()) {
            best = Some(path);
        }
    }
    best.expect("a network of this degree has a cycle")
}

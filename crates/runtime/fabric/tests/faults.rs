//! The virtual network has the faults that it is told to have, the same ones for the same seed.

use evenkeel_fabric::virtual_network::{Faults, Liveness, VirtualNetwork, VirtualWire};
use evenkeel_fabric::{Event, NodeId, Wire};
use std::time::Duration;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);

/// Sends 0, 1, … from A to B and returns what arrives.
fn arrivals(count: u32, faults: Faults, seed: u64) -> Vec<u32> {
    let (network, mut wires) = VirtualNetwork::new(2, 64, faults, seed);
    for number in 0..count {
        wires[0].send(B, &number.to_le_bytes()).unwrap();
    }
    while network.step().is_some() {}
    inbox(&mut wires[1])
}

fn inbox(wire: &mut VirtualWire) -> Vec<u32> {
    std::iter::from_fn(|| wire.poll())
        .map(|event| match event {
            Event::Message { bytes, .. } => u32::from_le_bytes(bytes.try_into().unwrap()),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn without_faults_everything_arrives_once_and_in_order() {
    assert_eq!(arrivals(100, Faults::none(), 1), (0..100).collect::<Vec<_>>());
}

#[test]
fn messages_are_lost_with_the_given_probability() {
    let came = arrivals(10_000, Faults { loss: 0.2, ..Faults::none() }, 1);
    assert!((7800..8200).contains(&came.len()), "{}", came.len());
    assert!(came.is_sorted());
}

#[test]
fn messages_are_duplicated_with_the_given_probability() {
    let came = arrivals(10_000, Faults { duplicate: 0.2, ..Faults::none() }, 1);
    assert!((11_800..12_200).contains(&came.len()), "{}", came.len());
}

#[test]
fn with_varying_latencies_messages_overtake_each_other() {
    let came = arrivals(100, Faults { longest: Duration::from_millis(1), ..Faults::none() }, 1);
    let mut sorted = came.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..100).collect::<Vec<_>>());
    assert_ne!(came, sorted);
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(arrivals(1000, Faults::bad(), 7), arrivals(1000, Faults::bad(), 7));
    assert_ne!(arrivals(1000, Faults::bad(), 7), arrivals(1000, Faults::bad(), 8));
}

#[test]
fn atomic_operations_are_not_duplicated() {
    let (network, mut wires) = VirtualNetwork::new(
        2,
        64,
        Faults { duplicate: 1.0, longest: Duration::from_millis(1), ..Faults::none() },
        1,
    );
    for _ in 0..100 {
        wires[0].atomic(B, 8, evenkeel_fabric::Atomic::Add(1)).unwrap();
    }
    while network.step().is_some() {}
    assert_eq!(wires[1].memory().load(8), 100);
}

#[test]
fn a_partition_separates_its_groups_until_it_ends() {
    let (network, mut wires) = VirtualNetwork::new(3, 64, Faults::none(), 1);
    network.partition(&[&[A], &[B, C]]);
    for (from, to) in [(0, B), (1, A), (1, C)] {
        wires[from].send(to, &1_u32.to_le_bytes()).unwrap();
    }
    while network.step().is_some() {}
    assert_eq!([0, 1, 2].map(|node| inbox(&mut wires[node])), [vec![], vec![], vec![1]]);
    network.partition(&[&[A, B, C]]);
    wires[0].send(B, &2_u32.to_le_bytes()).unwrap();
    while network.step().is_some() {}
    assert_eq!(inbox(&mut wires[1]), [2]);
}

#[test]
fn frozen_nodes_run_again_and_dead_ones_do_not() {
    let (network, mut wires) = VirtualNetwork::new(3, 64, Faults::none(), 1);
    network.set_liveness(B, Liveness::Frozen);
    network.set_liveness(C, Liveness::Dead);
    for to in [B, C] {
        wires[0].send(to, &5_u32.to_le_bytes()).unwrap();
        wires[0].put(to, 8, b"x", None).unwrap();
    }
    wires[1].send(A, &6_u32.to_le_bytes()).unwrap();
    while network.step().is_some() {}
    assert!(wires[1].poll().is_none(), "a frozen node does nothing");
    assert_eq!(wires[1].memory().bytes(8, 1), b"x", "but its memory can be written");
    assert_eq!(wires[2].memory().bytes(8, 1), [0]);
    network.set_liveness(B, Liveness::Running);
    assert_eq!(inbox(&mut wires[1]), [5]);
    let completed = std::iter::from_fn(|| wires[0].poll()).count();
    assert_eq!(completed, 1, "the put to B; B sent nothing while it was frozen");
}

#[test]
fn waiting_lets_virtual_time_pass() {
    let (network, mut wires) = VirtualNetwork::new(2, 64, Faults::none(), 1);
    wires[0].send(B, &1_u32.to_le_bytes()).unwrap();
    wires[0].wait(Duration::from_secs(3));
    assert_eq!(network.now(), Duration::from_secs(3));
    assert_eq!(inbox(&mut wires[1]), [1]);
}

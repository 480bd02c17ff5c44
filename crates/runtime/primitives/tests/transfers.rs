//! Large transfers, whose data are sent ahead.

mod lab;

use evenkeel_fabric::virtual_network::{Faults, Liveness};
use evenkeel_fabric::{NodeId, Wire};
use evenkeel_primitives::{EventId, Operation};
use lab::calls::{carry_out, result, silent, words};
use lab::{Job, settings};
use std::time::Duration;

fn large(bytes: usize) -> Operation {
    Operation::Xfer { at: 0, bytes: vec![7; bytes], event: None }
}

/// Transfers so many bytes from one node to a set: they arrive at all nodes of the set and nowhere else,
/// and no node keeps staged data.
fn assert_arrives_whole(mut job: Job, origin: usize, set: &[usize], length: u32) {
    let bytes: Vec<u8> = (0..length).map(|i| ((i * 31) >> 3) as u8).collect();
    let number =
        job.start(origin, set, Operation::Xfer { at: 40, bytes: bytes.clone(), event: Some(EventId(1)) });
    assert_eq!(result(&mut job, origin, number).0, Ok(true));
    let until = job.network.now() + settings().limit;
    job.run(until);
    for node in 0..job.machines.len() {
        let expected = if set.contains(&node) { bytes.clone() } else { vec![0; bytes.len()] };
        assert!(job.wires[node].memory().bytes(40, bytes.len()) == expected, "node {node}");
        assert_eq!(job.machines[node].take_signal(EventId(1)), set.contains(&node));
        assert_eq!(job.machines[node].staged_bytes(), 0);
    }
}

/// Data of many chunks, over a network that loses, duplicates and reorders messages, from an origin in
/// the set and from one outside of it.
#[test]
fn large_transfers_arrive_whole() {
    for (origin, set) in [(2, vec![0, 1, 2, 3, 4]), (0, vec![1, 3, 4])] {
        assert_arrives_whole(
            Job::with_memory(1 << 18, 5, settings(), Faults::bad(), 4, 0),
            origin,
            &set,
            200_000,
        );
    }
}

/// The same for a set so large that each half of the data goes down a tree of its own.
#[test]
fn large_transfers_to_many_nodes_arrive_whole_or_nowhere() {
    for (origin, first) in [(30, 0), (0, 1)] {
        assert_arrives_whole(
            Job::with_memory(1 << 18, 90, settings(), Faults::bad(), 5, 0),
            origin,
            &(first..90).collect::<Vec<_>>(),
            200_001,
        );
    }
    // If one node cannot get the data, wherever it is, no node has them.
    for dead in [1, 44, 89] {
        let mut job = Job::with_memory(1 << 18, 90, settings(), Faults::none(), 1, 0);
        job.network.set_liveness(NodeId(dead), Liveness::Dead);
        let number = job.start(0, &(0..90).collect::<Vec<_>>(), large(200_000));
        assert_eq!(result(&mut job, 0, number).0, silent(dead, true));
        assert_eq!(words(&job, 0), [0; 90]);
    }
    // The same if one node gets only one half. Node 89 is the first of the second tree, and node 88 is
    // below it; in the first tree they are no neighbours.
    let mut job = Job::with_memory(1 << 18, 90, settings(), Faults::none(), 1, 0);
    let without = |node: u32| (0..90).filter(|other| *other != node).map(NodeId).collect::<Vec<_>>();
    job.network.partition(&[&without(88), &without(89)]);
    let number = job.start(0, &(0..90).collect::<Vec<_>>(), large(200_000));
    assert_eq!(result(&mut job, 0, number).0, silent(88, true));
    assert_eq!(words(&job, 0), [0; 90]);
}

/// A dead node, wherever it is in the chain, fails a large transfer before it is ordered. It is named, no
/// node has the data, and the other nodes go on.
#[test]
fn a_dead_node_fails_a_large_transfer() {
    for dead in 1..5 {
        let mut job = Job::with_memory(1 << 18, 5, settings(), Faults::none(), 1, 0);
        job.network.set_liveness(NodeId(dead), Liveness::Dead);
        let number = job.start(0, &[0, 1, 2, 3, 4], large(200_000));
        let (outcome, took) = result(&mut job, 0, number);
        assert_eq!(outcome, silent(dead, true));
        assert!(took < settings().limit * 2, "{took:?}");
        assert_eq!(words(&job, 0), [0; 5]);
        let alive: Vec<usize> = (0..5).filter(|&node| node != dead as usize).collect();
        assert_eq!(carry_out(&mut job, 0, &alive, large(100_000)), Ok(true));
        assert_eq!(job.machines[0].staged_bytes(), 0);
    }
}

/// An origin that dies in the middle of a transfer leaves nothing behind for ever.
#[test]
fn data_of_a_dead_origin_are_dropped() {
    let mut job = Job::with_memory(1 << 22, 3, settings(), Faults::none(), 1, 0);
    job.start(0, &[0, 1, 2], large(4 << 20));
    job.run(Duration::from_micros(15));
    job.network.set_liveness(NodeId(0), Liveness::Dead);
    job.run(settings().limit);
    assert!(job.machines[1].staged_bytes() > 0, "nothing was staged, so this is no test");
    job.run(settings().limit * 10);
    assert_eq!((job.machines[1].staged_bytes(), job.machines[2].staged_bytes()), (0, 0));
    assert_eq!(words(&job, 0)[1..], [0; 2]);
}

//! Each promise of the primitives by itself, in virtual time.

mod lab;

use evenkeel_fabric::virtual_network::{Faults, Liveness};
use evenkeel_fabric::{NodeId, WordWrite};
use evenkeel_primitives::{
    CallError, Comparison, EventId, Machine, NodeFailure, NodeSet, OperationError, OperationNumber,
};
use lab::calls::{carry_out, compare, result, set_from_0, silent, without_faults, words, xfer};
use lab::{Job, settings};
use std::time::Duration;

#[test]
fn all_six_comparisons_are_right() {
    let mut job = without_faults(3);
    carry_out(&mut job, 1, &[0, 1, 2], xfer(0, 5, None)).unwrap();
    for comparison in Comparison::ALL {
        for value in [4, 5, 6] {
            let held = carry_out(&mut job, 2, &[0, 1, 2], compare(comparison, value, None)).unwrap();
            let expected = match comparison {
                Comparison::Less => 5 < value,
                Comparison::LessOrEqual => 5 <= value,
                Comparison::Equal => 5 == value,
                Comparison::NotEqual => 5 != value,
                Comparison::GreaterOrEqual => 5 >= value,
                Comparison::Greater => 5 > value,
            };
            assert_eq!(held, expected, "5 {comparison:?} {value}");
        }
    }
}

#[test]
fn a_comparison_fails_if_one_node_differs() {
    let mut job = without_faults(7);
    let all = [0, 1, 2, 3, 4, 5, 6];
    for odd in all {
        carry_out(&mut job, 0, &all, xfer(0, 1, None)).unwrap();
        carry_out(&mut job, 0, &[odd], xfer(0, 2, None)).unwrap();
        assert_eq!(
            carry_out(&mut job, 3, &all, compare(Comparison::Equal, 1, Some(WordWrite { at: 8, value: 9 }))),
            Ok(false)
        );
        assert_eq!(words(&job, 8), [0; 7]);
    }
    carry_out(&mut job, 0, &all, xfer(0, 1, None)).unwrap();
    assert_eq!(
        carry_out(&mut job, 3, &all, compare(Comparison::Equal, 1, Some(WordWrite { at: 8, value: 9 }))),
        Ok(true)
    );
    assert_eq!(words(&job, 8), [9; 7]);
}

#[test]
fn only_nodes_of_the_set_are_touched() {
    let mut job = without_faults(5);
    carry_out(&mut job, 0, &[1, 3], xfer(8, 7, Some(EventId(4)))).unwrap();
    assert_eq!(words(&job, 8), [0, 7, 0, 7, 0]);
    let signalled: Vec<bool> =
        job.machines.iter_mut().map(|machine| machine.take_signal(EventId(4))).collect();
    assert_eq!(signalled, [false, true, false, true, false]);
}

/// Every node tries to set a word from 0 to its own number. All see the same winner, which is the one
/// that was told so.
#[test]
fn competing_writes_have_one_winner() {
    for seed in 0..30 {
        let mut job = Job::new(5, settings(), Faults::bad(), seed, 0);
        let all = [0, 1, 2, 3, 4];
        let numbers: Vec<OperationNumber> =
            all.iter().map(|&node| job.start(node, &all, set_from_0(node as u64 + 1))).collect();
        let won: Vec<usize> =
            all.into_iter().filter(|&node| result(&mut job, node, numbers[node]).0 == Ok(true)).collect();
        assert_eq!(won.len(), 1, "seed {seed}");
        assert_eq!(words(&job, 0), [won[0] as u64 + 1; 5], "seed {seed}");
    }
}

#[test]
fn no_signal_is_lost_or_duplicated() {
    let mut job = Job::new(4, settings(), Faults::bad(), 3, 0);
    let numbers: Vec<(usize, OperationNumber)> = (0..40)
        .map(|i| (i % 4, job.start(i % 4, &[0, 1, 2, 3], xfer(0, i as u64, Some(EventId(1))))))
        .collect();
    for (node, number) in numbers {
        assert_eq!(result(&mut job, node, number).0, Ok(true));
    }
    for machine in &mut job.machines {
        assert_eq!(
            std::iter::repeat_with(|| machine.take_signal(EventId(1))).take_while(|&taken| taken).count(),
            40
        );
    }
}

/// A dead node is named, wherever it is in the tree, in little more than the limit, and no node has the data.
#[test]
fn a_dead_node_is_named() {
    for dead in 1..7 {
        let mut job = without_faults(7);
        carry_out(&mut job, 0, &[0, 1, 2, 3, 4, 5, 6], xfer(0, 1, None)).unwrap();
        job.network.set_liveness(NodeId(dead), Liveness::Dead);
        let number = job.start(if dead == 1 { 2 } else { 1 }, &[0, 1, 2, 3, 4, 5, 6], xfer(0, 2, None));
        let (outcome, took) = result(&mut job, if dead == 1 { 2 } else { 1 }, number);
        assert_eq!(outcome, silent(dead, true));
        assert!(took < settings().limit * 2, "{took:?}");
        let alive: Vec<usize> = (0..7).filter(|&node| node != dead as usize).collect();
        assert!(alive.iter().all(|&node| words(&job, 0)[node] == 1));
        // The other nodes go on without it.
        assert_eq!(carry_out(&mut job, alive[1], &alive, xfer(0, 3, None)), Ok(true));
    }
}

/// A node that stops for less than the limit delays an operation and is not taken for dead, wherever it
/// is in the tree.
#[test]
fn a_slow_node_is_not_taken_for_dead() {
    for slow in 0..7 {
        let mut job = without_faults(7);
        job.network.set_liveness(NodeId(slow), Liveness::Frozen);
        let number = job.start(if slow == 1 { 2 } else { 1 }, &[0, 1, 2, 3, 4, 5, 6], xfer(0, 2, None));
        let until = job.network.now() + settings().limit * 8 / 10;
        job.run_leaving_outcomes(until);
        job.network.set_liveness(NodeId(slow), Liveness::Running);
        assert_eq!(result(&mut job, if slow == 1 { 2 } else { 1 }, number).0, Ok(true));
        assert_eq!(words(&job, 0), [2; 7]);
    }
}

#[test]
fn evicted_nodes_are_not_waited_for() {
    let mut job = without_faults(4);
    job.network.set_liveness(NodeId(2), Liveness::Dead);
    job.machines.iter_mut().for_each(|machine| machine.evict(NodeId(2)));
    let number = job.start(1, &[0, 1, 2, 3], xfer(0, 2, None));
    let (outcome, took) = result(&mut job, 1, number);
    assert_eq!(outcome, Err(OperationError { node: NodeId(2), failure: NodeFailure::Evicted, undone: true }));
    assert!(took < settings().limit / 2, "{took:?}");
}

#[test]
fn settled_operations_are_forgotten() {
    let mut job = Job::new(4, settings(), Faults::bad(), 9, 0);
    for round in 0..300 {
        carry_out(&mut job, round % 4, &[0, 1, 2, 3], xfer(0, round as u64, None)).unwrap();
        assert!(job.machines.iter().all(|machine| machine.remembered() < 10));
    }
}

#[test]
fn invalid_calls_are_refused_at_once() {
    let (memory, mut machine) =
        (evenkeel_fabric::Memory::new(64).unwrap(), Machine::new(NodeId(0), 2, settings()));
    let mut start = |nodes: &[u32], operation| {
        let set: NodeSet = nodes.iter().map(|&node| NodeId(node)).collect();
        machine.start(Duration::ZERO, &memory, set, operation).map(|_| ()).unwrap_err()
    };
    assert_eq!(start(&[], xfer(0, 1, None)), CallError::EmptySet);
    assert_eq!(start(&[0, 2], xfer(0, 1, None)), CallError::NoSuchNode(NodeId(2), 2));
    assert_eq!(start(&[0], xfer(60, 1, None)), CallError::OutOfRange { at: 60, end: 68, bytes: 64 });
    assert_eq!(
        start(&[0], compare(Comparison::Less, 1, Some(WordWrite { at: 12, value: 1 }))),
        CallError::Misaligned(12)
    );
}

/// The number of messages grows with the nodes, the depth of the tree with their logarithm: a comparison over
/// 1000 nodes takes two trips down and up a tree of fanout 8.
#[test]
fn a_comparison_over_a_thousand_nodes_takes_two_trips_through_the_tree() {
    let mut settings = settings();
    settings.fanout = 8;
    let mut job = Job::new(1000, settings, Faults::none(), 1, 0);
    let all: Vec<usize> = (0..1000).collect();
    let number = job.start(500, &all, compare(Comparison::Equal, 0, Some(WordWrite { at: 0, value: 1 })));
    let (outcome, took) = result(&mut job, 500, number);
    assert_eq!((outcome, words(&job, 0)), (Ok(true), vec![1; 1000]));
    // 1 + 4 hops down, up, down, up, 1 back, each of 10 µs.
    assert!(took <= Duration::from_micros(10 * (2 + 4 * 4) + 100), "{took:?}");
    let (messages, _) = job.network.traffic();
    assert!(messages <= 4 * 1000 + 10, "{messages}");
}

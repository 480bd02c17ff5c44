//! Each promise of the primitives by itself, in virtual time.

mod lab;

use evenkeel_fabric::virtual_network::{Faults, Liveness};
use evenkeel_fabric::{NodeId, Wire, WordWrite};
use evenkeel_primitives::{
    CallError, Comparison, EventId, Machine, NodeFailure, NodeSet, Operation, OperationError,
    OperationNumber, Outcome, Rules, Settings,
};
use lab::{Job, settings};
use std::time::Duration;

fn without_faults(nodes: usize) -> Job {
    Job::new(nodes, settings(), Faults::none(), 1, 0)
}

fn compare(comparison: Comparison, value: u64, write: Option<WordWrite>) -> Operation {
    Operation::Compare { variable: 0, comparison, value, write }
}

/// Sets the word at 0 on all nodes, if it is 0 on all.
fn set_from_0(value: u64) -> Operation {
    compare(Comparison::Equal, 0, Some(WordWrite { at: 0, value }))
}

fn xfer(at: usize, value: u64, event: Option<EventId>) -> Operation {
    Operation::Xfer { at, bytes: value.to_ne_bytes().to_vec(), event }
}

/// Runs the job until a node's operation has its outcome. Returns that, and how long it took.
fn result(job: &mut Job, node: usize, number: OperationNumber) -> (Outcome, Duration) {
    let start = job.network.now();
    loop {
        let next = job.network.now() + Duration::from_micros(100);
        job.run_leaving_outcomes(next);
        if let Some(outcome) = job.machines[node].take_outcome(number) {
            return (outcome, job.network.now() - start);
        }
        assert!(job.network.now() < start + Duration::from_secs(1), "the operation has no outcome");
    }
}

fn carry_out(job: &mut Job, node: usize, set: &[usize], operation: Operation) -> Outcome {
    let number = job.start(node, set, operation);
    result(job, node, number).0
}

fn words(job: &Job, at: usize) -> Vec<u64> {
    job.wires.iter().map(|wire| wire.memory().load(at)).collect()
}

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
        assert_eq!(
            outcome,
            Err(OperationError { node: NodeId(dead), failure: NodeFailure::Silent, undone: true })
        );
        assert!(took < settings().limit * 2, "{took:?}");
        let alive: Vec<usize> = (0..7).filter(|&node| node != dead as usize).collect();
        assert!(alive.iter().all(|&node| words(&job, 0)[node] == 1));
        // The other nodes go on without it.
        assert_eq!(carry_out(&mut job, alive[1], &alive, xfer(0, 3, None)), Ok(true));
    }
}

#[test]
fn a_dead_sequencer_is_named() {
    let mut job = without_faults(3);
    job.network.set_liveness(NodeId(0), Liveness::Dead);
    let number = job.start(1, &[1, 2], xfer(0, 2, None));
    let (outcome, took) = result(&mut job, 1, number);
    assert_eq!(outcome, Err(OperationError { node: NodeId(0), failure: NodeFailure::Silent, undone: false }));
    assert!(took < settings().limit * 2, "{took:?}");
}

/// The next living node becomes the sequencer; with the first two dead, the third. The outcome of what was
/// requested of the dead one is unknown; later operations are carried out, and all nodes follow.
#[test]
fn the_next_living_node_becomes_the_sequencer() {
    for dead in [1, 2] {
        let mut job = without_faults(5);
        carry_out(&mut job, 4, &[0, 1, 2, 3, 4], xfer(0, 1, None)).unwrap();
        for node in 0..dead {
            job.network.set_liveness(NodeId(node), Liveness::Dead);
        }
        let alive: Vec<usize> = (dead as usize..5).collect();
        let (outcome, took) = {
            let number = job.start(4, &alive, xfer(0, 2, None));
            result(&mut job, 4, number)
        };
        assert_eq!(
            outcome,
            Err(OperationError { node: NodeId(0), failure: NodeFailure::Silent, undone: false })
        );
        assert!(took < settings().limit * 2, "{took:?}");
        let until = job.network.now() + settings().limit * 3;
        job.run(until);
        for (node, value) in alive.iter().zip(3..) {
            assert_eq!(
                carry_out(&mut job, *node, &alive, xfer(0, value, None)),
                Ok(true),
                "{dead} dead, asked by {node}"
            );
            assert!(
                alive
                    .iter()
                    .all(|&node| words(&job, 0)[node] == value
                        && job.machines[node].sequencer() == NodeId(dead))
            );
        }
    }
}

/// Half of the nodes, or fewer, elect no sequencer: the other half could do the same.
#[test]
fn a_minority_elects_no_sequencer() {
    let mut job = without_faults(4);
    job.network.partition(&[&[NodeId(0), NodeId(1)], &[NodeId(2), NodeId(3)]]);
    for _ in 0..4 {
        carry_out(&mut job, 2, &[2, 3], xfer(0, 2, None)).unwrap_err();
        assert_eq!(words(&job, 0)[2..], [0; 2]);
    }
    assert_eq!(carry_out(&mut job, 1, &[0, 1], xfer(0, 3, None)), Ok(true));
    job.network.partition(&[&[NodeId(0), NodeId(1), NodeId(2), NodeId(3)]]);
    let until = job.network.now() + settings().limit * 4;
    job.run(until);
    let last = (0..4).map(|_| carry_out(&mut job, 2, &[0, 1, 2, 3], xfer(0, 4, None))).last().unwrap();
    assert_eq!(last, Ok(true));
    assert_eq!(words(&job, 0), [4; 4]);
}

/// A sequencer that was only stopped, and was succeeded, follows like the others, and has nothing carried
/// out any more.
#[test]
fn a_sequencer_that_was_succeeded_follows() {
    let mut job = without_faults(5);
    let all = [0, 1, 2, 3, 4];
    job.network.set_liveness(NodeId(0), Liveness::Frozen);
    carry_out(&mut job, 4, &[1, 2, 3, 4], xfer(0, 2, None)).unwrap_err();
    let until = job.network.now() + settings().limit * 3;
    job.run(until);
    assert_eq!(carry_out(&mut job, 4, &[1, 2, 3, 4], xfer(0, 3, None)), Ok(true));
    job.network.set_liveness(NodeId(0), Liveness::Running);
    let first = carry_out(&mut job, 0, &all, xfer(0, 4, None));
    let again = carry_out(&mut job, 0, &all, xfer(0, 5, None));
    assert!(first.is_ok() || first.unwrap_err().undone, "it knows that the operation was not carried out");
    assert_eq!(again, Ok(true));
    assert_eq!((words(&job, 0), job.machines[0].sequencer()), (vec![5; 5], NodeId(1)));
}

/// Node 0 asks whether a word is 0 on nodes 3 and 4. It is 0 on node 3, which says so; it is 1 on node 4,
/// which does not receive the request. Node 0 stops. Under its successor the word becomes 1 on node 3,
/// and then 0 on node 4. Node 0 runs again, and asks node 4 again.
fn comparison_across_a_view_change(old_views_are_refused: bool) -> Outcome {
    let rules = Rules { old_views_are_refused, ..Rules::default() };
    let mut job = Job::new(5, Settings { rules, ..settings() }, Faults::none(), 1, 0);
    let all: Vec<NodeId> = (0..5).map(NodeId).collect();
    carry_out(&mut job, 1, &[4], xfer(0, 1, None)).unwrap();
    job.network.partition(&[&[all[0], all[3]], &[all[1], all[2], all[4]]]);
    let number = job.start(0, &[3, 4], compare(Comparison::Equal, 0, None));
    let until = job.network.now() + Duration::from_micros(100);
    job.run_leaving_outcomes(until);
    job.network.set_liveness(NodeId(0), Liveness::Frozen);
    job.network.partition(&[&all]);
    carry_out(&mut job, 2, &[1, 2], xfer(8, 1, None)).unwrap_err();
    let until = job.network.now() + settings().limit * 3;
    job.run_leaving_outcomes(until);
    assert_eq!(carry_out(&mut job, 2, &[3], xfer(0, 1, None)), Ok(true));
    assert_eq!(carry_out(&mut job, 2, &[4], xfer(0, 0, None)), Ok(true));
    job.network.set_liveness(NodeId(0), Liveness::Running);
    result(&mut job, 0, number).0
}

/// The word was never 0 on both nodes, so the comparison must not hold; without the rule it does.
#[test]
fn no_node_follows_two_sequencers() {
    assert_ne!(comparison_across_a_view_change(true), Ok(true));
    assert_eq!(
        comparison_across_a_view_change(false),
        Ok(true),
        "this does not need the rule, so it is no test of the rule"
    );
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
        let number = job.start(
            0,
            &(0..90).collect::<Vec<_>>(),
            Operation::Xfer { at: 0, bytes: vec![7; 200_000], event: None },
        );
        assert_eq!(
            result(&mut job, 0, number).0,
            Err(OperationError { node: NodeId(dead), failure: NodeFailure::Silent, undone: true })
        );
        assert_eq!(words(&job, 0), [0; 90]);
    }
    // The same if one node gets only one half. Node 89 is the first of the second tree, and node 88 is
    // below it; in the first tree they are no neighbours.
    let mut job = Job::with_memory(1 << 18, 90, settings(), Faults::none(), 1, 0);
    let without = |node: u32| (0..90).filter(|other| *other != node).map(NodeId).collect::<Vec<_>>();
    job.network.partition(&[&without(88), &without(89)]);
    let number = job.start(
        0,
        &(0..90).collect::<Vec<_>>(),
        Operation::Xfer { at: 0, bytes: vec![7; 200_000], event: None },
    );
    assert_eq!(
        result(&mut job, 0, number).0,
        Err(OperationError { node: NodeId(88), failure: NodeFailure::Silent, undone: true })
    );
    assert_eq!(words(&job, 0), [0; 90]);
}

/// A dead node, wherever it is in the chain, fails a large transfer before it is ordered. It is named, no
/// node has the data, and the other nodes go on.
#[test]
fn a_dead_node_fails_a_large_transfer() {
    for dead in 1..5 {
        let mut job = Job::with_memory(1 << 18, 5, settings(), Faults::none(), 1, 0);
        job.network.set_liveness(NodeId(dead), Liveness::Dead);
        let number =
            job.start(0, &[0, 1, 2, 3, 4], Operation::Xfer { at: 0, bytes: vec![7; 200_000], event: None });
        let (outcome, took) = result(&mut job, 0, number);
        assert_eq!(
            outcome,
            Err(OperationError { node: NodeId(dead), failure: NodeFailure::Silent, undone: true })
        );
        assert!(took < settings().limit * 2, "{took:?}");
        assert_eq!(words(&job, 0), [0; 5]);
        let alive: Vec<usize> = (0..5).filter(|&node| node != dead as usize).collect();
        assert_eq!(
            carry_out(&mut job, 0, &alive, Operation::Xfer { at: 0, bytes: vec![8; 100_000], event: None }),
            Ok(true)
        );
        assert_eq!(job.machines[0].staged_bytes(), 0);
    }
}

/// An origin that dies in the middle of a transfer leaves nothing behind for ever.
#[test]
fn data_of_a_dead_origin_are_dropped() {
    let mut job = Job::with_memory(1 << 22, 3, settings(), Faults::none(), 1, 0);
    job.start(0, &[0, 1, 2], Operation::Xfer { at: 0, bytes: vec![7; 4 << 20], event: None });
    job.run(std::time::Duration::from_micros(15));
    job.network.set_liveness(NodeId(0), Liveness::Dead);
    job.run(settings().limit);
    assert!(job.machines[1].staged_bytes() > 0, "nothing was staged, so this is no test");
    job.run(settings().limit * 10);
    assert_eq!((job.machines[1].staged_bytes(), job.machines[2].staged_bytes()), (0, 0));
    assert_eq!(words(&job, 0)[1..], [0; 2]);
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

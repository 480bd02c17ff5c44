//! Each rule of the primitives by itself, in virtual time.

mod lab;

use evenkeel_fabric::virtual_network::{Faults, Liveness};
use evenkeel_fabric::{NodeId, Wire};
use evenkeel_primitives::{
    Comparison, EventId, Failure, Fault, Machine, Mistake, NodeSet, Number, Operation, Outcome, Rules,
    Settings,
};
use lab::{Job, settings};
use std::time::Duration;

fn quiet(nodes: usize) -> Job {
    Job::new(nodes, settings(), Faults::none(), 1, 0)
}

fn compare(comparison: Comparison, value: u64, write: Option<(usize, u64)>) -> Operation {
    Operation::Compare { variable: 0, comparison, value, write }
}

fn xfer(at: usize, value: u64, event: Option<EventId>) -> Operation {
    Operation::Xfer { at, bytes: value.to_ne_bytes().to_vec(), event }
}

/// Runs a node's operation to its end; its outcome and how long it took.
fn result(job: &mut Job, node: usize, number: Number) -> (Outcome, Duration) {
    let start = job.network.now();
    loop {
        let next = job.network.now() + Duration::from_micros(100);
        job.run_leaving_outcomes(next);
        if let Some(outcome) = job.machines[node].outcome(number) {
            return (outcome, job.network.now() - start);
        }
        assert!(job.network.now() < start + Duration::from_secs(1), "it does not end");
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
fn all_six_comparisons() {
    let mut job = quiet(3);
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
fn one_node_that_differs_is_enough() {
    let mut job = quiet(7);
    let all = [0, 1, 2, 3, 4, 5, 6];
    for odd in all {
        carry_out(&mut job, 0, &all, xfer(0, 1, None)).unwrap();
        carry_out(&mut job, 0, &[odd], xfer(0, 2, None)).unwrap();
        assert_eq!(carry_out(&mut job, 3, &all, compare(Comparison::Equal, 1, Some((8, 9)))), Ok(false));
        assert_eq!(words(&job, 8), [0; 7]);
    }
    carry_out(&mut job, 0, &all, xfer(0, 1, None)).unwrap();
    assert_eq!(carry_out(&mut job, 3, &all, compare(Comparison::Equal, 1, Some((8, 9)))), Ok(true));
    assert_eq!(words(&job, 8), [9; 7]);
}

#[test]
fn only_nodes_of_the_set_are_touched() {
    let mut job = quiet(5);
    carry_out(&mut job, 0, &[1, 3], xfer(8, 7, Some(EventId(4)))).unwrap();
    assert_eq!(words(&job, 8), [0, 7, 0, 7, 0]);
    let signalled: Vec<bool> =
        job.machines.iter_mut().map(|machine| machine.take_signal(EventId(4))).collect();
    assert_eq!(signalled, [false, true, false, true, false]);
}

/// Everybody tries to be the one who sets it from 0: all nodes see the same winner, and it is the one
/// who was told so.
#[test]
fn a_single_winner() {
    for seed in 0..30 {
        let mut job = Job::new(5, settings(), Faults::bad(), seed, 0);
        let all = [0, 1, 2, 3, 4];
        let numbers: Vec<Number> = all
            .iter()
            .map(|&node| job.start(node, &all, compare(Comparison::Equal, 0, Some((0, node as u64 + 1)))))
            .collect();
        let won: Vec<usize> =
            all.into_iter().filter(|&node| result(&mut job, node, numbers[node]).0 == Ok(true)).collect();
        assert_eq!(won.len(), 1, "seed {seed}");
        assert_eq!(words(&job, 0), [won[0] as u64 + 1; 5], "seed {seed}");
    }
}

#[test]
fn no_signal_is_lost_or_doubled() {
    let mut job = Job::new(4, settings(), Faults::bad(), 3, 0);
    let numbers: Vec<(usize, Number)> = (0..40)
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

/// A dead node anywhere in the tree is the one that is named, in little more than the limit, and nobody
/// has the data.
#[test]
fn the_dead_node_is_named() {
    for dead in 1..7 {
        let mut job = quiet(7);
        carry_out(&mut job, 0, &[0, 1, 2, 3, 4, 5, 6], xfer(0, 1, None)).unwrap();
        job.network.set_liveness(NodeId(dead), Liveness::Dead);
        let number = job.start(if dead == 1 { 2 } else { 1 }, &[0, 1, 2, 3, 4, 5, 6], xfer(0, 2, None));
        let (outcome, took) = result(&mut job, if dead == 1 { 2 } else { 1 }, number);
        assert_eq!(outcome, Err(Fault { node: NodeId(dead), what: Failure::Silent, undone: true }));
        assert!(took < settings().limit * 2, "{took:?}");
        let alive: Vec<usize> = (0..7).filter(|&node| node != dead as usize).collect();
        assert!(alive.iter().all(|&node| words(&job, 0)[node] == 1));
        // The others go on without it.
        assert_eq!(carry_out(&mut job, alive[1], &alive, xfer(0, 3, None)), Ok(true));
    }
}

#[test]
fn without_the_node_that_orders_that_one_is_named() {
    let mut job = quiet(3);
    job.network.set_liveness(NodeId(0), Liveness::Dead);
    let number = job.start(1, &[1, 2], xfer(0, 2, None));
    let (outcome, took) = result(&mut job, 1, number);
    assert_eq!(outcome, Err(Fault { node: NodeId(0), what: Failure::Silent, undone: false }));
    assert!(took < settings().limit * 2, "{took:?}");
}

/// The next node that lives orders then; with the first two dead the third. What was asked of the dead
/// one is unknown, what comes after it goes on, and everybody follows.
#[test]
fn the_next_that_lives_takes_over() {
    for dead in [1, 2] {
        let mut job = quiet(5);
        carry_out(&mut job, 4, &[0, 1, 2, 3, 4], xfer(0, 1, None)).unwrap();
        for node in 0..dead {
            job.network.set_liveness(NodeId(node), Liveness::Dead);
        }
        let alive: Vec<usize> = (dead as usize..5).collect();
        let (outcome, took) = {
            let number = job.start(4, &alive, xfer(0, 2, None));
            result(&mut job, 4, number)
        };
        assert_eq!(outcome, Err(Fault { node: NodeId(0), what: Failure::Silent, undone: false }));
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

/// Half of the nodes, or fewer, elect nobody: the others could do the same.
#[test]
fn a_minority_elects_nobody() {
    let mut job = quiet(4);
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

/// One that was only away, and was succeeded, follows like the others, and carries out nothing more on
/// its own word.
#[test]
fn one_that_was_succeeded_follows() {
    let mut job = quiet(5);
    let all = [0, 1, 2, 3, 4];
    job.network.set_liveness(NodeId(0), Liveness::Frozen);
    carry_out(&mut job, 4, &[1, 2, 3, 4], xfer(0, 2, None)).unwrap_err();
    let until = job.network.now() + settings().limit * 3;
    job.run(until);
    assert_eq!(carry_out(&mut job, 4, &[1, 2, 3, 4], xfer(0, 3, None)), Ok(true));
    job.network.set_liveness(NodeId(0), Liveness::Running);
    let first = carry_out(&mut job, 0, &all, xfer(0, 4, None));
    let again = carry_out(&mut job, 0, &all, xfer(0, 5, None));
    assert!(first.is_ok() || first.unwrap_err().undone, "it knows that nothing came of it");
    assert_eq!(again, Ok(true));
    assert_eq!((words(&job, 0), job.machines[0].sequencer()), (vec![5; 5], NodeId(1)));
}

/// Node 0 asks whether the word is 0 on nodes 3 and 4. It is on 3, which says so, and not on 4, which
/// does not hear the question. Node 0 stops; under its successor the word becomes 1 on 3, and then 0 on
/// 4. Node 0 goes on, and asks 4 again.
fn comparison_across_a_succession(fenced: bool) -> Outcome {
    let rules = Rules { fenced, ..Rules::default() };
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

/// The word was never 0 on both, so nobody may hear that it was; without the rule node 0 does.
#[test]
fn nobody_follows_two_at_once() {
    assert_ne!(comparison_across_a_succession(true), Ok(true));
    assert_eq!(
        comparison_across_a_succession(false),
        Ok(true),
        "the rule is not needed for this: it is no test of it"
    );
}

/// A node that stops for less than the limit holds an operation up and is not taken for dead, wherever
/// it is in the tree.
#[test]
fn slow_is_not_dead() {
    for slow in 0..7 {
        let mut job = quiet(7);
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
    let mut job = quiet(4);
    job.network.set_liveness(NodeId(2), Liveness::Dead);
    job.machines.iter_mut().for_each(|machine| machine.evict(NodeId(2)));
    let number = job.start(1, &[0, 1, 2, 3], xfer(0, 2, None));
    let (outcome, took) = result(&mut job, 1, number);
    assert_eq!(outcome, Err(Fault { node: NodeId(2), what: Failure::Evicted, undone: true }));
    assert!(took < settings().limit / 2, "{took:?}");
}

/// So many bytes from one node to a set: the same at all of these, nothing elsewhere, and nothing is kept.
fn arrive_whole(mut job: Job, origin: usize, set: &[usize], length: u32) {
    let bytes: Vec<u8> = (0..length).map(|i| (i * 31 >> 3) as u8).collect();
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

/// Data of many chunks, over a network that loses, doubles and reorders, from an origin in the set and
/// from one outside of it: the same everywhere, and nothing is kept.
#[test]
fn large_data() {
    for (origin, set) in [(2, vec![0, 1, 2, 3, 4]), (0, vec![1, 3, 4])] {
        arrive_whole(Job::with_memory(1 << 18, 5, settings(), Faults::bad(), 4, 0), origin, &set, 200_000);
    }
}

/// The same among so many that each half goes down a tree of its own.
#[test]
fn large_data_to_many() {
    for (origin, first) in [(30, 0), (0, 1)] {
        arrive_whole(
            Job::with_memory(1 << 18, 90, settings(), Faults::bad(), 5, 0),
            origin,
            &(first..90).collect::<Vec<_>>(),
            200_001,
        );
    }
    // Nobody has the data of a transfer that one node cannot get, wherever it is.
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
            Err(Fault { node: NodeId(dead), what: Failure::Silent, undone: true })
        );
        assert_eq!(words(&job, 0), [0; 90]);
    }
    // Nor if it has one half, and the other does not come through: 89 is the first of the second tree and
    // 88 below it, and in the first tree they are no neighbours.
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
        Err(Fault { node: NodeId(88), what: Failure::Silent, undone: true })
    );
    assert_eq!(words(&job, 0), [0; 90]);
}

/// A node that is dead anywhere in the chain fails a large transfer before it is ordered: it is named,
/// nobody has the data, and the others go on.
#[test]
fn large_data_and_a_dead_node() {
    for dead in 1..5 {
        let mut job = Job::with_memory(1 << 18, 5, settings(), Faults::none(), 1, 0);
        job.network.set_liveness(NodeId(dead), Liveness::Dead);
        let number =
            job.start(0, &[0, 1, 2, 3, 4], Operation::Xfer { at: 0, bytes: vec![7; 200_000], event: None });
        let (outcome, took) = result(&mut job, 0, number);
        assert_eq!(outcome, Err(Fault { node: NodeId(dead), what: Failure::Silent, undone: true }));
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

/// Who sends only half of it leaves nothing behind for ever.
#[test]
fn an_origin_that_dies_while_it_sends() {
    let mut job = Job::with_memory(1 << 22, 3, settings(), Faults::none(), 1, 0);
    job.start(0, &[0, 1, 2], Operation::Xfer { at: 0, bytes: vec![7; 4 << 20], event: None });
    job.run(std::time::Duration::from_micros(15));
    job.network.set_liveness(NodeId(0), Liveness::Dead);
    job.run(settings().limit);
    assert!(job.machines[1].staged_bytes() > 0, "it came to nothing at once: this is no test");
    job.run(settings().limit * 10);
    assert_eq!((job.machines[1].staged_bytes(), job.machines[2].staged_bytes()), (0, 0));
    assert_eq!(words(&job, 0)[1..], [0; 2]);
}

#[test]
fn memory_is_bounded() {
    let mut job = Job::new(4, settings(), Faults::bad(), 9, 0);
    for round in 0..300 {
        carry_out(&mut job, round % 4, &[0, 1, 2, 3], xfer(0, round as u64, None)).unwrap();
        assert!(job.machines.iter().all(|machine| machine.remembered() < 10));
    }
}

#[test]
fn mistakes_are_refused_at_once() {
    let (memory, mut machine) =
        (evenkeel_fabric::Memory::new(64).unwrap(), Machine::new(NodeId(0), 2, settings()));
    let mut start = |nodes: &[u32], operation| {
        let set: NodeSet = nodes.iter().map(|&node| NodeId(node)).collect();
        machine.start(Duration::ZERO, &memory, set, operation).map(|_| ()).unwrap_err()
    };
    assert_eq!(start(&[], xfer(0, 1, None)), Mistake::NoNodes);
    assert_eq!(start(&[0, 2], xfer(0, 1, None)), Mistake::NoSuchNode(NodeId(2), 2));
    assert_eq!(start(&[0], xfer(60, 1, None)), Mistake::OutOfRange { at: 60, end: 68, bytes: 64 });
    assert_eq!(start(&[0], compare(Comparison::Less, 1, Some((12, 1)))), Mistake::Misaligned(12));
}

/// Control messages grow with the nodes, the depth with their logarithm: a comparison over 1000 nodes
/// takes two trips down and up a tree of fanout 8.
#[test]
fn a_thousand_nodes() {
    let mut settings = settings();
    settings.fanout = 8;
    let mut job = Job::new(1000, settings, Faults::none(), 1, 0);
    let all: Vec<usize> = (0..1000).collect();
    let number = job.start(500, &all, compare(Comparison::Equal, 0, Some((0, 1))));
    let (outcome, took) = result(&mut job, 500, number);
    assert_eq!((outcome, words(&job, 0)), (Ok(true), vec![1; 1000]));
    // 1 + 4 hops down, up, down, up, 1 back, each of 10 µs.
    assert!(took <= Duration::from_micros(10 * (2 + 4 * 4) + 100), "{took:?}");
    let (messages, _) = job.network.traffic();
    assert!(messages <= 4 * 1000 + 10, "{messages}");
}

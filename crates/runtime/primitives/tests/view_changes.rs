//! Another node becomes the sequencer when the sequencer falls silent, and only one at a time.

mod lab;

use evenkeel_fabric::NodeId;
use evenkeel_fabric::virtual_network::{Faults, Liveness};
use evenkeel_primitives::{Comparison, Outcome, Rules, Settings};
use lab::calls::{carry_out, compare, result, silent, without_faults, words, xfer};
use lab::{Job, settings};
use std::time::Duration;

#[test]
fn a_dead_sequencer_is_named() {
    let mut job = without_faults(3);
    job.network.set_liveness(NodeId(0), Liveness::Dead);
    let number = job.start(1, &[1, 2], xfer(0, 2, None));
    let (outcome, took) = result(&mut job, 1, number);
    assert_eq!(outcome, silent(0, false));
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
        assert_eq!(outcome, silent(0, false));
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

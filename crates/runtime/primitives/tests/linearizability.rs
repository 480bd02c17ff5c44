//! Random calls under random faults are as if carried out one after the other. With a rule broken they
//! are not, and the search finds that.

mod lab;

use evenkeel_fabric::NodeId;
use evenkeel_fabric::virtual_network::{Faults, Liveness};
use evenkeel_primitives::{Rules, Settings};
use lab::history::{Answer, Call, Entry, explanation};
use lab::{Job, Random, WORDS, settings};
use std::time::Duration;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// What goes wrong in a run.
#[derive(Clone, Copy, PartialEq)]
enum FaultLevel {
    /// Latencies vary; that is all.
    None,
    /// Messages are lost, duplicated and overtaken.
    Messages,
    /// The same; and there are partitions, nodes that stop for less or more than the limit, and nodes
    /// that die.
    Everything,
}

/// One job from a seed: random calls and faults; then all faults end, and every living node reads every word.
fn job(seed: u64, level: FaultLevel, settings: Settings) -> Job {
    let mut random = Random(seed ^ 0xfeed);
    let nodes = 2 + random.below(4) as usize;
    let faults =
        if level == FaultLevel::None { Faults { longest: ms(1), ..Faults::none() } } else { Faults::bad() };
    let mut job = Job::new(nodes, settings, faults, seed, 10);
    let all: Vec<NodeId> = (0..nodes as u32).map(NodeId).collect();
    let mut at = Duration::ZERO;
    for _ in 0..4 {
        at += ms(random.below(20));
        job.run(at);
        if level != FaultLevel::Everything {
            continue;
        }
        inject_fault(&job, &all, &mut random);
        at += ms(random.below(120));
        job.run(at);
        if random.below(3) > 0 {
            job.network.partition(&[&all]);
            thaw(&job);
        }
    }
    job.network.partition(&[&all]);
    job.network.set_faults(Faults::none());
    thaw(&job);
    at += ms(1500);
    job.run(at);
    for word in 0..WORDS {
        for node in 0..nodes {
            if job.network.liveness(NodeId(node as u32)) == Liveness::Running {
                job.begin_read(node, word);
            }
        }
        at += ms(500);
        job.run(at);
    }
    job
}

/// A partition, a node that stops, or one that dies; or nothing.
fn inject_fault(job: &Job, all: &[NodeId], random: &mut Random) {
    let victim = NodeId(random.below(all.len() as u64) as u32);
    match random.below(6) {
        0 => {
            let (left, right): (Vec<NodeId>, Vec<NodeId>) = all.iter().partition(|_| random.below(2) == 0);
            job.network.partition(&[&left, &right]);
        }
        1 | 2 => {
            job.network.partition(&[&all.iter().copied().filter(|&node| node != victim).collect::<Vec<_>>()])
        }
        3 => job.network.set_liveness(
            victim,
            if job.network.liveness(victim) == Liveness::Dead { Liveness::Dead } else { Liveness::Frozen },
        ),
        4 => job.network.set_liveness(victim, Liveness::Dead),
        _ => {}
    }
}

fn thaw(job: &Job) {
    for node in 0..job.nodes() as u32 {
        if job.network.liveness(NodeId(node)) == Liveness::Frozen {
            job.network.set_liveness(NodeId(node), Liveness::Running);
        }
    }
}

fn explained(job: &Job) -> bool {
    explanation(&job.history, job.nodes(), WORDS).is_some()
}

fn show(job: &Job) -> String {
    job.history.iter().map(|entry| format!("{entry:?}\n")).collect()
}

fn all_are_explained(seeds: std::ops::Range<u64>, level: FaultLevel) -> Vec<Job> {
    all_are_explained_with(settings(), seeds, level)
}

fn all_are_explained_with(settings: Settings, seeds: std::ops::Range<u64>, level: FaultLevel) -> Vec<Job> {
    seeds
        .map(|seed| {
            let job = job(seed, level, settings);
            assert!(explained(&job), "seed {seed}: no order explains this history\n{}", show(&job));
            job
        })
        .collect()
}

fn answered(jobs: &[Job], is: impl Fn(&Entry) -> bool) -> usize {
    jobs.iter().flat_map(|job| &job.history).filter(|entry| is(entry)).count()
}

#[test]
fn without_faults_every_call_succeeds_and_is_explained() {
    let jobs = all_are_explained(0..60, FaultLevel::None);
    assert!(jobs.iter().all(|job| job.unanswered() == 0));
    assert_eq!(
        answered(&jobs, |entry| matches!(entry.answer, Answer::Unknown | Answer::Undone)),
        0,
        "no node failed, so no operation may"
    );
    let comparisons = |held| {
        answered(&jobs, |entry| {
            entry.answer == Answer::Held(held) && matches!(entry.call, Call::Compare { .. })
        })
    };
    assert!(
        comparisons(true) > 50 && comparisons(false) > 50,
        "too few comparisons for a test: {} held, {} did not",
        comparisons(true),
        comparisons(false)
    );
}

#[test]
fn lost_duplicated_and_overtaken_messages_change_no_answer() {
    let jobs = all_are_explained(0..60, FaultLevel::Messages);
    assert!(jobs.iter().all(|job| job.unanswered() == 0));
    assert_eq!(
        answered(&jobs, |entry| matches!(entry.answer, Answer::Unknown | Answer::Undone)),
        0,
        "no node was silent for the limit"
    );
}

#[test]
fn histories_with_partitions_and_dead_nodes_are_explained() {
    let jobs = all_are_explained(0..200, FaultLevel::Everything);
    let (undone, unknown) = (
        answered(&jobs, |entry| entry.answer == Answer::Undone),
        answered(&jobs, |entry| entry.answer == Answer::Unknown),
    );
    assert!(undone > 50 && unknown > 50, "too few failures for a test: {undone} undone, {unknown} unknown");
}

/// The sequencer dies at one of many moments of a job. The next living node takes over, and the history is
/// explained.
#[test]
fn the_sequencer_may_die_at_any_moment() {
    for step in 0..60 {
        let mut job = Job::new(4, settings(), Faults::bad(), step, 10);
        job.run(Duration::from_micros(300 * step));
        job.network.set_liveness(NodeId(0), Liveness::Dead);
        job.run(ms(600));
        job.network.set_faults(Faults::none());
        job.run(ms(1200));
        assert!(
            (1..4).all(|node| job.machines[node].sequencer() == NodeId(1))
                || job.history.iter().all(|entry| entry.called < ms(2)),
            "step {step}"
        );
        for node in 1..4 {
            for word in 0..WORDS {
                let now = job.network.now();
                job.begin_read(node, word);
                job.run(now + ms(1));
            }
        }
        assert!(explained(&job), "step {step}: no order explains this history\n{}", show(&job));
    }
}

/// The first of some seeds whose history cannot be explained.
fn unexplained(rules: Rules, level: FaultLevel, mut seeds: std::ops::Range<u64>) -> Option<u64> {
    seeds.find(|&seed| !explained(&job(seed, level, Settings { rules, ..settings() })))
}

/// Settings with which all transfers send their data ahead, however short they are.
fn staged() -> Settings {
    Settings { inline_bytes: 0, ..settings() }
}

#[test]
fn histories_with_staged_transfers_are_explained() {
    let jobs = all_are_explained_with(staged(), 0..60, FaultLevel::Messages);
    assert!(jobs.iter().all(|job| job.unanswered() == 0));
    assert_eq!(
        answered(&jobs, |entry| matches!(entry.answer, Answer::Unknown | Answer::Undone)),
        0,
        "no node was silent for the limit"
    );
    let jobs = all_are_explained_with(staged(), 0..150, FaultLevel::Everything);
    let undone =
        answered(&jobs, |entry| matches!(entry.call, Call::Xfer { .. }) && entry.answer == Answer::Undone);
    assert!(undone > 20, "too few failures for a test: {undone} undone");
}

#[test]
fn ordering_a_transfer_before_its_data_have_arrived_is_found() {
    let rules = Rules { data_first: false, ..Rules::default() };
    assert!((0..200).any(|seed| !explained(&job(
        seed,
        FaultLevel::Messages,
        Settings { rules, ..staged() }
    ))));
}

#[test]
fn starting_conflicting_operations_together_is_found() {
    assert!(
        unexplained(
            Rules { conflicts_wait: false, reads_wait: false, ..Rules::default() },
            FaultLevel::None,
            0..200
        )
        .is_some()
    );
}

#[test]
fn reading_what_is_in_doubt_is_found() {
    assert!(
        unexplained(Rules { reads_wait: false, ..Rules::default() }, FaultLevel::Messages, 0..200).is_some()
    );
}

#[test]
fn applying_before_all_nodes_agree_is_found() {
    assert!(
        unexplained(Rules { all_or_none: false, ..Rules::default() }, FaultLevel::None, 0..200).is_some()
    );
}

#[test]
fn following_the_sequencer_after_terminating_is_found() {
    // It takes a sequencer that is cut off while it decides, and is heard again after the other nodes have
    // settled the operation: the first such seed of 20,000.
    assert!(
        unexplained(
            Rules { termination_binds: false, ..Rules::default() },
            FaultLevel::Everything,
            7411..7412
        )
        .is_some()
    );
}

/// What a node says of itself alone is no answer for the nodes below it in the tree. This is the first
/// seed of 6,000 that showed that it had been taken for one.
#[test]
fn a_direct_answer_does_not_count_for_the_nodes_below() {
    all_are_explained(2166..2167, FaultLevel::Everything);
}

/// A node that had ordered, was succeeded, and wanted to order again told its own client that an
/// operation was not carried out, while it was still bringing that operation to its end.
#[test]
fn an_operation_under_way_is_not_refused() {
    all_are_explained(3517..3518, FaultLevel::Everything);
}

#[test]
fn the_same_seed_gives_the_same_job() {
    assert_eq!(
        show(&job(5, FaultLevel::Everything, settings())),
        show(&job(5, FaultLevel::Everything, settings()))
    );
}

//! Checks the ordering rules of deferred barriers against the only possible oracle: what a program with
//! strict barriers can know.
//!
//! Processes run programs of barriers, messages, broadcasts and reductions. Their steps are interleaved at
//! random or, for all programs of a few steps ([`small_histories`]), in every possible order. Everything that
//! a process sends carries its knowledge: for each group, the number of barriers that some process is known
//! to have passed. With strict barriers no process ever learns that a barrier has been passed that it has not
//! entered itself, and no message that was sent after a barrier arrives before all members have entered it.
//! The engine's own function `must_complete` decides what must be complete before a step. Each rule is also
//! left out once, and the check must then find an error.

#[path = "../interleaving/mod.rs"]
mod interleaving;
mod model;
mod small_histories;

use evenkeel_random::Random;
use interleaving::Interleaved;
use model::{Group, LeftOut, Scenario, Step, Step::*};

/// Makes programs that terminate with strict barriers: a sequence of events, each of which is added to the
/// programs of all processes that take part in it.
fn random_scenario(random: &mut Random, left_out: LeftOut) -> Scenario {
    let n = 2 + random.below(5);
    let mut groups = vec![(1 << n) - 1];
    for _ in 0..1 + random.below(3) {
        let group = random.below(1 << n) as Group;
        if group.count_ones() >= 2 {
            groups.push(group);
        }
    }
    let mut programs = vec![Vec::new(); n];
    for _ in 0..4 + random.below(16) {
        let group = random.below(groups.len());
        let members: Vec<usize> = (0..n).filter(|p| groups[group] >> p & 1 != 0).collect();
        match random.below(10) {
            0..4 => members.iter().for_each(|&p| programs[p].push(Barrier(group))),
            4 | 5 => {
                let (a, b) = (random.below(n), random.below(n));
                if a != b {
                    programs[a].push(Send(b));
                    programs[b].push(Receive(a));
                }
            }
            6 => {
                let root = members[random.below(members.len())];
                members.iter().for_each(|&p| programs[p].push(Broadcast(group, root)));
            }
            7 => {
                let root = members[random.below(members.len())];
                members.iter().for_each(|&p| programs[p].push(Reduce(group, root)));
            }
            8 => programs[random.below(n)].push(Look),
            _ => programs[random.below(n)].push(Observe),
        }
    }
    Scenario { groups, programs, window: [1, 2, 3, 64][random.below(4)], left_out }
}

fn run_random(left_out: LeftOut, count: u64) -> Result<(), String> {
    interleaving::run_random(count, |random| random_scenario(random, left_out))
}

#[test]
fn no_random_interleaving_shows_a_difference() {
    run_random(LeftOut::Nothing, 60_000).unwrap();
}

#[test]
fn each_rule_is_needed() {
    for rule in LeftOut::RULES {
        assert!(
            run_random(rule, 20_000).is_err(),
            "{rule:?} makes no difference: the rule is not needed, or this test checks nothing"
        );
    }
}

fn explore_all(groups: &[Group], programs: &[&[Step]], left_out: LeftOut) -> Result<usize, String> {
    let programs = programs.iter().map(|p| p.to_vec()).collect();
    Scenario { groups: groups.to_vec(), programs, window: 2, left_out }.explore()
}

#[test]
fn a_late_member_delays_messages_that_were_sent_after_the_barrier() {
    for n in 3..=5 {
        // The last process enters late: first it sends a message that process 0 may receive from any
        // source.
        let mut programs: Vec<&[Step]> = vec![&[Barrier(0)]; n];
        programs[0] = &[ReceiveAny, Barrier(0), ReceiveAny];
        programs[1] = &[Barrier(0), Send(0)];
        programs[n - 1] = &[Send(0), Barrier(0)];
        assert!(explore_all(&[(1 << n) - 1], &programs, LeftOut::Nothing).unwrap() > 10);
        explore_all(&[(1 << n) - 1], &programs, LeftOut::SendsWait).unwrap_err();
    }
}

#[test]
fn a_barrier_waits_for_one_of_a_group_that_only_overlaps() {
    // Process 1 is in both groups. Process 2 learns from the second barrier that 1 has passed the first, and
    // could tell process 0, which has not entered the first.
    let programs: [&[Step]; 4] = [
        &[ReceiveAny, Barrier(0), ReceiveAny],
        &[Barrier(0), Barrier(1)],
        &[Barrier(1), Send(0)],
        &[Send(0)],
    ];
    explore_all(&[0b0011, 0b0110], &programs, LeftOut::Nothing).unwrap();
    explore_all(&[0b0011, 0b0110], &programs, LeftOut::OverlappingGroupsWait).unwrap_err();
}

#[test]
fn programs_that_a_single_counter_per_process_would_hang_terminate() {
    // Groups {A,B}, {C,D}, {B,C}: with one barrier counter per process, B's would stay ahead of A's for good.
    let programs: [&[Step]; 4] = [
        &[Barrier(0), Receive(1)],
        &[Barrier(0), Barrier(2), Send(0)],
        &[Barrier(1), Barrier(2)],
        &[Barrier(1)],
    ];
    explore_all(&[0b0011, 0b1100, 0b0110], &programs, LeftOut::Nothing).unwrap();
}

#[test]
fn nested_groups_run_ahead() {
    let programs: [&[Step]; 3] = [
        &[Barrier(1), Barrier(0), Barrier(1), Send(2), Barrier(0)],
        &[Barrier(1), Barrier(0), Barrier(1), Barrier(0)],
        &[Barrier(0), Receive(0), Barrier(0)],
    ];
    explore_all(&[0b111, 0b011], &programs, LeftOut::Nothing).unwrap();
}

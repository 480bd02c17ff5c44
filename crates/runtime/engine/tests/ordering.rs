//! Checks the ordering rules of deferred barriers against the only possible oracle: what a program with
//! strict barriers can know.
//!
//! Processes run programs of barriers, messages and broadcasts. Their steps are interleaved at random or,
//! for small programs, in every possible order. Everything that a process sends carries its knowledge: for
//! each group, the number of barriers that some process is known to have passed. With strict barriers no
//! process ever learns that a barrier has been passed that it has not entered itself, and no message that
//! was sent after a barrier arrives before all members have entered it. The engine's own function
//! [`must_complete`] decides what must be complete before a step. Each rule is also left out once, and the
//! check must then find an error.

mod interleaving;

use evenkeel_engine::deferral::rule::{NextAction, PendingBarriers, must_complete};
use evenkeel_random::Random;
use interleaving::Interleaved;

/// A set of processes, one bit each.
type Group = u32;
/// For each group, the number of the latest barrier that some process is known to have entered.
type Knowledge = Vec<u8>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Barrier(usize),
    Send(usize),
    Receive(usize),
    ReceiveAny,
    /// A broadcast in a group, from a root.
    Broadcast(usize, usize),
    /// A probe that finds nothing, or a system call.
    Observe,
}
use Step::*;

/// The rule that a check leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    /// A send waits until pending barriers are complete.
    SendsWait,
    /// A barrier waits for pending barriers of groups that only overlap with its own.
    OverlappingGroupsWait,
    /// The root of a broadcast waits for pending barriers of other groups.
    RootsWait,
    /// A rank that receives a broadcast waits until pending barriers are complete.
    ReceiversWait,
    /// A barrier is complete only when all members have entered it.
    AllMustEnter,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Process {
    at: usize,
    /// How many barriers it has entered, per group, and how many of these it knows to be complete.
    entered: Vec<u8>,
    known: Vec<u8>,
    knowledge: Knowledge,
    /// How many broadcasts it has taken part in, per group.
    broadcasts: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct System {
    processes: Vec<Process>,
    /// Messages that have not been received, per sender and receiver, oldest first.
    messages: Vec<Vec<Vec<Knowledge>>>,
    /// What each member knew when it entered barrier number n of a group.
    entries: Vec<Vec<Vec<Knowledge>>>,
    /// What the root knew when it posted broadcast number n of a group.
    posts: Vec<Vec<Knowledge>>,
}

struct Scenario {
    groups: Vec<Group>,
    programs: Vec<Vec<Step>>,
    window: u8,
    left_out: LeftOut,
}

impl Scenario {
    fn has(&self, group: usize, process: usize) -> bool {
        self.groups[group] >> process & 1 != 0
    }

    fn is_complete(&self, s: &System, group: usize, number: u8) -> bool {
        (0..self.programs.len()).all(|p| !self.has(group, p) || s.processes[p].entered[group] > number)
    }

    /// Records which barriers of `me` are complete, in order. Their members' knowledge on entering is known
    /// now.
    fn retire(&self, s: &mut System, me: usize, group: usize) -> Result<(), String> {
        while s.processes[me].known[group] < s.processes[me].entered[group] {
            let number = s.processes[me].known[group];
            if !self.is_complete(s, group, number) && self.left_out != LeftOut::AllMustEnter {
                break;
            }
            s.processes[me].known[group] += 1;
            for knowledge in s.entries[group][number as usize].clone() {
                self.learn(s, me, &knowledge)?;
            }
        }
        Ok(())
    }

    /// Adds `knowledge` to that of process `me`, which must have entered all the barriers of its groups
    /// there.
    fn learn(&self, s: &mut System, me: usize, knowledge: &Knowledge) -> Result<(), String> {
        for (group, &passed) in knowledge.iter().enumerate() {
            let process = &mut s.processes[me];
            process.knowledge[group] = process.knowledge[group].max(passed);
            if self.has(group, me) && process.knowledge[group] > process.entered[group] {
                return Err(format!(
                    "process {me} learns that barrier {passed} of group {group} has been passed, and has \
                     not entered it"
                ));
            }
        }
        Ok(())
    }

    /// Delivers a message. All barriers before which it must not arrive must be complete.
    fn deliver(&self, s: &mut System, me: usize, knowledge: &Knowledge) -> Result<(), String> {
        for (group, &passed) in knowledge.iter().enumerate() {
            if passed > 0 && !self.is_complete(s, group, passed - 1) {
                return Err(format!(
                    "process {me} receives a message from after barrier {passed} of group {group}, which is \
                     not complete"
                ));
            }
        }
        self.learn(s, me, knowledge)
    }

    /// Returns whether the rules allow `me` to take this step now.
    fn is_allowed(&self, s: &System, me: usize, step: Step) -> bool {
        let process = &s.processes[me];
        let open: Vec<usize> =
            (0..self.groups.len()).filter(|&g| process.entered[g] > process.known[g]).collect();
        let (action, about) = match step {
            Receive(_) | ReceiveAny => return true,
            Barrier(group) => (NextAction::EnterBarrier, group),
            Broadcast(group, root) => {
                (if root == me { NextAction::Contribute } else { NextAction::Observe }, group)
            }
            Send(_) | Observe => (NextAction::Observe, usize::MAX),
        };
        let left_out = match step {
            Send(_) => self.left_out == LeftOut::SendsWait,
            Barrier(_) => self.left_out == LeftOut::OverlappingGroupsWait,
            Broadcast(_, root) if root == me => self.left_out == LeftOut::RootsWait,
            Broadcast(..) => self.left_out == LeftOut::ReceiversWait,
            _ => false,
        };
        let within = |a: usize, b: usize| self.groups[a] & !self.groups[b] == 0;
        let pending = PendingBarriers {
            same: open.iter().all(|&g| g == about),
            nested: about < self.groups.len() && open.iter().all(|&g| within(g, about) || within(about, g)),
        };
        open.is_empty() || left_out || !must_complete(action, pending)
    }

    /// Enters the next barrier of a group. Returns false if the window is full.
    fn enter(&self, s: &mut System, me: usize, group: usize) -> bool {
        let process = &mut s.processes[me];
        if process.entered[group] - process.known[group] >= self.window {
            return false;
        }
        let number = process.entered[group] as usize;
        process.entered[group] += 1;
        process.knowledge[group] = process.knowledge[group].max(process.entered[group]);
        let knowledge = process.knowledge.clone();
        if s.entries[group].len() <= number {
            s.entries[group].resize(number + 1, Vec::new());
        }
        s.entries[group][number].push(knowledge);
        s.entries[group][number].sort(); // the order of entering does not matter
        true
    }

    /// Receives a message, from any process if `from` is `None`. Returns false if there is none.
    fn receive(&self, s: &mut System, me: usize, from: Option<usize>) -> Result<bool, String> {
        let waiting = (0..self.programs.len())
            .filter(|&p| from.is_none_or(|from| from == p) && !s.messages[p][me].is_empty());
        // The message that carries most knowledge: the worst choice that a transport could make.
        let sum = |p: &usize| s.messages[*p][me][0].iter().map(|&k| k as u32).sum::<u32>();
        let Some(from) = waiting.max_by_key(sum) else { return Ok(false) };
        let knowledge = s.messages[from][me].remove(0);
        self.deliver(s, me, &knowledge)?;
        Ok(true)
    }

    /// Takes part in a broadcast. Returns false if the root has not posted it yet.
    fn broadcast(&self, s: &mut System, me: usize, group: usize, root: usize) -> Result<bool, String> {
        if me == root {
            let knowledge = s.processes[me].knowledge.clone();
            s.posts[group].push(knowledge);
        } else {
            let number = s.processes[me].broadcasts[group] as usize;
            let Some(knowledge) = s.posts[group].get(number).cloned() else { return Ok(false) };
            self.deliver(s, me, &knowledge)?;
        }
        s.processes[me].broadcasts[group] += 1;
        Ok(true)
    }
}

impl Interleaved for Scenario {
    type System = System;

    fn start(&self) -> System {
        let (p, g) = (self.programs.len(), self.groups.len());
        let process = Process {
            at: 0,
            entered: vec![0; g],
            known: vec![0; g],
            knowledge: vec![0; g],
            broadcasts: vec![0; g],
        };
        System {
            processes: vec![process; p],
            messages: vec![vec![Vec::new(); p]; p],
            entries: vec![Vec::new(); g],
            posts: vec![Vec::new(); g],
        }
    }

    fn processes(&self) -> usize {
        self.programs.len()
    }

    fn step(&self, s: &mut System, me: usize) -> Result<bool, String> {
        let Some(&step) = self.programs[me].get(s.processes[me].at) else { return Ok(false) };
        for group in 0..self.groups.len() {
            self.retire(s, me, group)?;
        }
        if !self.is_allowed(s, me, step) {
            return Ok(false);
        }
        let is_done = match step {
            Barrier(group) => self.enter(s, me, group),
            Send(to) => {
                let knowledge = s.processes[me].knowledge.clone();
                s.messages[me][to].push(knowledge);
                true
            }
            Receive(from) => self.receive(s, me, Some(from))?,
            ReceiveAny => self.receive(s, me, None)?,
            Broadcast(group, root) => self.broadcast(s, me, group, root)?,
            Observe => true,
        };
        s.processes[me].at += usize::from(is_done);
        Ok(is_done)
    }

    fn is_over(&self, s: &System) -> bool {
        s.processes.iter().zip(&self.programs).all(|(p, program)| p.at == program.len())
    }
}

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
        match random.below(8) {
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
    use LeftOut::*;
    for rule in [SendsWait, OverlappingGroupsWait, RootsWait, ReceiversWait, AllMustEnter] {
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

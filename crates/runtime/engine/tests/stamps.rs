//! Checks messages that overtake pending barriers against what a program with strict barriers can know.
//!
//! As in `ordering`, processes run programs of barriers and messages, interleaved at random or in every
//! possible order, and every message carries its sender's knowledge: for each group, the number of barriers
//! that some process is known to have passed. No process may learn that a barrier has been passed that it
//! has not entered itself. A process that learns *when* a message comes (a receive from any source, a test)
//! may learn only of complete barriers. A process that waits for one message and nothing else may also
//! learn of a barrier that is pending at this process. The engine's own functions [`stamping`] and
//! [`may_see`] decide how messages are sent and when they are seen. Each rule is also left out once, and
//! the check must then find an error.

mod interleaving;

use evenkeel_engine::message::visibility::{
    BarrierProgress, QueryKind, Stamping, Strength, may_see, stamping,
};
use evenkeel_random::Random;
use interleaving::Interleaved;

/// For each group, the number of the latest barrier that some process is known to have entered.
type Knowledge = Vec<u8>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Barrier(usize),
    Send(usize),
    /// A synchronous send, of which a later `Test` may see that it has been received.
    SendSync(usize),
    Receive(usize),
    ReceiveAny,
    /// Posts a receive from that process, which a later `Cancel` cancels.
    Post(usize),
    /// Cancels the posted receive, and waits for it. A program with strict barriers never waits for long: if
    /// the message has come, it is received, otherwise the receive is cancelled.
    Cancel(usize),
    /// Receives from that process if the last `Cancel` has cancelled its receive.
    ReceiveAgain(usize),
    /// Tests whether the oldest synchronous send to that process has been received. The program goes on in
    /// either case.
    Test(usize),
}
use Step::*;

/// The rule that a check leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    /// Messages carry stamps, and their receivers respect them.
    Stamps,
    /// If barriers of several groups are pending, they are completed before a message is sent. Without the
    /// rule the message carries the stamp of the last one only.
    OneGroup,
    /// A process that waits for one message gets it only after it has entered the message's barrier.
    HasEntered,
    /// A receive from any source and a test see only messages from after barriers that all members have
    /// entered. Without the rule it is enough that this process has entered.
    AllHaveEntered,
    /// The answer to a synchronous send carries a stamp.
    StampedAnswers,
    /// A posted receive gets a message only when this process has entered the message's barrier. Without the
    /// rule it gets it at once, and can then not be cancelled.
    MatchedWhenSeen,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Sent {
    knowledge: Knowledge,
    /// The group and the number of its barriers that the sender has entered.
    stamp: Option<(usize, u8)>,
    synchronous: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Process {
    at: usize,
    entered: Vec<u8>,
    knowledge: Knowledge,
    /// The group whose barrier was entered last.
    last: usize,
    /// The last `Cancel` has cancelled its receive.
    has_cancelled: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct System {
    processes: Vec<Process>,
    /// Messages per sender and receiver, oldest first.
    messages: Vec<Vec<Vec<Sent>>>,
    /// Answers to synchronous sends, per receiver of the message and its sender.
    answers: Vec<Vec<Vec<Sent>>>,
}

struct Scenario {
    groups: Vec<u32>,
    programs: Vec<Vec<Step>>,
    left_out: LeftOut,
}

impl Scenario {
    fn has(&self, group: usize, process: usize) -> bool {
        self.groups[group] >> process & 1 != 0
    }

    /// Returns whether all members have entered `count` barriers of a group.
    fn is_complete(&self, s: &System, group: usize, count: u8) -> bool {
        (0..self.programs.len()).all(|p| !self.has(group, p) || s.processes[p].entered[group] >= count)
    }

    /// The groups with barriers that are pending at `me`.
    fn open(&self, s: &System, me: usize) -> Vec<usize> {
        (0..self.groups.len())
            .filter(|&g| !self.is_complete(s, g, s.processes[me].entered[g]))
            .filter(|&g| self.has(g, me))
            .collect()
    }

    /// Adds the knowledge of a message to that of `me`, if `me` may have it after this kind of query.
    fn learn(
        &self,
        s: &mut System,
        me: usize,
        knowledge: &Knowledge,
        query: QueryKind,
    ) -> Result<(), String> {
        for (group, &passed) in knowledge.iter().enumerate() {
            let entered = s.processes[me].entered[group];
            if self.has(group, me) && passed > entered {
                return Err(format!(
                    "process {me} learns of barrier {passed} of group {group} and has not entered it"
                ));
            }
            let pending_here = query == QueryKind::Wait && self.has(group, me);
            if !self.is_complete(s, group, passed) && !pending_here {
                return Err(format!(
                    "process {me} learns of barrier {passed} of group {group}, which is not complete"
                ));
            }
            s.processes[me].knowledge[group] = s.processes[me].knowledge[group].max(passed);
        }
        Ok(())
    }

    fn sees(&self, s: &System, me: usize, query: QueryKind, stamp: Option<(usize, u8)>) -> bool {
        let Some((group, count)) = stamp else { return true };
        let progress = if self.is_complete(s, group, count) {
            BarrierProgress::Complete
        } else if s.processes[me].entered[group] >= count {
            BarrierProgress::Entered
        } else {
            BarrierProgress::Ahead
        };
        match (self.left_out, query) {
            (LeftOut::HasEntered, QueryKind::Wait) => true,
            // The weak ordering is the strong one without this rule.
            (LeftOut::AllHaveEntered, _) => may_see(Strength::Weak, query, progress),
            _ => may_see(Strength::Strong, query, progress),
        }
    }

    /// The message that `me` sends now; `None` if it must wait.
    fn message(&self, s: &System, me: usize, synchronous: bool) -> Option<Sent> {
        let open = self.open(s, me);
        let group = if open.contains(&s.processes[me].last) {
            Some(s.processes[me].last)
        } else {
            open.first().copied()
        };
        let comms = if self.left_out == LeftOut::OneGroup { open.len().min(1) } else { open.len() };
        let stamp = match stamping(comms) {
            _ if self.left_out == LeftOut::Stamps => None,
            Stamping::CompletedFirst => return None,
            Stamping::Plain => None,
            Stamping::Stamped => group.map(|g| (g, s.processes[me].entered[g])),
        };
        Some(Sent { knowledge: s.processes[me].knowledge.clone(), stamp, synchronous })
    }

    fn take(&self, s: &mut System, from: usize, me: usize, query: QueryKind) -> Result<bool, String> {
        // The answer carries the stamp of this process when it posted the receive. If one stamp were not
        // enough, the receive would wait.
        let Some(mut answer) = self.message(s, me, false) else { return Ok(false) };
        if !s.messages[from][me].first().is_some_and(|m| self.sees(s, me, query, m.stamp)) {
            return Ok(false);
        }
        let message = s.messages[from][me].remove(0);
        if message.synchronous {
            if self.left_out == LeftOut::StampedAnswers {
                answer.stamp = None;
            }
            s.answers[me][from].push(answer);
        }
        self.learn(s, me, &message.knowledge, query)?;
        Ok(true)
    }

    /// Receives a message from any source. Returns false if none may be seen.
    fn take_any(&self, s: &mut System, me: usize) -> Result<bool, String> {
        // The message that carries most knowledge: the worst choice that could be made.
        let sum = |p: &usize| s.messages[*p][me][0].knowledge.iter().map(|&k| k as u32).sum::<u32>();
        let there = |p: &usize| {
            s.messages[*p][me].first().is_some_and(|m| self.sees(s, me, QueryKind::Choose, m.stamp))
        };
        match (0..self.programs.len()).filter(there).max_by_key(sum) {
            Some(from) => self.take(s, from, me, QueryKind::Choose),
            None => Ok(false),
        }
    }
}

impl Interleaved for Scenario {
    type System = System;

    fn start(&self) -> System {
        let (p, g) = (self.programs.len(), self.groups.len());
        let process =
            Process { at: 0, entered: vec![0; g], knowledge: vec![0; g], last: 0, has_cancelled: false };
        System {
            processes: vec![process; p],
            messages: vec![vec![Vec::new(); p]; p],
            answers: vec![vec![Vec::new(); p]; p],
        }
    }

    fn processes(&self) -> usize {
        self.programs.len()
    }

    fn step(&self, s: &mut System, me: usize) -> Result<bool, String> {
        let Some(&step) = self.programs[me].get(s.processes[me].at) else { return Ok(false) };
        match step {
            Barrier(group) => {
                // Only barriers of nested groups are pending together; see `deferral::rule::must_complete`.
                let within = |a: u32, b: u32| a & !b == 0;
                let (groups, open) = (&self.groups, self.open(s, me));
                if !open.iter().all(|&g| within(groups[g], groups[group]) || within(groups[group], groups[g]))
                {
                    return Ok(false);
                }
                let process = &mut s.processes[me];
                process.entered[group] += 1;
                process.last = group;
                process.knowledge[group] = process.knowledge[group].max(process.entered[group]);
            }
            Send(to) | SendSync(to) => {
                let Some(message) = self.message(s, me, matches!(step, SendSync(_))) else {
                    return Ok(false);
                };
                s.messages[me][to].push(message);
            }
            Receive(from) => {
                if !self.take(s, from, me, QueryKind::Wait)? {
                    return Ok(false);
                }
            }
            ReceiveAny => {
                if !self.take_any(s, me)? {
                    return Ok(false);
                }
            }
            Post(_) => {}
            Cancel(from) => {
                let has_got = match s.messages[from][me].first() {
                    Some(_) if self.left_out == LeftOut::MatchedWhenSeen => true,
                    Some(m) => self.sees(s, me, QueryKind::Wait, m.stamp),
                    None => false,
                };
                if has_got && !self.take(s, from, me, QueryKind::Wait)? {
                    return Ok(false);
                }
                s.processes[me].has_cancelled = !has_got;
            }
            ReceiveAgain(from) => {
                if s.processes[me].has_cancelled && !self.take(s, from, me, QueryKind::Wait)? {
                    return Ok(false);
                }
            }
            Test(to) => {
                if s.answers[to][me].first().is_some_and(|a| self.sees(s, me, QueryKind::Choose, a.stamp)) {
                    let answer = s.answers[to][me].remove(0);
                    self.learn(s, me, &answer.knowledge, QueryKind::Choose)?;
                }
            }
        }
        s.processes[me].at += 1;
        Ok(true)
    }

    fn is_over(&self, s: &System) -> bool {
        s.processes.iter().zip(&self.programs).all(|(p, program)| p.at == program.len())
    }
}

/// Lets all members of a group enter a barrier.
fn enter(programs: &mut [Vec<Step>], groups: &[u32], group: usize) {
    for (_, program) in programs.iter_mut().enumerate().filter(|(p, _)| groups[group] >> p & 1 != 0) {
        program.push(Barrier(group));
    }
}

/// Makes programs that terminate with strict barriers: a sequence of events, each of which is added to the
/// programs of all processes that take part in it.
fn random_scenario(random: &mut Random, left_out: LeftOut) -> Scenario {
    let n = 2 + random.below(4);
    let mut groups = vec![(1 << n) - 1];
    for _ in 0..random.below(3) {
        let group = random.below(1 << n) as u32;
        if group.count_ones() >= 2 {
            groups.push(group);
        }
    }
    let mut programs = vec![Vec::new(); n];
    let mut tested = Vec::new();
    for _ in 0..4 + random.below(16) {
        let (a, b, group) = (random.below(n), random.below(n), random.below(groups.len()));
        match random.below(9) {
            0..3 => enter(&mut programs, &groups, group),
            3 if a != b => {
                programs[b].push(Post(a));
                if random.below(2) == 0 {
                    enter(&mut programs, &groups, group);
                }
                programs[b].push(Cancel(a));
                if random.below(2) == 0 {
                    enter(&mut programs, &groups, random.below(groups.len()));
                }
                programs[a].push(Send(b));
                programs[b].push(ReceiveAgain(a));
            }
            4..8 if a != b => {
                let synchronous = random.below(2) == 0;
                programs[a].push(if synchronous { SendSync(b) } else { Send(b) });
                // Pushed late, so that the test may come after barriers that the receiver has not entered.
                tested.extend(synchronous.then_some((a, b)));
                programs[b].push(Receive(a));
            }
            _ => {
                if let Some((a, b)) = tested.pop() {
                    programs[a].push(Test(b));
                }
            }
        }
    }
    Scenario { groups, programs, left_out }
}

fn run_random(left_out: LeftOut, count: u64) -> Result<(), String> {
    interleaving::run_random(count, |random| random_scenario(random, left_out))
}

#[test]
fn no_random_interleaving_shows_a_difference() {
    run_random(LeftOut::Nothing, 40_000).unwrap();
}

#[test]
fn one_stamp_cannot_stand_for_barriers_of_two_groups() {
    assert!(
        run_random(LeftOut::OneGroup, 40_000).is_err(),
        "the rule is not needed, or this test checks nothing"
    );
}

#[test]
fn a_receive_that_is_matched_too_early_cannot_be_cancelled() {
    let error = run_random(LeftOut::MatchedWhenSeen, 40_000).unwrap_err();
    assert!(error.contains("no process can take a step"), "{error}");
    let programs: [&[Step]; 2] = [&[Post(1), Cancel(1), Barrier(0), ReceiveAgain(1)], &[Barrier(0), Send(0)]];
    explore_all(&[0b11], &programs, LeftOut::Nothing).unwrap();
    explore_all(&[0b11], &programs, LeftOut::MatchedWhenSeen).unwrap_err();
}

fn explore_all(groups: &[u32], programs: &[&[Step]], left_out: LeftOut) -> Result<usize, String> {
    let programs = programs.iter().map(|p| p.to_vec()).collect();
    Scenario { groups: groups.to_vec(), programs, left_out }.explore()
}

#[test]
fn a_receive_from_any_source_gets_no_message_from_after_an_incomplete_barrier() {
    // Process 0 posts its receive before it enters, or after. Process 2 enters late: first it sends a message
    // that 0 must get first.
    let posted: [&[Step]; 3] =
        [&[ReceiveAny, Barrier(0), ReceiveAny], &[Barrier(0), Send(0)], &[Send(0), Barrier(0)]];
    let entered: [&[Step]; 3] =
        [&[Barrier(0), ReceiveAny, ReceiveAny], &[Barrier(0), Send(0)], &[Send(0), Barrier(0)]];
    for programs in [posted, entered] {
        explore_all(&[0b111], &programs, LeftOut::Nothing).unwrap();
        explore_all(&[0b111], &programs, LeftOut::Stamps).unwrap_err();
    }
    explore_all(&[0b111], &entered, LeftOut::AllHaveEntered).unwrap_err();
}

#[test]
fn a_receive_from_one_source_completes_when_its_process_has_entered() {
    let programs: [&[Step]; 3] = [&[Barrier(0), Receive(1)], &[Barrier(0), Send(0)], &[Barrier(0)]];
    explore_all(&[0b111], &programs, LeftOut::Nothing).unwrap();
    // The receive is posted before the barrier. The program must not see that it is complete before its
    // process has entered; here it waits for it first, so it never enters. It would not with strict
    // barriers either.
    let posted_before: [&[Step]; 2] = [&[Receive(1), Barrier(0)], &[Barrier(0), Send(0)]];
    let stuck = explore_all(&[0b11], &posted_before, LeftOut::Nothing).unwrap_err();
    assert!(stuck.contains("no process can take a step"), "{stuck}");
    let error = explore_all(&[0b11], &posted_before, LeftOut::HasEntered).unwrap_err();
    assert!(error.contains("has not entered"), "{error}");
}

#[test]
fn the_answer_to_a_synchronous_send_carries_the_stamp_of_its_receive() {
    let programs: [&[Step]; 2] = [&[SendSync(1), Test(1), Barrier(0)], &[Barrier(0), Receive(0)]];
    explore_all(&[0b11], &programs, LeftOut::Nothing).unwrap();
    explore_all(&[0b11], &programs, LeftOut::StampedAnswers).unwrap_err();
    let third: [&[Step]; 3] = [&[SendSync(1), Barrier(0), Test(1)], &[Barrier(0), Receive(0)], &[Barrier(0)]];
    explore_all(&[0b111], &third, LeftOut::Nothing).unwrap();
    explore_all(&[0b111], &third, LeftOut::AllHaveEntered).unwrap_err();
}

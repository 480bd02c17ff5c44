//! Messages that overtake pending barriers, against what a program with ordinary barriers can know.
//!
//! As in `ordering.rs`, processes run programs of barriers and messages, interleaved at random or in
//! every possible way, and everything sent carries what its sender knows: how far anybody has come in
//! the barriers of each group. Nobody may hear that a barrier has been passed which he has not entered
//! himself; and whoever learns *when* something comes (a receive from any source, a test) may hear of
//! complete barriers only. Who waits for one message and nothing else may hear of a barrier that is
//! pending with himself. How messages go and when they are seen is the engine's own decision
//! ([`stamping`], [`may_see`]); each rule is also left out once, and then the check must find the error.

mod interleaving;

use evenkeel_engine::message::visibility::{BarrierProgress, Look, Stamping, Strength, may_see, stamping};
use evenkeel_random::Random;
use interleaving::Interleaved;

/// How far somebody has come, per group.
type Knowledge = Vec<u8>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Step {
    Barrier(usize),
    Send(usize),
    /// A synchronous send, of which a later `Test` may see that it has been received.
    SendSync(usize),
    Receive(usize),
    ReceiveAny,
    /// Whether the oldest synchronous send to that process has been received: it need not be.
    Test(usize),
}
use Step::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LeftOut {
    Nothing,
    /// Nothing is stamped, nothing waits.
    Stamps,
    /// With several groups pending, the stamp of the last one will do.
    OneGroup,
    /// Who waits for one message gets it whether or not he has entered.
    HasEntered,
    /// To have entered is enough for a receive from any source, and for a test.
    AllHaveEntered,
    /// What says that a synchronous send has been received carries no stamp.
    StampedAnswers,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Mail {
    news: Knowledge,
    /// Group and number of barriers.
    stamp: Option<(usize, u8)>,
    synchronous: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Process {
    at: usize,
    entered: Vec<u8>,
    heard: Knowledge,
    /// The group whose barrier was entered last.
    last: usize,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct System {
    processes: Vec<Process>,
    /// Per sender and receiver, oldest first; of answers, to whom they go.
    mail: Vec<Vec<Vec<Mail>>>,
    answers: Vec<Vec<Vec<Mail>>>,
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

    /// Whether all members have entered so many barriers of a group.
    fn is_complete(&self, s: &System, group: usize, count: u8) -> bool {
        (0..self.programs.len()).all(|p| !self.has(group, p) || s.processes[p].entered[group] >= count)
    }

    fn open(&self, s: &System, me: usize) -> Vec<usize> {
        (0..self.groups.len())
            .filter(|&g| !self.is_complete(s, g, s.processes[me].entered[g]))
            .filter(|&g| self.has(g, me))
            .collect()
    }

    fn hear(&self, s: &mut System, me: usize, news: &Knowledge, look: Look) -> Result<(), String> {
        for (group, &far) in news.iter().enumerate() {
            let entered = s.processes[me].entered[group];
            if self.has(group, me) && far > entered {
                return Err(format!(
                    "process {me} hears of barrier {far} of group {group} and has not entered it"
                ));
            }
            let pending_here = look == Look::Wait && self.has(group, me);
            if !self.is_complete(s, group, far) && !pending_here {
                return Err(format!(
                    "process {me} gets news of barrier {far} of group {group}, which is not complete"
                ));
            }
            s.processes[me].heard[group] = s.processes[me].heard[group].max(far);
        }
        Ok(())
    }

    fn sees(&self, s: &System, me: usize, look: Look, stamp: Option<(usize, u8)>) -> bool {
        let Some((group, count)) = stamp else { return true };
        let progress = if self.is_complete(s, group, count) {
            BarrierProgress::Complete
        } else if s.processes[me].entered[group] >= count {
            BarrierProgress::Entered
        } else {
            BarrierProgress::Ahead
        };
        match (self.left_out, look) {
            (LeftOut::HasEntered, Look::Wait) => true,
            // The weak ordering is the strong one without this rule.
            (LeftOut::AllHaveEntered, _) => may_see(Strength::Weak, look, progress),
            _ => may_see(Strength::Strong, look, progress),
        }
    }

    /// The mail of `me` to `to`, if it may go now.
    fn mail(&self, s: &System, me: usize, synchronous: bool) -> Option<Mail> {
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
        Some(Mail { news: s.processes[me].heard.clone(), stamp, synchronous })
    }

    fn take(&self, s: &mut System, from: usize, me: usize, look: Look) -> Result<bool, String> {
        // The answer says what this process was when it posted the receive; if it could not say so, it would
        // wait.
        let Some(mut answer) = self.mail(s, me, false) else { return Ok(false) };
        if !s.mail[from][me].first().is_some_and(|m| self.sees(s, me, look, m.stamp)) {
            return Ok(false);
        }
        let mail = s.mail[from][me].remove(0);
        if mail.synchronous {
            if self.left_out == LeftOut::StampedAnswers {
                answer.stamp = None;
            }
            s.answers[me][from].push(answer);
        }
        self.hear(s, me, &mail.news, look)?;
        Ok(true)
    }
}

impl Interleaved for Scenario {
    type System = System;

    fn start(&self) -> System {
        let (p, g) = (self.programs.len(), self.groups.len());
        let process = Process { at: 0, entered: vec![0; g], heard: vec![0; g], last: 0 };
        System {
            processes: vec![process; p],
            mail: vec![vec![Vec::new(); p]; p],
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
                // Only nested groups are left pending together; see `deferral::rule::must_complete`.
                let within = |a: u32, b: u32| a & !b == 0;
                let (groups, open) = (&self.groups, self.open(s, me));
                if !open.iter().all(|&g| within(groups[g], groups[group]) || within(groups[group], groups[g]))
                {
                    return Ok(false);
                }
                let process = &mut s.processes[me];
                process.entered[group] += 1;
                process.last = group;
                process.heard[group] = process.heard[group].max(process.entered[group]);
            }
            Send(to) | SendSync(to) => {
                let Some(mail) = self.mail(s, me, matches!(step, SendSync(_))) else { return Ok(false) };
                s.mail[me][to].push(mail);
            }
            Receive(from) => {
                if !self.take(s, from, me, Look::Wait)? {
                    return Ok(false);
                }
            }
            ReceiveAny => {
                // The one with the most news: the worst choice that could be made.
                let news = |p: &usize| s.mail[*p][me][0].news.iter().map(|&k| k as u32).sum::<u32>();
                let there = |p: &usize| {
                    s.mail[*p][me].first().is_some_and(|m| self.sees(s, me, Look::Choose, m.stamp))
                };
                let Some(from) = (0..self.programs.len()).filter(there).max_by_key(news) else {
                    return Ok(false);
                };
                if !self.take(s, from, me, Look::Choose)? {
                    return Ok(false);
                }
            }
            Test(to) => {
                if s.answers[to][me].first().is_some_and(|a| self.sees(s, me, Look::Choose, a.stamp)) {
                    let answer = s.answers[to][me].remove(0);
                    self.hear(s, me, &answer.news, Look::Choose)?;
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

/// Programs that come to an end with ordinary barriers: events one after another, each added to the
/// programs of those who take part in it.
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
        match random.below(8) {
            0..3 => {
                (0..n).filter(|p| groups[group] >> p & 1 != 0).for_each(|p| programs[p].push(Barrier(group)))
            }
            3..7 if a != b => {
                let synchronous = random.below(2) == 0;
                programs[a].push(if synchronous { SendSync(b) } else { Send(b) });
                // Late, so that it may come to stand behind barriers that its sender has not entered.
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

fn schedules(left_out: LeftOut, count: u64) -> Result<(), String> {
    for seed in 1..=count {
        let mut random = Random::new(seed);
        let scenario = random_scenario(&mut random, left_out);
        scenario.run(&mut random).map_err(|e| format!("seed {seed}: {e}"))?;
    }
    Ok(())
}

#[test]
fn no_random_schedule_shows_a_difference() {
    schedules(LeftOut::Nothing, 40_000).unwrap();
}

#[test]
fn one_stamp_cannot_speak_for_two_groups() {
    assert!(schedules(LeftOut::OneGroup, 40_000).is_err(), "the rule is not needed, or this checks nothing");
}

fn everywhere(groups: &[u32], programs: &[&[Step]], left_out: LeftOut) -> Result<usize, String> {
    let programs = programs.iter().map(|p| p.to_vec()).collect();
    Scenario { groups: groups.to_vec(), programs, left_out }.explore()
}

#[test]
fn a_receive_from_any_source_takes_nothing_from_after_an_incomplete_barrier() {
    // 0 has posted before it enters, or has entered; 2 enters late, after a message that 0 is to get first.
    let posted: [&[Step]; 3] =
        [&[ReceiveAny, Barrier(0), ReceiveAny], &[Barrier(0), Send(0)], &[Send(0), Barrier(0)]];
    let entered: [&[Step]; 3] =
        [&[Barrier(0), ReceiveAny, ReceiveAny], &[Barrier(0), Send(0)], &[Send(0), Barrier(0)]];
    for programs in [posted, entered] {
        everywhere(&[0b111], &programs, LeftOut::Nothing).unwrap();
        everywhere(&[0b111], &programs, LeftOut::Stamps).unwrap_err();
    }
    everywhere(&[0b111], &entered, LeftOut::AllHaveEntered).unwrap_err();
}

#[test]
fn a_receive_from_one_source_is_complete_when_its_process_has_entered() {
    let programs: [&[Step]; 3] = [&[Barrier(0), Receive(1)], &[Barrier(0), Send(0)], &[Barrier(0)]];
    everywhere(&[0b111], &programs, LeftOut::Nothing).unwrap();
    // A nonblocking receive that was posted before the barrier may not be seen to be complete before its
    // process has entered.
    let early: [&[Step]; 2] = [&[Receive(1), Barrier(0)], &[Barrier(0), Send(0)]];
    let stuck = everywhere(&[0b11], &early, LeftOut::Nothing).unwrap_err();
    assert!(stuck.contains("nobody can go on"), "with ordinary barriers too: {stuck}");
    assert!(everywhere(&[0b11], &early, LeftOut::HasEntered).unwrap_err().contains("has not entered"));
}

#[test]
fn that_a_synchronous_send_was_received_says_how_far_the_receiver_was() {
    let programs: [&[Step]; 2] = [&[SendSync(1), Test(1), Barrier(0)], &[Barrier(0), Receive(0)]];
    everywhere(&[0b11], &programs, LeftOut::Nothing).unwrap();
    everywhere(&[0b11], &programs, LeftOut::StampedAnswers).unwrap_err();
    let third: [&[Step]; 3] = [&[SendSync(1), Barrier(0), Test(1)], &[Barrier(0), Receive(0)], &[Barrier(0)]];
    everywhere(&[0b111], &third, LeftOut::Nothing).unwrap();
    everywhere(&[0b111], &third, LeftOut::AllHaveEntered).unwrap_err();
}

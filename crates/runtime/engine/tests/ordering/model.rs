//! Processes that enter barriers, send messages and take part in collectives, by the rule of the engine.

use crate::interleaving::Interleaved;
use evenkeel_engine::deferral::rule::{NextAction, PendingBarriers, must_complete};

/// A set of processes, one bit each.
pub type Group = u32;
/// For each group, the number of the latest barrier that some process is known to have entered.
type Knowledge = Vec<u8>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Barrier(usize),
    Send(usize),
    Receive(usize),
    ReceiveAny,
    /// Looks whether there is a message, and leaves it.
    Look,
    /// A broadcast in a group, from a root.
    Broadcast(usize, usize),
    /// A reduction in a group, to a root.
    Reduce(usize, usize),
    /// A system call.
    Observe,
}
use Step::*;

/// The rule that a check leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    Nothing,
    /// A send waits until pending barriers are complete.
    SendsWait,
    /// A barrier waits for pending barriers of groups that only overlap with its own.
    OverlappingGroupsWait,
    /// A process that only contributes to a collective waits for pending barriers of other groups.
    ContributorsWait,
    /// A process that receives the result of a collective waits until pending barriers are complete.
    ReceiversWait,
    /// A barrier is complete only when all members have entered it.
    AllMustEnter,
}

impl LeftOut {
    pub const RULES: [LeftOut; 5] = [
        LeftOut::SendsWait,
        LeftOut::OverlappingGroupsWait,
        LeftOut::ContributorsWait,
        LeftOut::ReceiversWait,
        LeftOut::AllMustEnter,
    ];
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Process {
    at: usize,
    /// How many barriers it has entered, per group, and how many of these it knows to be complete.
    entered: Vec<u8>,
    known: Vec<u8>,
    knowledge: Knowledge,
    /// How many collectives besides barriers it has taken part in, per group.
    collectives: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub struct System {
    processes: Vec<Process>,
    /// Messages that have not been received, per sender and receiver, oldest first.
    messages: Vec<Vec<Vec<Knowledge>>>,
    /// What each member knew when it entered barrier number n of a group.
    entries: Vec<Vec<Vec<Knowledge>>>,
    /// What each contributor to collective number n of a group knew when it contributed.
    contributions: Vec<Vec<Vec<Knowledge>>>,
}

pub struct Scenario {
    pub groups: Vec<Group>,
    pub programs: Vec<Vec<Step>>,
    /// How many barriers of a group may be pending.
    pub window: u8,
    pub left_out: LeftOut,
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
            Look if self.sender_to(s, me, None).is_some() => return true,
            Barrier(group) => (NextAction::EnterBarrier, group),
            Broadcast(group, _) | Reduce(group, _) => {
                (if contributes(step, me) { NextAction::Contribute } else { NextAction::Observe }, group)
            }
            Send(_) | Look | Observe => (NextAction::Observe, usize::MAX),
        };
        let left_out = match step {
            Send(_) => self.left_out == LeftOut::SendsWait,
            Barrier(_) => self.left_out == LeftOut::OverlappingGroupsWait,
            Broadcast(..) | Reduce(..) if contributes(step, me) => self.left_out == LeftOut::ContributorsWait,
            Broadcast(..) | Reduce(..) => self.left_out == LeftOut::ReceiversWait,
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

    /// The sender of a message that `me` can receive, from any process if `from` is `None`.
    fn sender_to(&self, s: &System, me: usize, from: Option<usize>) -> Option<usize> {
        let waiting = (0..self.programs.len())
            .filter(|&p| from.is_none_or(|from| from == p) && !s.messages[p][me].is_empty());
        // The message that carries most knowledge: the worst choice that a transport could make.
        waiting.max_by_key(|&p| s.messages[p][me][0].iter().map(|&k| k as u32).sum::<u32>())
    }

    /// Receives a message, from any process if `from` is `None`. Returns false if there is none.
    fn receive(&self, s: &mut System, me: usize, from: Option<usize>) -> Result<bool, String> {
        let Some(from) = self.sender_to(s, me, from) else { return Ok(false) };
        let knowledge = s.messages[from][me].remove(0);
        self.deliver(s, me, &knowledge)?;
        Ok(true)
    }

    /// Looks at the message that could be received, if there is one.
    fn look(&self, s: &mut System, me: usize) -> Result<bool, String> {
        if let Some(from) = self.sender_to(s, me, None) {
            let knowledge = s.messages[from][me][0].clone();
            self.deliver(s, me, &knowledge)?;
        }
        Ok(true)
    }

    /// Takes part in a broadcast or a reduction. Returns false if what it receives is not there yet.
    fn take_part(&self, s: &mut System, me: usize, step: Step, group: usize) -> Result<bool, String> {
        let number = s.processes[me].collectives[group] as usize;
        if s.contributions[group].len() <= number {
            s.contributions[group].resize(number + 1, Vec::new());
        }
        if contributes(step, me) {
            let knowledge = s.processes[me].knowledge.clone();
            s.contributions[group][number].push(knowledge);
            s.contributions[group][number].sort(); // their order does not matter
        } else {
            let others = self.groups[group].count_ones() as usize - 1;
            let expected = if matches!(step, Reduce(..)) { others } else { 1 };
            let contributions = s.contributions[group][number].clone();
            if contributions.len() < expected {
                return Ok(false);
            }
            for knowledge in contributions {
                self.deliver(s, me, &knowledge)?;
            }
        }
        s.processes[me].collectives[group] += 1;
        Ok(true)
    }
}

/// Whether process `me` only contributes to this collective.
fn contributes(step: Step, me: usize) -> bool {
    match step {
        Broadcast(_, root) => root == me,
        Reduce(_, root) => root != me,
        _ => false,
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
            collectives: vec![0; g],
        };
        System {
            processes: vec![process; p],
            messages: vec![vec![Vec::new(); p]; p],
            entries: vec![Vec::new(); g],
            contributions: vec![Vec::new(); g],
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
            Look => self.look(s, me)?,
            Broadcast(group, _) | Reduce(group, _) => self.take_part(s, me, step, group)?,
            Observe => true,
        };
        s.processes[me].at += usize::from(is_done);
        Ok(is_done)
    }

    fn is_over(&self, s: &System) -> bool {
        s.processes.iter().zip(&self.programs).all(|(p, program)| p.at == program.len())
    }
}

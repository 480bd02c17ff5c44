//! Carries out the calls of a run again, in an order that the recorded matching allows.
//!
//! Each rank goes on until it is in a call that cannot return yet. What a call waits for depends on the
//! question: what has not returned in the run ([`Question::Recorded`]), what would not return if no send were
//! buffered ([`Question::Unbuffered`]), or what must have come before for its effects to be there
//! ([`Question::Causes`]). Ranks only ever go forward, so the order in which they are taken does not matter,
//! and each call is looked at a few times.

use crate::history::{Awaited, CallIndex};
use crate::run::Run;

/// What calls wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Calls that have returned do not wait.
    Recorded,
    /// Sends that may wait for their receive do.
    Unbuffered,
    /// Sends do not wait, receives wait for their messages.
    Causes,
}

/// Why a call cannot return: a rank must come to one of its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Which rank.
    pub rank: u32,
    /// Which of its calls; `None`: one that it never makes.
    pub call: Option<CallIndex>,
    /// For what.
    pub awaited: Awaited,
}

/// Where the ranks are when none can go on.
pub struct Standstill {
    /// By rank: the number of the step that it is in; that of all steps if it has ended.
    pub at: Vec<usize>,
}

/// The ranks while they are carried out.
pub struct Replay<'a> {
    run: &'a Run<'a>,
    question: Question,
    /// By rank: the next step.
    at: Vec<usize>,
    /// Members of communicators: the calls of the n-th collective of each.
    collectives: Vec<Vec<Vec<(u32, CallIndex)>>>,
    /// Ranks that wait for a rank: to be looked at when it has gone on.
    waiting: Vec<Vec<u32>>,
}

impl<'a> Replay<'a> {
    /// From the beginning.
    pub fn new(run: &'a Run<'a>, question: Question) -> Replay<'a> {
        let mut collectives = vec![Vec::new(); run.communicators.count()];
        for history in &run.ranks {
            for one in &history.collectives {
                let of: &mut Vec<Vec<_>> =
                    &mut collectives[run.communicators.number(history.rank, one.comm) as usize];
                if of.len() <= one.nth as usize {
                    of.resize(one.nth as usize + 1, Vec::new());
                }
                of[one.nth as usize].push((history.rank, one.call));
            }
        }
        let waiting = vec![Vec::new(); run.ranks.len()];
        Replay { run, question, at: vec![0; run.ranks.len()], collectives, waiting }
    }

    /// Whether a rank has come to this call.
    pub fn has_entered(&self, rank: u32, call: CallIndex) -> bool {
        let steps = &self.run.ranks[rank as usize].steps;
        steps.get(self.at[rank as usize]).is_none_or(|step| step.call >= call)
    }

    /// Carries out everything. `passed` is called for each step that is over, in an order in which causes
    /// come before effects.
    pub fn run(mut self, mut passed: impl FnMut(&Replay, u32, usize)) -> (Standstill, Replay<'a>) {
        let mut ready: Vec<u32> = (0..self.run.ranks.len() as u32).rev().collect();
        while let Some(rank) = ready.pop() {
            let before = self.at[rank as usize];
            while self.at[rank as usize] < self.run.ranks[rank as usize].steps.len() {
                let step = self.at[rank as usize];
                if let Some(missing) = self.first_missing(rank, step) {
                    self.waiting[missing.rank as usize].push(rank);
                    break;
                }
                passed(&self, rank, step);
                self.at[rank as usize] += 1;
            }
            if self.at[rank as usize] != before {
                ready.append(&mut self.waiting[rank as usize]);
            }
        }
        (Standstill { at: self.at.clone() }, self)
    }

    fn first_missing(&self, rank: u32, step: usize) -> Option<Missing> {
        let of = &self.run.ranks[rank as usize].steps[step];
        if of.may_go_on || self.has_returned(rank, of.call) {
            return None;
        }
        of.awaited.iter().find_map(|&awaited| self.missing(rank, awaited))
    }

    /// All that a step waits for.
    pub fn all_missing(&self, rank: u32, step: usize) -> Vec<Missing> {
        let of = &self.run.ranks[rank as usize].steps[step];
        of.awaited.iter().filter_map(|&awaited| self.missing(rank, awaited)).collect()
    }

    fn has_returned(&self, rank: u32, call: CallIndex) -> bool {
        let is_over = self.run.ranks[rank as usize].calls[call as usize].number.is_some();
        self.question == Question::Recorded && is_over
    }

    fn missing(&self, rank: u32, awaited: Awaited) -> Option<Missing> {
        let run = self.run;
        match awaited {
            Awaited::Send(send) => {
                if self.question == Question::Causes {
                    return None;
                }
                let dest = run.ranks[rank as usize].sends[send as usize].dest;
                match run.receive_of(rank, send) {
                    Some((receiver, receive)) => {
                        let call = run.ranks[receiver as usize].receives[receive as usize].call;
                        let is_missing = !self.has_entered(receiver, call);
                        is_missing.then_some(Missing { rank: receiver, call: Some(call), awaited })
                    }
                    // In a run that has ended well this is told as a message that was never received.
                    None if self.question == Question::Unbuffered => None,
                    None => {
                        let is_there = (dest as usize) < run.ranks.len();
                        is_there.then_some(Missing { rank: dest, call: None, awaited })
                    }
                }
            }
            Awaited::Receive(receive) => match run.send_of(rank, receive) {
                Some((sender, send)) => {
                    let call = run.ranks[sender as usize].sends[send as usize].call;
                    let is_missing = !self.has_entered(sender, call);
                    is_missing.then_some(Missing { rank: sender, call: Some(call), awaited })
                }
                None => {
                    let of = &run.ranks[rank as usize].receives[receive as usize];
                    let source = of.source.filter(|&source| (source as usize) < run.ranks.len());
                    let is_missing = of.completed.is_none() && self.question == Question::Recorded;
                    source.filter(|_| is_missing).map(|rank| Missing { rank, call: None, awaited })
                }
            },
            Awaited::Probe(probe) => match run.ranks[rank as usize].awaited_receive(awaited) {
                Some(receive) => self.missing(rank, Awaited::Receive(receive)),
                None => self.missing_message(rank, probe, awaited),
            },
            Awaited::Collective(number) => self.missing_member(rank, number, awaited),
        }
    }

    /// Of a probe that has taken nothing: it has not returned, or the message is received by another call.
    fn missing_message(&self, rank: u32, probe: u32, awaited: Awaited) -> Option<Missing> {
        let run = self.run;
        let of = &run.ranks[rank as usize].probes[probe as usize];
        let comm = run.communicators.number(rank, of.comm);
        let source = of.source.filter(|&source| (source as usize) < run.ranks.len())?;
        if self.question != Question::Recorded || run.matching.vague.contains(&(comm, rank)) {
            return None;
        }
        let sends = &run.ranks[source as usize].sends;
        let fits = |number: &u32| {
            let send = &sends[*number as usize];
            let is_to_here = send.dest == rank && run.communicators.number(source, send.comm) == comm;
            is_to_here
                && of.tag.is_none_or(|tag| tag == send.tag)
                && run.receive_of(source, *number).is_none()
        };
        let call = (0..sends.len() as u32).find(fits).map(|number| sends[number as usize].call);
        let is_missing = call.is_none_or(|call| !self.has_entered(source, call));
        is_missing.then_some(Missing { rank: source, call, awaited })
    }

    fn missing_member(&self, rank: u32, number: u32, awaited: Awaited) -> Option<Missing> {
        let run = self.run;
        let one = &run.ranks[rank as usize].collectives[number as usize];
        let comm = run.communicators.number(rank, one.comm);
        let calls = &self.collectives[comm as usize][one.nth as usize];
        let late = calls.iter().find(|(member, call)| *member != rank && !self.has_entered(*member, *call));
        if let Some(&(rank, call)) = late {
            return Some(Missing { rank, call: Some(call), awaited });
        }
        if self.question != Question::Recorded {
            return None; // that a member does not call it is told elsewhere
        }
        let absent = run
            .communicators
            .members(comm)
            .iter()
            .find(|(member, _)| calls.iter().all(|(of, _)| of != member));
        absent.map(|&(rank, _)| Missing { rank, call: None, awaited })
    }
}

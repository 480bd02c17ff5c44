//! An application core at work: which hosts send, to which hosts, and when.

use super::application_core::{ApplicationCore, CoreParameters};
use super::outcome::Outcome;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A message to one or several hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its number, by which the program identifies it.
    pub number: u32,
    /// The host that sends it.
    pub from: u32,
    /// The hosts that receive it.
    pub to: Vec<u32>,
    /// Its length.
    pub bytes: u32,
}

/// An application core at work on all hosts.
#[derive(Clone, Debug)]
pub struct Program {
    parameters: CoreParameters,
    /// By message: when it was sent, and in which iteration.
    sent: Vec<(u64, u32)>,
    /// When hosts continue: the tick and the host.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    /// By host: its iteration, and by iteration the number of messages that have arrived.
    iteration: Vec<u32>,
    arrived: Vec<Vec<u32>>,
    /// Number of receipts that are missing.
    expected: u64,
    outcome: Outcome,
}

impl Program {
    /// A program before its start.
    pub fn new(parameters: CoreParameters) -> Program {
        let hosts = u64::from(parameters.hosts);
        let mut program = Program {
            parameters,
            sent: Vec::new(),
            due: BinaryHeap::from([Reverse((0, 0))]),
            iteration: vec![0; parameters.hosts as usize],
            arrived: vec![vec![0; parameters.iterations as usize]; parameters.hosts as usize],
            expected: 0,
            outcome: Outcome::default(),
        };
        program.expected = match parameters.core {
            ApplicationCore::Token => hosts,
            ApplicationCore::FanIn | ApplicationCore::FanOut => hosts - 1,
            ApplicationCore::Mesh | ApplicationCore::Torus => {
                program.due = (0..parameters.hosts).map(|h| Reverse((0, h))).collect();
                program.outcome.iterations = vec![Vec::new(); parameters.iterations as usize];
                u64::from(parameters.iterations)
                    * (0..parameters.hosts).map(|h| program.neighbours(h).len() as u64).sum::<u64>()
            }
        };
        program
    }

    /// The hosts with which a host exchanges messages: first those beside it, then those above and below.
    pub fn neighbours(&self, host: u32) -> Vec<u32> {
        let side = self.parameters.hosts.isqrt();
        let (x, y) = (host % side, host / side);
        let wraps = self.parameters.core == ApplicationCore::Torus;
        let step = |at: u32, back: bool| match (back, at) {
            (true, 0) => wraps.then_some(side - 1),
            (true, at) => Some(at - 1),
            (false, at) if at + 1 == side => wraps.then_some(0),
            (false, at) => Some(at + 1),
        };
        let mut all = Vec::new();
        all.extend([true, false].into_iter().filter_map(|back| step(x, back)).map(|x| y * side + x));
        all.extend([true, false].into_iter().filter_map(|back| step(y, back)).map(|y| y * side + x));
        all.retain(|n| *n != host);
        let mut distinct = Vec::new();
        for n in all {
            if !distinct.contains(&n) {
                distinct.push(n);
            }
        }
        distinct
    }

    /// The tick in which [`Program::generate`] is to be called next; `u64::MAX` if nothing happens before
    /// something arrives.
    pub fn next_time(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |d| d.0.0)
    }

    /// Adds the messages that hosts send in the tick that [`Program::next_time`] names.
    pub fn generate(&mut self, now: u64, messages: &mut Vec<Message>) {
        while let Some(Reverse((_, host))) = self.due.peek().copied().filter(|d| d.0.0 <= now) {
            self.due.pop();
            let others = || (1..self.parameters.hosts).collect::<Vec<u32>>();
            match self.parameters.core {
                ApplicationCore::Token => self.send(now, 0, vec![1 % self.parameters.hosts], messages),
                ApplicationCore::FanIn => {
                    others().into_iter().for_each(|from| self.send(now, from, vec![0], messages))
                }
                ApplicationCore::FanOut => self.send(now, 0, others(), messages),
                ApplicationCore::Mesh | ApplicationCore::Torus => {
                    self.neighbours(host).into_iter().for_each(|to| self.send(now, host, vec![to], messages));
                    self.advance(now, host);
                }
            }
        }
    }

    /// Sends a message.
    fn send(&mut self, now: u64, from: u32, to: Vec<u32>, messages: &mut Vec<Message>) {
        let number = self.sent.len() as u32;
        self.sent.push((now, self.iteration[from as usize]));
        messages.push(Message { number, from, to, bytes: self.parameters.bytes });
    }

    /// When a message was sent.
    fn sent_at(&self, message: u32) -> u64 {
        self.sent[message as usize].0
    }

    /// A frame of a message has arrived at a host.
    pub fn frame_arrived(&mut self, now: u64, message: u32) {
        self.outcome.pieces.push(now - self.sent_at(message));
    }

    /// All frames of a message have arrived at a host. Adds the messages that the host sends because of that.
    pub fn message_arrived(&mut self, now: u64, message: u32, by: u32, messages: &mut Vec<Message>) {
        let (sent, iteration) = self.sent[message as usize];
        self.outcome.messages.push(now - sent);
        self.outcome.end = self.outcome.end.max(now);
        self.expected -= 1;
        match self.parameters.core {
            ApplicationCore::Token if self.expected > 0 => {
                self.send(now, by, vec![(by + 1) % self.parameters.hosts], messages)
            }
            ApplicationCore::Mesh | ApplicationCore::Torus => {
                self.arrived[by as usize][iteration as usize] += 1;
                // A neighbour may be in a later iteration.
                if iteration == self.iteration[by as usize] {
                    self.advance(now, by);
                }
            }
            _ => {}
        }
    }

    /// If a host has all messages of its iteration, it computes, unless that was the last iteration.
    fn advance(&mut self, now: u64, host: u32) {
        let index = host as usize;
        let iteration = self.iteration[index];
        if self.arrived[index][iteration as usize] < self.neighbours(host).len() as u32 {
            return;
        }
        self.outcome.iterations[iteration as usize].push((now, host));
        self.outcome.end = self.outcome.end.max(now);
        if iteration + 1 < self.parameters.iterations {
            self.iteration[index] += 1;
            self.due.push(Reverse((now + self.parameters.compute_ticks, host)));
        }
    }

    /// Whether all messages have arrived.
    pub fn is_finished(&self) -> bool {
        self.expected == 0 && self.due.is_empty()
    }

    /// What happened.
    pub fn outcome(self) -> Outcome {
        self.outcome
    }
}

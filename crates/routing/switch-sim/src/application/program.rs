//! The cores: who sends to whom when.

use super::outcome::Outcome;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::str::FromStr;

/// An application core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Core {
    /// A message goes round a ring of all hosts once.
    Token,
    /// All others send to host 0 at once.
    FanIn,
    /// Host 0 sends to all others at once.
    FanOut,
    /// Hosts form a square; in each iteration each sends to its two to four neighbours, waits for theirs of
    /// the same iteration, and computes. There is no barrier.
    Mesh,
    /// The same with the square's edges joined.
    Torus,
}

impl Core {
    pub const ALL: [Core; 5] = [Core::Token, Core::FanIn, Core::FanOut, Core::Mesh, Core::Torus];
}

impl fmt::Display for Core {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Core::Token => "token",
            Core::FanIn => "fan-in",
            Core::FanOut => "fan-out",
            Core::Mesh => "mesh",
            Core::Torus => "torus",
        })
    }
}

impl FromStr for Core {
    type Err = String;
    fn from_str(text: &str) -> Result<Core, String> {
        Core::ALL
            .into_iter()
            .find(|c| c.to_string() == text)
            .ok_or_else(|| format!("`{text}` is no core: there are token, fan-in, fan-out, mesh and torus"))
    }
}

/// How much a core has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Load {
    pub core: Core,
    /// A square number for [`Core::Mesh`] and [`Core::Torus`].
    pub hosts: u32,
    /// Of each message.
    pub bytes: u32,
    /// Of [`Core::Mesh`] and [`Core::Torus`].
    pub iterations: u32,
    /// What computing takes in each iteration, in ticks of the fabric.
    pub compute_ticks: u64,
}

/// A message, to several hosts if the core says the same to all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Send {
    /// By which the program knows it again.
    pub message: u32,
    pub from: u32,
    pub to: Vec<u32>,
    pub bytes: u32,
}

/// A core at work.
#[derive(Clone, Debug)]
pub struct Program {
    load: Load,
    /// By message: when it was sent, and in which iteration.
    sent: Vec<(u64, u32)>,
    /// When a host goes on by itself.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    /// By host: the iteration it is in, and by iteration how many messages have come.
    iteration: Vec<u32>,
    arrived: Vec<Vec<u32>>,
    /// Receipts that are still to come.
    expected: u64,
    outcome: Outcome,
}

impl Program {
    pub fn new(load: Load) -> Program {
        let hosts = u64::from(load.hosts);
        let mut program = Program {
            load,
            sent: Vec::new(),
            due: BinaryHeap::from([Reverse((0, 0))]),
            iteration: vec![0; load.hosts as usize],
            arrived: vec![vec![0; load.iterations as usize]; load.hosts as usize],
            expected: 0,
            outcome: Outcome::default(),
        };
        program.expected = match load.core {
            Core::Token => hosts,
            Core::FanIn | Core::FanOut => hosts - 1,
            Core::Mesh | Core::Torus => {
                program.due = (0..load.hosts).map(|h| Reverse((0, h))).collect();
                program.outcome.iterations = vec![Vec::new(); load.iterations as usize];
                u64::from(load.iterations)
                    * (0..load.hosts).map(|h| program.neighbours(h).len() as u64).sum::<u64>()
            }
        };
        program
    }

    /// Whom a host exchanges messages with: those beside it first, then those above and below.
    pub fn neighbours(&self, host: u32) -> Vec<u32> {
        let side = self.load.hosts.isqrt();
        let (x, y) = (host % side, host / side);
        let wraps = self.load.core == Core::Torus;
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
        let mut once = Vec::new();
        all.into_iter().for_each(|n| {
            if !once.contains(&n) {
                once.push(n)
            }
        });
        once
    }

    /// When it wants to act next; `u64::MAX`: not before something arrives.
    pub fn next(&self) -> u64 {
        self.due.peek().map_or(u64::MAX, |d| d.0.0)
    }

    /// It is the time that [`Program::next`] named.
    pub fn act(&mut self, now: u64, sends: &mut Vec<Send>) {
        while let Some(Reverse((_, host))) = self.due.peek().copied().filter(|d| d.0.0 <= now) {
            self.due.pop();
            let others = || (1..self.load.hosts).collect::<Vec<u32>>();
            match self.load.core {
                Core::Token => self.send(now, 0, vec![1 % self.load.hosts], sends),
                Core::FanIn => others().into_iter().for_each(|from| self.send(now, from, vec![0], sends)),
                Core::FanOut => self.send(now, 0, others(), sends),
                Core::Mesh | Core::Torus => {
                    self.neighbours(host).into_iter().for_each(|to| self.send(now, host, vec![to], sends));
                    self.advance(now, host);
                }
            }
        }
    }

    fn send(&mut self, now: u64, from: u32, to: Vec<u32>, sends: &mut Vec<Send>) {
        let message = self.sent.len() as u32;
        self.sent.push((now, self.iteration[from as usize]));
        sends.push(Send { message, from, to, bytes: self.load.bytes });
    }

    /// When a message was sent.
    pub fn sent_at(&self, message: u32) -> u64 {
        self.sent[message as usize].0
    }

    /// A packet or frame of a message has arrived, not the whole of it yet perhaps.
    pub fn piece(&mut self, now: u64, message: u32) {
        self.outcome.pieces.push(now - self.sent_at(message));
    }

    /// The whole message is there.
    pub fn received(&mut self, now: u64, message: u32, by: u32, sends: &mut Vec<Send>) {
        let (sent, iteration) = self.sent[message as usize];
        self.outcome.messages.push(now - sent);
        self.outcome.end = self.outcome.end.max(now);
        self.expected -= 1;
        match self.load.core {
            Core::Token if self.expected > 0 => self.send(now, by, vec![(by + 1) % self.load.hosts], sends),
            Core::Mesh | Core::Torus => {
                self.arrived[by as usize][iteration as usize] += 1;
                // A neighbour may be ahead.
                if iteration == self.iteration[by as usize] {
                    self.advance(now, by);
                }
            }
            _ => {}
        }
    }

    /// A host goes on if it has all messages of its iteration: it computes, unless this was the last.
    fn advance(&mut self, now: u64, host: u32) {
        let place = host as usize;
        let iteration = self.iteration[place];
        if self.arrived[place][iteration as usize] < self.neighbours(host).len() as u32 {
            return;
        }
        self.outcome.iterations[iteration as usize].push((now, host));
        self.outcome.end = self.outcome.end.max(now);
        if iteration + 1 < self.load.iterations {
            self.iteration[place] += 1;
            self.due.push(Reverse((now + self.load.compute_ticks, host)));
        }
    }

    /// Whether everything that has to arrive has arrived.
    pub fn finished(&self) -> bool {
        self.expected == 0 && self.due.is_empty()
    }

    pub fn outcome(self) -> Outcome {
        self.outcome
    }
}

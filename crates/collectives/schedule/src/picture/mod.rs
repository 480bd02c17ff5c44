//! Pictures of schedules: who tells whom in which round, as text and as SVG.
//!
//! A round of a picture is a place in the longest chain of messages: a message belongs to round r if r
//! - 1 messages, one after the other, had to arrive before it could be sent. That is computed from a
//! run, not taken from how the algorithm counts.

pub mod gallery;
pub mod svg;
pub mod text;

use crate::check::execution::{Kind, Sent};
use crate::check::{CheckError, Execution, Interleaving, drive};
use crate::schedule::Schedule;
use crate::step::{Rank, Step};

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Purpose {
    /// Raises a flag.
    Flag,
    /// Brings elements.
    Data,
    /// Brings the elements of the message before once more (multi-send).
    Again,
    /// Writes into memory that all see.
    Shared,
    /// Adds to a counter.
    Count,
    /// Says to who has added what the counter is.
    Answer,
    /// Says that something has been read; awaited only when the memory is used again.
    Acknowledgement,
}

impl Purpose {
    pub const ALL: [Purpose; 7] = [
        Purpose::Flag,
        Purpose::Data,
        Purpose::Again,
        Purpose::Shared,
        Purpose::Count,
        Purpose::Answer,
        Purpose::Acknowledgement,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Purpose::Flag => "flag",
            Purpose::Data => "data",
            Purpose::Again => "data, sent again by the network interface",
            Purpose::Shared => "data, written once for all",
            Purpose::Count => "adds to a counter",
            Purpose::Answer => "its answer",
            Purpose::Acknowledgement => "acknowledgement",
        }
    }
}

/// A message, or several that are one step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// From 1.
    pub round: u32,
    pub from: Rank,
    pub to: Vec<Rank>,
    pub purpose: Purpose,
    pub elements: u32,
    /// How many messages its sender has sent in this round before.
    pub before: u32,
}

#[derive(Clone, Debug)]
pub struct Picture<'a> {
    pub schedule: &'a Schedule,
    pub rounds: u32,
    /// By round, then sender, then order.
    pub arrows: Vec<Arrow>,
}

impl<'a> Picture<'a> {
    /// Runs the schedule, which checks it, and draws its last epoch: a steady one.
    pub fn of(schedule: &'a Schedule) -> Result<Picture<'a>, CheckError> {
        let epochs = 2 * u64::from(schedule.resources.banks);
        let sent = drive(Execution::new(schedule, epochs), Interleaving::Prompt)?.sent;
        let awaited = Awaited::of(schedule);
        let mut arrows: Vec<Arrow> = Vec::new();
        let mut steps: Vec<(Rank, usize)> = Vec::new();
        for message in sent.iter().filter(|m| m.to != m.from) {
            let purpose = awaited.purpose(message);
            let step = (message.from, message.step);
            match arrows.last_mut().filter(|a| {
                steps.last() == Some(&step) && a.purpose == purpose && a.round == message.depth + 1
            }) {
                Some(arrow) => arrow.to.push(message.to),
                None => {
                    steps.push(step);
                    let (round, from, elements) = (message.depth + 1, message.from, message.elements);
                    arrows.push(Arrow { round, from, to: vec![message.to], purpose, elements, before: 0 });
                }
            }
        }
        // A run may go through the ranks in any order; each rank's own order stays.
        arrows.sort_by_key(|a| (a.round, a.from));
        for i in 1..arrows.len() {
            if (arrows[i].round, arrows[i].from) == (arrows[i - 1].round, arrows[i - 1].from) {
                arrows[i].before = arrows[i - 1].before + 1;
            }
        }
        Ok(Picture { schedule, rounds: arrows.iter().map(|a| a.round).max().unwrap_or(0), arrows })
    }

    /// What the picture shows, in a line: `n-way-dissemination, 9 ranks, n = 2`.
    pub fn title(&self) -> String {
        [self.name(), self.parameters()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn name(&self) -> String {
        let ranks = self.schedule.problem.ranks;
        format!("{}, {ranks} rank{}", self.schedule.algorithm.name, if ranks == 1 { "" } else { "s" })
    }

    fn parameters(&self) -> String {
        let Schedule { algorithm, problem, .. } = self.schedule;
        // 0 stands for another default where it is the least number.
        let told = algorithm
            .parameters
            .iter()
            .zip(problem.values)
            .filter(|(p, value)| p.min > 0 || !p.choices.is_empty() || *value > 0);
        told.map(|(parameter, value)| format!("{} = {}", parameter.name, parameter.show(value)))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// Purposes that occur, in order.
    pub fn purposes(&self) -> Vec<Purpose> {
        Purpose::ALL.into_iter().filter(|p| self.arrows.iter().any(|a| a.purpose == *p)).collect()
    }
}

/// Which flags and counters are awaited in the epoch that raises them, by rank.
struct Awaited {
    flags: Vec<Vec<bool>>,
    counters: Vec<Vec<bool>>,
}

impl Awaited {
    fn of(schedule: &Schedule) -> Awaited {
        let (ranks, resources) = (schedule.problem.ranks as usize, schedule.resources);
        let mut awaited = Awaited {
            flags: vec![vec![false; resources.flags as usize]; ranks],
            counters: vec![vec![false; resources.counters as usize]; ranks],
        };
        for rank in 0..ranks {
            for (_, step) in schedule.program(Rank(rank as u32)) {
                match step {
                    Step::Wait { flag, turn: 1.. } => awaited.flags[rank][flag.0 as usize] = true,
                    Step::AwaitCount { counter, previous: false, .. } => {
                        awaited.counters[rank][counter.0 as usize] = true
                    }
                    Step::Count { at, counter, .. } => {
                        awaited.counters[at.0 as usize][counter.0 as usize] = true
                    }
                    _ => {}
                }
            }
        }
        // A flag that returns a buffer is awaited in the epoch too if the buffer is used several times in it.
        if resources.turns > 1 {
            for rank in 0..ranks {
                for (_, step) in schedule.program(Rank(rank as u32)) {
                    if let Step::Put { to, flag, .. } = step {
                        awaited.flags[to.0 as usize][flag.0 as usize] = false;
                    }
                }
            }
        }
        awaited
    }

    fn purpose(&self, message: &Sent) -> Purpose {
        let to = message.to.0 as usize;
        match message.kind {
            Kind::Flag(flag) if !self.flags[to][flag.0 as usize] => Purpose::Acknowledgement,
            Kind::Flag(_) => Purpose::Flag,
            Kind::Count(counter) if !self.counters[to][counter.0 as usize] => Purpose::Acknowledgement,
            Kind::Count(_) => Purpose::Count,
            Kind::Answer => Purpose::Answer,
            Kind::Data => Purpose::Data,
            Kind::Again => Purpose::Again,
            Kind::Shared => Purpose::Shared,
        }
    }
}

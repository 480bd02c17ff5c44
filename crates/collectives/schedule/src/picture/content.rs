//! What a picture shows: the messages of one epoch, by round.

use crate::check::execution::{MessageKind, SentMessage};
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
    /// Brings the elements of the previous message once more (multi-send).
    Repeat,
    /// Writes into memory that all ranks see.
    Shared,
    /// Adds to a counter.
    Count,
    /// Tells a rank that added to a counter the new value.
    Answer,
    /// Says that something has been read. It is awaited only when the memory is reused.
    Acknowledgement,
}

impl Purpose {
    /// All purposes, in the order of a legend.
    pub const ALL: [Purpose; 7] = [
        Purpose::Flag,
        Purpose::Data,
        Purpose::Repeat,
        Purpose::Shared,
        Purpose::Count,
        Purpose::Answer,
        Purpose::Acknowledgement,
    ];

    /// What a legend says.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::Flag => "flag",
            Purpose::Data => "data",
            Purpose::Repeat => "data, sent again by the network interface",
            Purpose::Shared => "data, written once for all",
            Purpose::Count => "adds to a counter",
            Purpose::Answer => "its answer",
            Purpose::Acknowledgement => "acknowledgement",
        }
    }
}

/// A message, or several that one step sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// The round, from 1.
    pub round: u32,
    /// The sender.
    pub from: Rank,
    /// The receivers.
    pub to: Vec<Rank>,
    /// What it is for.
    pub purpose: Purpose,
    /// The elements that it carries.
    pub elements: u32,
    /// How many arrows of the same sender and round come before.
    pub before: u32,
}

/// The messages of one epoch of a schedule.
#[derive(Clone, Debug)]
pub struct Picture<'a> {
    /// The schedule that is drawn.
    pub schedule: &'a Schedule,
    /// The number of rounds.
    pub rounds: u32,
    /// Ordered by round, then sender, then the order of sending.
    pub arrows: Vec<Arrow>,
}

impl<'a> Picture<'a> {
    /// Executes the schedule, which checks it, and takes the last epoch, which is a steady one.
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
        // An execution may visit ranks in any order. The sort keeps the order of each rank.
        arrows.sort_by_key(|a| (a.round, a.from));
        for i in 1..arrows.len() {
            if (arrows[i].round, arrows[i].from) == (arrows[i - 1].round, arrows[i - 1].from) {
                arrows[i].before = arrows[i - 1].before + 1;
            }
        }
        Ok(Picture { schedule, rounds: arrows.iter().map(|a| a.round).max().unwrap_or(0), arrows })
    }

    /// What the picture shows, in one line: `n-way-dissemination, 9 ranks, n = 2`.
    pub fn title(&self) -> String {
        [self.name(), self.parameters()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The algorithm and the number of ranks: `mcs, 8 ranks`.
    pub(super) fn name(&self) -> String {
        let ranks = self.schedule.problem.ranks;
        format!("{}, {ranks} rank{}", self.schedule.algorithm.name, if ranks == 1 { "" } else { "s" })
    }

    /// The values of the parameters: `n = 4, release = multicast`.
    pub(super) fn parameters(&self) -> String {
        let Schedule { algorithm, problem, .. } = self.schedule;
        // Where 0 is the smallest number, it stands for a default that is not stated.
        let stated = algorithm
            .parameters
            .iter()
            .zip(problem.values)
            .filter(|(p, value)| p.min > 0 || !p.choices.is_empty() || *value > 0);
        stated
            .map(|(parameter, value)| format!("{} = {}", parameter.name, parameter.show(value)))
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The purposes that occur, in the order of [`Purpose::ALL`].
    pub fn purposes(&self) -> Vec<Purpose> {
        Purpose::ALL.into_iter().filter(|p| self.arrows.iter().any(|a| a.purpose == *p)).collect()
    }
}

/// For each rank, which flags and counters are awaited in the epoch that raises them.
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
        // A flag that returns a buffer is awaited in the epoch too if the buffer is used several times in
        // it.
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

    fn purpose(&self, message: &SentMessage) -> Purpose {
        let to = message.to.0 as usize;
        match message.kind {
            MessageKind::Flag(flag) if !self.flags[to][flag.0 as usize] => Purpose::Acknowledgement,
            MessageKind::Flag(_) => Purpose::Flag,
            MessageKind::Count(counter) if !self.counters[to][counter.0 as usize] => Purpose::Acknowledgement,
            MessageKind::Count(_) => Purpose::Count,
            MessageKind::Answer => Purpose::Answer,
            MessageKind::Data => Purpose::Data,
            MessageKind::Repeat => Purpose::Repeat,
            MessageKind::Shared => Purpose::Shared,
        }
    }
}

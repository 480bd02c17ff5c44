//! An algorithm applied to a problem.

use crate::algorithm::Algorithm;
use crate::problem::{MAX_PARAMETERS, Problem};
use crate::round::Round;
use crate::step::{Place, Rank, Step};
use thiserror::Error;

/// What a schedule needs of each rank. The checker holds the steps to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resources {
    /// How many rounds there are; a rank's steps of some of them may be none.
    pub rounds: u32,
    /// Flags per bank.
    pub flags: u32,
    /// Counters per bank.
    pub counters: u32,
    /// Elements of scratch per bank.
    pub scratch: u64,
    /// How often one flag is raised in an epoch, at most.
    pub turns: u16,
    /// How many copies of all this there are: epoch e works in bank e mod banks.
    pub banks: u8,
}

impl Resources {
    /// Flags only, in one bank, each raised once.
    pub const fn flags(rounds: u32, flags: u32) -> Resources {
        Resources { rounds, flags, counters: 0, scratch: 0, turns: 1, banks: 1 }
    }
    pub const fn and_counters(self, counters: u32) -> Resources {
        Resources { counters, ..self }
    }
    pub const fn and_scratch(self, scratch: u64) -> Resources {
        Resources { scratch, ..self }
    }
    pub const fn in_banks(self, banks: u8) -> Resources {
        Resources { banks, ..self }
    }
}

/// The value that a flag is raised to, and awaited at, in the `uses`-th use (1, 2, …) of its bank.
///
/// Turn 0 is the last value of the use before: 0, which every flag has from the beginning, in the first use.
pub const fn flag_value(uses: u64, turns: u16, turn: u16) -> u64 {
    (uses - 1) * turns as u64 + turn as u64
}

/// Why a schedule cannot be made.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ScheduleError {
    #[error(
        "cannot find the algorithm `{name}`: there is none of that name. `evenkeel schedule list` lists all."
    )]
    NoAlgorithm { name: String },
    #[error("cannot read the parameter `{given}`: there is no value in it. Write NAME=VALUE.")]
    NotAPair { given: String },
    #[error("cannot make a schedule for 0 ranks: nobody would run it. Ask for at least 1.")]
    NoRanks,
    #[error("cannot use rank {root} as root: there are {ranks} ranks, and the last is {last}. Name one of them.", last = ranks - 1)]
    NoRoot { root: u32, ranks: u32 },
    #[error(
        "cannot set `{name}` of {algorithm}: it has no such parameter (it has: {known}). Check the spelling."
    )]
    NoParameter { algorithm: &'static str, name: String, known: String },
    #[error("cannot set `{name}` of {algorithm} to {value}: it must be {range}. Choose a value from there.")]
    Value { algorithm: &'static str, name: &'static str, value: String, range: String },
    #[error("cannot make {algorithm} for {ranks} ranks and {elements} elements: a rank's buffers would have {asked} elements, and {} is the most. Ask for fewer, or count in larger elements.", Place::MAX_ELEMENTS - 1)]
    TooLarge { algorithm: &'static str, ranks: u32, elements: u32, asked: u64 },
    #[error(
        "cannot use the map of nodes: it does not tell the node of each of the {ranks} ranks. Give one node for each rank."
    )]
    Nodes { ranks: u32 },
}

/// The steps of every rank, made when asked for.
#[derive(Clone, Debug)]
pub struct Schedule {
    pub algorithm: &'static Algorithm,
    pub problem: Problem,
    pub resources: Resources,
}

impl Schedule {
    /// Applies an algorithm to a problem, with some of its parameters set by name and the others at their
    /// defaults.
    ///
    /// ```
    /// use evenkeel_schedule::{Problem, Rank, Round, Schedule, Flag, Step, algorithms};
    /// let algorithm = algorithms::find("n-way-dissemination").unwrap();
    /// let schedule = Schedule::new(algorithm, Problem::new(9), &[("n", 2)]).unwrap();
    /// let mut round = Round::new();
    /// schedule.round(Rank(0), 1, &mut round);
    /// assert_eq!(round.steps[..2], [3, 6].map(|to| Step::Put { to: Rank(to), flag: Flag(1 + to / 3), turn: 1 }));
    /// ```
    pub fn new(
        algorithm: &'static Algorithm,
        mut problem: Problem,
        set: &[(&str, u32)],
    ) -> Result<Schedule, ScheduleError> {
        if problem.ranks == 0 {
            return Err(ScheduleError::NoRanks);
        }
        if problem.root.0 >= problem.ranks {
            return Err(ScheduleError::NoRoot { root: problem.root.0, ranks: problem.ranks });
        }
        if problem.nodes.as_ref().is_some_and(|nodes| !nodes.fits(problem.ranks)) {
            return Err(ScheduleError::Nodes { ranks: problem.ranks });
        }
        problem.values = defaults(algorithm);
        for (name, value) in set {
            let Some(i) = algorithm.parameters.iter().position(|p| p.name == *name) else {
                let known: Vec<&str> = algorithm.parameters.iter().map(|p| p.name).collect();
                let known = if known.is_empty() { "none".into() } else { known.join(", ") };
                return Err(ScheduleError::NoParameter {
                    algorithm: algorithm.name,
                    name: name.to_string(),
                    known,
                });
            };
            let parameter = &algorithm.parameters[i];
            if *value < parameter.min || *value > parameter.max {
                return Err(ScheduleError::Value {
                    algorithm: algorithm.name,
                    name: parameter.name,
                    value: value.to_string(),
                    range: parameter.range(),
                });
            }
            problem.values[i] = *value;
        }
        let widest = u64::from(problem.elements) * u64::from(problem.ranks);
        let buffers = [
            algorithm.collective.input_elements(&problem, problem.root),
            algorithm.collective.output_elements(&problem, problem.root),
        ];
        let resources =
            if widest < u64::from(u32::MAX) { Some((algorithm.resources)(&problem)) } else { None };
        let asked = resources.map_or(widest, |n| n.scratch).max(buffers[0]).max(buffers[1]);
        match resources {
            Some(resources) if asked < Place::MAX_ELEMENTS.into() => {
                Ok(Schedule { algorithm, problem, resources })
            }
            _ => Err(ScheduleError::TooLarge {
                algorithm: algorithm.name,
                ranks: problem.ranks,
                elements: problem.elements,
                asked,
            }),
        }
    }

    /// How many rounds there are.
    pub fn rounds(&self) -> u32 {
        self.resources.rounds
    }

    /// Replaces `into` by the steps of a round of a rank; there are none past the last round.
    pub fn round(&self, rank: Rank, round: u32, into: &mut Round) {
        into.steps.clear();
        if round < self.resources.rounds {
            (self.algorithm.round)(&self.problem, rank, round, into);
        }
    }

    /// All steps of a rank, each with its round.
    pub fn program(&self, rank: Rank) -> Vec<(u32, Step)> {
        let (mut all, mut steps) = (Vec::new(), Round::new());
        for round in 0..self.rounds() {
            self.round(rank, round, &mut steps);
            all.extend(steps.steps.iter().map(|step| (round, *step)));
        }
        all
    }

    /// The bank in which an epoch (1, 2, …) works, and how many times the bank has been used with it.
    pub fn bank(&self, epoch: u64) -> (usize, u64) {
        let banks = u64::from(self.resources.banks);
        ((epoch % banks) as usize, (epoch - 1) / banks + 1)
    }
}

/// The parameters' defaults; 0 where there is none.
pub fn defaults(algorithm: &Algorithm) -> [u32; MAX_PARAMETERS] {
    let mut values = [0; MAX_PARAMETERS];
    for (value, parameter) in values.iter_mut().zip(algorithm.parameters) {
        *value = parameter.default;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms;

    fn refused(problem: Problem, set: &[(&str, u32)]) -> String {
        Schedule::new(algorithms::find("n-way-dissemination").unwrap(), problem, set).unwrap_err().to_string()
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_reason() {
        assert!(refused(Problem::new(0), &[]).contains("0 ranks"));
        assert!(refused(Problem::new(4).with_root(Rank(4)), &[]).contains("the last is 3"));
        assert!(refused(Problem::new(4), &[("m", 1)]).contains("it has: n"));
        assert!(refused(Problem::new(4), &[("n", 0)]).contains("to 0: it must be 1"));
        assert!(
            refused(Problem::new(4).with_nodes(crate::Nodes::table(&[0, 0])), &[]).contains("map of nodes")
        );
        let large = Schedule::new(
            algorithms::find("allgather-ring").unwrap(),
            Problem::new(1 << 20).with_elements(1 << 20),
            &[],
        );
        assert!(matches!(large.unwrap_err(), ScheduleError::TooLarge { .. }));
    }

    #[test]
    fn every_bank_counts_its_own_uses() {
        let mut schedule =
            Schedule::new(algorithms::find("dissemination").unwrap(), Problem::new(2), &[]).unwrap();
        schedule.resources.banks = 2;
        assert_eq!([1, 2, 3, 4, 5].map(|e| schedule.bank(e)), [(1, 1), (0, 1), (1, 2), (0, 2), (1, 3)]);
        assert_eq!(
            (flag_value(1, 3, 0), flag_value(1, 3, 3), flag_value(2, 3, 0), flag_value(2, 3, 1)),
            (0, 3, 3, 4)
        );
    }
}

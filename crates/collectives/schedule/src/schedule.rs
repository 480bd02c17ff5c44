//! A schedule: an algorithm applied to a problem.

use crate::algorithm::Algorithm;
use crate::error::ScheduleError;
use crate::problem::{ParameterValues, Problem};
use crate::resources::Resources;
use crate::round::Round;
use crate::step::{Place, Rank, Step};

/// The steps of every rank, generated on demand.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The algorithm that generates the steps.
    pub algorithm: &'static Algorithm,
    /// The ranks, the root, the elements and the values of the parameters.
    pub problem: Problem,
    /// What the steps use of each rank's memory.
    pub resources: Resources,
}

impl Schedule {
    /// Applies an algorithm to a problem. `set` gives some of the parameters by name; the others keep
    /// their defaults.
    ///
    /// ```
    /// use evenkeel_schedule::{Flag, Problem, Rank, Round, Schedule, Step, algorithms};
    /// let algorithm = algorithms::find("n-way-dissemination").unwrap();
    /// let schedule = Schedule::new(algorithm, Problem::new(9), &[("n", 2)]).unwrap();
    /// let mut round = Round::new();
    /// schedule.round(Rank(0), 1, &mut round);
    /// let puts = [3, 6].map(|to| Step::Put { to: Rank(to), flag: Flag(1 + to / 3), turn: 1 });
    /// assert_eq!(round.steps[..2], puts);
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
        problem.values = values(algorithm, set)?;
        let resources = resources(algorithm, &problem)?;
        Ok(Schedule { algorithm, problem, resources })
    }

    /// The number of rounds.
    pub fn rounds(&self) -> u32 {
        self.resources.rounds
    }

    /// Replaces the contents of `into` by the steps of one round of a rank. Past the last round there are
    /// none.
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

    /// The bank in which an epoch works, and its uses so far: see [`Resources::bank`].
    pub fn bank(&self, epoch: u64) -> (usize, u64) {
        self.resources.bank(epoch)
    }
}

/// The algorithm's defaults, overridden by `set`.
fn values(algorithm: &Algorithm, set: &[(&str, u32)]) -> Result<ParameterValues, ScheduleError> {
    let mut values = algorithm.default_values();
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
        values[i] = *value;
    }
    Ok(values)
}

/// The resources for a problem whose buffers are all small enough to be addressed.
fn resources(algorithm: &Algorithm, problem: &Problem) -> Result<Resources, ScheduleError> {
    let widest = u64::from(problem.elements) * u64::from(problem.ranks);
    let input = algorithm.collective.input_elements(problem, problem.root);
    let output = algorithm.collective.output_elements(problem, problem.root);
    let resources = (widest < u64::from(u32::MAX)).then(|| (algorithm.resources)(problem));
    let asked = resources.map_or(widest, |r| r.scratch).max(input).max(output);
    match resources {
        Some(resources) if asked < Place::MAX_ELEMENTS.into() => Ok(resources),
        _ => Err(ScheduleError::TooLarge {
            algorithm: algorithm.name,
            ranks: problem.ranks,
            elements: problem.elements,
            asked,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms;

    fn refused(problem: Problem, set: &[(&str, u32)]) -> String {
        Schedule::new(algorithms::find("n-way-dissemination").unwrap(), problem, set).unwrap_err().to_string()
    }

    #[test]
    fn an_impossible_problem_is_refused_with_a_reason() {
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
}

//! The name of a schedule on command lines and in files: `n-way-dissemination:n=3`.

use crate::algorithms;
use crate::error::ScheduleError;
use crate::problem::Problem;
use crate::schedule::Schedule;

impl Schedule {
    /// The schedule of that name: an algorithm's name and, after a colon, the parameters that differ from
    /// their defaults.
    ///
    /// ```
    /// use evenkeel_schedule::{Problem, Schedule};
    /// let schedule = Schedule::parse("mcs:n=2,release=binomial", Problem::new(8)).unwrap();
    /// assert_eq!(schedule.name(), "mcs:n=2,release=binomial");
    /// ```
    pub fn parse(name: &str, problem: Problem) -> Result<Schedule, ScheduleError> {
        let (first, rest) = name.split_once(':').unwrap_or((name, ""));
        let algorithm =
            algorithms::find(first).ok_or_else(|| ScheduleError::NoAlgorithm { name: first.into() })?;
        let mut set = Vec::new();
        for part in rest.split(',').filter(|part| !part.is_empty()) {
            let (name, word) =
                part.split_once('=').ok_or_else(|| ScheduleError::NotAPair { given: part.into() })?;
            let value = match algorithm.parameters.iter().find(|p| p.name == name) {
                Some(parameter) => parameter.parse(word).ok_or_else(|| ScheduleError::Value {
                    algorithm: algorithm.name,
                    name: parameter.name,
                    value: word.into(),
                    range: parameter.range(),
                })?,
                None => 0, // `Schedule::new` refuses the unknown name
            };
            set.push((name, value));
        }
        Schedule::new(algorithm, problem, &set)
    }

    /// The schedule's name. [`Schedule::parse`] makes an equal schedule of it.
    pub fn name(&self) -> String {
        let values =
            self.algorithm.parameters.iter().zip(self.problem.values).zip(self.algorithm.default_values());
        let set: Vec<String> = values
            .filter(|((_, value), default)| value != default)
            .map(|((p, value), _)| format!("{}={}", p.name, p.show(value)))
            .collect();
        if set.is_empty() {
            self.algorithm.name.into()
        } else {
            format!("{}:{}", self.algorithm.name, set.join(","))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_algorithm_is_found_by_its_name_and_keeps_it() {
        for algorithm in algorithms::ALL {
            let schedule = Schedule::parse(algorithm.name, Problem::new(8)).unwrap();
            assert!(std::ptr::eq(schedule.algorithm, *algorithm));
            assert_eq!(schedule.name(), algorithm.name);
        }
        for name in ["n-way-dissemination:n=7", "mcs:release=binomial", "hierarchical:inner=mcs,node=2"] {
            assert_eq!(Schedule::parse(name, Problem::new(8)).unwrap().name(), name);
        }
        assert_eq!(Schedule::parse("mcs:n=4", Problem::new(8)).unwrap().name(), "mcs", "4 is the default");
    }

    #[test]
    fn a_wrong_name_is_refused_with_a_reason() {
        let refused = |name: &str| Schedule::parse(name, Problem::new(8)).unwrap_err().to_string();
        assert!(refused("disseminate").contains("`disseminate`"));
        assert!(refused("mcs:4").contains("NAME=VALUE"));
        assert!(refused("mcs:m=4").contains("it has: n, release"));
        assert!(refused("mcs:n=many").contains("to many: it must be 1"));
        assert!(refused("mcs:n=0").contains("to 0: it must be 1"));
    }
}

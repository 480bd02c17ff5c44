//! The schedules to measure: every barrier algorithm, with the values of its parameters that can be best.

use evenkeel_engine::barrier::scheduled::ScheduledBarrier;
use evenkeel_model::fan_out;
use evenkeel_schedule::{Algorithm, Collective, Parameter, Problem, Rank, Schedule, Step, algorithms};
use std::collections::HashSet;

/// The barriers to try among so many ranks. No two of them have the same steps.
///
/// If an algorithm has a fan-out, only the least fan-out that reaches all ranks is listed for each number
/// of rounds, because it sends the fewest messages. These are at most log₂ P fan-outs (Höfler 2005, section
/// 2.2.6, with whole rounds). Hierarchical barriers are not listed, because a machine is one node.
pub fn candidates(ranks: u32) -> Vec<Schedule> {
    let mut seen = HashSet::new();
    let algorithms = algorithms::for_collective(Collective::Barrier).filter(|a| a.name != "hierarchical");
    let all = algorithms
        .flat_map(|algorithm| combinations(algorithm, ranks).into_iter().map(move |set| (algorithm, set)));
    let schedules = all.filter_map(|(algorithm, set)| {
        let set: Vec<(&str, u32)> = algorithm.parameters.iter().map(|p| p.name).zip(set).collect();
        Schedule::new(algorithm, Problem::new(ranks), &set).ok()
    });
    schedules
        .filter(|schedule| ScheduledBarrier::new(schedule.clone()).is_ok() && seen.insert(steps(schedule)))
        .collect()
}

/// All steps of all ranks.
fn steps(schedule: &Schedule) -> Vec<Vec<Step>> {
    (0..schedule.problem.ranks)
        .map(|rank| schedule.program(Rank(rank)).into_iter().map(|(_, step)| step).collect())
        .collect()
}

/// All combinations of values. Each has one value per parameter, in the order of the algorithm's parameters.
fn combinations(algorithm: &Algorithm, ranks: u32) -> Vec<Vec<u32>> {
    algorithm.parameters.iter().fold(vec![Vec::new()], |sets, parameter| {
        let values = values(algorithm, parameter, ranks);
        sets.iter()
            .flat_map(|set| values.iter().map(move |value| [set.as_slice(), &[*value]].concat()))
            .collect()
    })
}

/// The values of a parameter that can be best.
fn values(algorithm: &Algorithm, parameter: &Parameter, ranks: u32) -> Vec<u32> {
    if !parameter.choices.is_empty() {
        return (parameter.min..=parameter.max).collect();
    }
    // With n messages per round, or n children, each round reaches n + 1 times as many ranks. With groups
    // of n ranks, it reaches n times as many.
    let messages = ["n-way-dissemination", "n-wise-exchange", "mcs"].contains(&algorithm.name);
    let fan_outs = fan_out::candidates(ranks.into()).into_iter().map(|c| c.n as u32 + u32::from(!messages));
    let values: Vec<u32> = fan_outs.filter(|v| (parameter.min..=parameter.max).contains(v)).collect();
    if values.is_empty() { vec![parameter.default] } else { values }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(ranks: u32) -> Vec<String> {
        candidates(ranks).iter().map(Schedule::name).collect()
    }

    #[test]
    fn all_algorithms_are_listed_with_the_least_fan_outs() {
        let names = names(64);
        for algorithm in algorithms::for_collective(Collective::Barrier).filter(|a| a.name != "hierarchical")
        {
            assert!(names.iter().any(|n| n.starts_with(algorithm.name)), "{algorithm:?}");
        }
        let of = |name: &str| {
            names.iter().filter(|n| n.split(':').next() == Some(name)).cloned().collect::<Vec<_>>()
        };
        // The rule gives 63, 7, 3, 2 and 1. n = 1 is dissemination, which is listed already. n = 2 is the
        // default.
        assert_eq!(
            of("n-way-dissemination"),
            [
                "n-way-dissemination:n=63",
                "n-way-dissemination:n=7",
                "n-way-dissemination:n=3",
                "n-way-dissemination"
            ]
        );
        assert!(of("combining-tree").contains(&"combining-tree:n=8,release=binomial".to_string()));
    }

    #[test]
    fn schedules_with_the_same_steps_are_listed_once() {
        let two = names(2);
        assert!(
            two.len() < 10 && two.contains(&"dissemination".to_string())
                || two.iter().any(|n| n == "butterfly"),
            "{two:?}"
        );
        for ranks in 2..=20 {
            let all = candidates(ranks);
            let distinct: HashSet<_> = all.iter().map(steps).collect();
            assert_eq!(distinct.len(), all.len(), "{ranks} ranks");
        }
    }
}

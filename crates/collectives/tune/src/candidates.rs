//! What is worth measuring: every barrier, with those values of its parameters that can be best.

use evenkeel_engine::barrier::scheduled::ScheduledBarrier;
use evenkeel_model::fan_out;
use evenkeel_schedule::{Algorithm, Collective, Parameter, Problem, Rank, Schedule, Step, algorithms};
use std::collections::HashSet;

/// The barriers to try among so many ranks, no two of which have the same steps.
///
/// Of an algorithm with a fan-out, for each number of rounds only the least fan-out that reaches all
/// ranks is listed: of all with the same number of rounds it sends the fewest messages. That leaves at
/// most log₂ P (Höfler 2005, section 2.2.6, with whole rounds). Hierarchical barriers are not listed: a
/// machine is one node.
pub fn candidates(ranks: u32) -> Vec<Schedule> {
    let mut seen = HashSet::new();
    let algorithms = algorithms::for_collective(Collective::Barrier).filter(|a| a.name != "hierarchical");
    let all = algorithms
        .flat_map(|algorithm| settings(algorithm, ranks).into_iter().map(move |set| (algorithm, set)));
    let made = all.filter_map(|(algorithm, set)| {
        let set: Vec<(&str, u32)> = algorithm.parameters.iter().map(|p| p.name).zip(set).collect();
        Schedule::new(algorithm, Problem::new(ranks), &set).ok()
    });
    made.filter(|schedule| ScheduledBarrier::new(schedule.clone()).is_ok() && seen.insert(steps(schedule)))
        .collect()
}

/// All steps of all ranks.
fn steps(schedule: &Schedule) -> Vec<Vec<Step>> {
    (0..schedule.problem.ranks)
        .map(|rank| schedule.program(Rank(rank)).into_iter().map(|(_, step)| step).collect())
        .collect()
}

/// Every combination of values, in the order of the algorithm's parameters.
fn settings(algorithm: &Algorithm, ranks: u32) -> Vec<Vec<u32>> {
    algorithm.parameters.iter().fold(vec![Vec::new()], |sets, parameter| {
        let values = values(algorithm, parameter, ranks);
        sets.iter()
            .flat_map(|set| values.iter().map(move |value| [set.as_slice(), &[*value]].concat()))
            .collect()
    })
}

fn values(algorithm: &Algorithm, parameter: &Parameter, ranks: u32) -> Vec<u32> {
    if !parameter.choices.is_empty() {
        return (parameter.min..=parameter.max).collect();
    }
    // n messages of a round, or n children, reach n + 1 times as many ranks; a group of n is n ranks.
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
    fn every_barrier_is_there_and_fan_outs_by_the_rule() {
        let names = names(64);
        for algorithm in algorithms::for_collective(Collective::Barrier).filter(|a| a.name != "hierarchical")
        {
            assert!(names.iter().any(|n| n.starts_with(algorithm.name)), "{algorithm:?}");
        }
        let of = |name: &str| {
            names.iter().filter(|n| n.split(':').next() == Some(name)).cloned().collect::<Vec<_>>()
        };
        // 63, 7, 3, 2, 1; with n = 1 it is dissemination, which is listed before. 2 is the default.
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
    fn what_has_the_same_steps_is_listed_once() {
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

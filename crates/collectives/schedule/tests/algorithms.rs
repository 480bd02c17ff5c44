//! Every listed algorithm keeps the rules of `check`, for 1 to 64 ranks and many values of its
//! parameters.
//!
//! One execution proves an algorithm without branches correct in every interleaving (`check` says why).
//! Other interleavings are executed too, where they are cheap, so that the proof is tested as well.

use evenkeel_schedule::check::{Interleaving, explore, run};
use evenkeel_schedule::{Algorithm, Collective, Nodes, Problem, Rank, Schedule, algorithms};

const EPOCHS: u64 = 5; // uses each of two banks twice, and one of them a third time

/// Numeric parameters are tried up to so much above their minimum.
const MOST: u32 = 5;

/// The defaults, and each parameter changed alone.
fn settings(algorithm: &Algorithm) -> Vec<Vec<(&'static str, u32)>> {
    let mut all = vec![vec![]];
    for parameter in algorithm.parameters {
        let most = if parameter.choices.is_empty() {
            parameter.max.min(parameter.min + MOST)
        } else {
            parameter.max
        };
        all.extend(
            (parameter.min..=most).filter(|v| *v != parameter.default).map(|v| vec![(parameter.name, v)]),
        );
    }
    all
}

/// Roots at both ends and in the middle; vectors of no, one, few, and more elements than there are ranks.
fn problems(algorithm: &Algorithm, ranks: u32) -> Vec<Problem> {
    let problem = Problem::new(ranks);
    match algorithm.collective {
        Collective::Barrier => vec![problem],
        Collective::Bcast | Collective::Reduce => vec![
            problem.clone().with_elements(ranks + 3),
            problem.clone().with_elements(2).with_root(Rank(ranks - 1)),
            problem.clone().with_elements(0).with_root(Rank(ranks / 2)),
        ],
        Collective::Allreduce => [1, ranks + 3].map(|e| problem.clone().with_elements(e)).to_vec(),
        Collective::Scan | Collective::Exscan => [0, 3].map(|e| problem.clone().with_elements(e)).to_vec(),
        Collective::Gather | Collective::Scatter => vec![
            problem.clone().with_elements(2),
            problem.clone().with_elements(1).with_root(Rank(ranks - 1)),
            problem.clone().with_elements(0).with_root(Rank(ranks / 2)),
        ],
        Collective::Allgather | Collective::Alltoall | Collective::ReduceScatter => {
            [1, 2].map(|e| problem.clone().with_elements(e)).to_vec()
        }
    }
}

fn check(algorithm: &'static Algorithm, problem: &Problem, set: &[(&str, u32)], driver: Interleaving) {
    let schedule = Schedule::new(algorithm, problem.clone(), set).unwrap_or_else(|e| panic!("{e}"));
    if let Err(defect) = run(&schedule, EPOCHS, driver) {
        panic!("{} {set:?} {problem:?} {driver:?}: {defect}", algorithm.name);
    }
}

#[test]
fn every_algorithm_is_correct_for_1_to_64_ranks() {
    for algorithm in algorithms::ALL {
        for set in settings(algorithm) {
            for ranks in 1..=64 {
                for problem in problems(algorithm, ranks) {
                    check(algorithm, &problem, &set, Interleaving::Prompt);
                }
            }
        }
    }
}

#[test]
fn late_ranks_and_late_messages_do_no_harm() {
    for algorithm in algorithms::ALL {
        for ranks in (1..=9).chain([16, 23]) {
            for problem in problems(algorithm, ranks) {
                check(algorithm, &problem, &[], Interleaving::LastFirst);
                for late in (0..ranks).map(Rank) {
                    check(algorithm, &problem, &[], Interleaving::Late(late));
                }
            }
        }
    }
}

#[test]
fn algorithms_with_branches_are_correct_in_many_random_orders() {
    for name in ["central-counter", "climbing-tree", "allreduce-central-counter"] {
        let algorithm = algorithms::find(name).unwrap();
        for ranks in 1..=64 {
            for seed in 0..10 {
                check(algorithm, &Problem::new(ranks), &[], Interleaving::Random(seed));
            }
        }
    }
}

#[test]
fn every_algorithm_is_correct_in_random_orders() {
    for algorithm in algorithms::ALL {
        for (seed, ranks) in [2, 3, 5, 7, 8, 12, 17].into_iter().enumerate() {
            for problem in problems(algorithm, ranks) {
                check(algorithm, &problem, &[], Interleaving::Random(seed as u64));
            }
        }
    }
}

#[test]
fn every_algorithm_is_correct_in_every_order_of_few_ranks() {
    for algorithm in algorithms::ALL {
        for (ranks, epochs) in [(1, 3), (2, 3), (3, 1), (3, 2)] {
            let schedule = Schedule::new(algorithm, Problem::new(ranks), &[]).unwrap();
            let explored = explore(&schedule, epochs, 60_000)
                .unwrap_or_else(|e| panic!("{} {ranks}: {e}", algorithm.name));
            println!("{} {ranks} ranks, {epochs} epochs: {explored:?}", algorithm.name);
            // All are small enough to be explored completely, except one, in which each rank signals each
            // rank twice.
            let whole = (algorithm.name, ranks, epochs) != ("flag-groups", 3, 2);
            assert!(
                explored.ends > 0 && explored.cut_off != whole,
                "{} {ranks}: {explored:?}",
                algorithm.name
            );
        }
    }
}

#[test]
fn algorithms_with_branches_are_correct_in_every_order_of_few_ranks() {
    for (name, ranks, epochs) in [
        ("central-counter", 3, 3),
        ("central-counter", 4, 2),
        ("climbing-tree", 3, 3),
        ("climbing-tree", 4, 2),
        ("allreduce-central-counter", 3, 3),
        ("allreduce-central-counter", 4, 2),
    ] {
        let schedule = Schedule::new(algorithms::find(name).unwrap(), Problem::new(ranks), &[]).unwrap();
        let narrow = (name == "climbing-tree")
            .then(|| Schedule::new(schedule.algorithm, Problem::new(ranks), &[("n", 2)]).unwrap());
        for schedule in [Some(schedule), narrow].into_iter().flatten() {
            let explored =
                explore(&schedule, epochs, 1_000_000).unwrap_or_else(|e| panic!("{name} {ranks}: {e}"));
            assert!(!explored.cut_off && explored.ends > 0, "{name} {ranks}: {explored:?}");
        }
    }
}

#[test]
fn every_check_in_works_with_every_barrier_on_any_nodes() {
    let algorithm = algorithms::find("hierarchical").unwrap();
    let scattered = Nodes::table(&[3, 1, 3, 3, 1, 2, 3, 2, 9, 9, 9]);
    for inner in 0..=algorithm.parameters[0].max {
        for outer in 0..=algorithm.parameters[1].max {
            for n in [0, 2, 3] {
                let set = [("inner", inner), ("outer", outer), ("n", n)];
                check(algorithm, &Problem::new(11).with_nodes(scattered.clone()), &set, Interleaving::Prompt);
                check(algorithm, &Problem::new(23), &set, Interleaving::Prompt);
            }
        }
    }
}

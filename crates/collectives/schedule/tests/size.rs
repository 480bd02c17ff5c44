//! The steps of a rank are generated without looking at other ranks, even if there are too many to look
//! at.

use evenkeel_schedule::{Collective, Problem, Rank, Round, Schedule, Step, algorithms};

/// Algorithms with a message or an area for each rank have as many steps as there are ranks.
fn grows_with_ranks(name: &str) -> bool {
    ["ring", "flat", "scatter", "pairwise", "bruck", "simultaneous", "gather", "allreduce-central", "parts"]
        .iter()
        .any(|part| name.contains(part))
}

#[test]
fn the_steps_of_any_rank_of_a_billion_are_few() {
    let mut round = Round::new();
    for algorithm in algorithms::ALL.iter().filter(|a| !grows_with_ranks(a.name)) {
        for ranks in [1_000_000, 1 << 30] {
            let schedule = Schedule::new(algorithm, Problem::new(ranks), &[]).unwrap();
            for rank in [0, 1, 2, 3, ranks / 2, ranks - 2, ranks - 1].map(Rank) {
                let mut steps = 0;
                for number in 0..schedule.rounds() {
                    schedule.round(rank, number, &mut round);
                    steps += round.steps.len();
                    for step in &round.steps {
                        let to = match step {
                            Step::Put { to, .. } | Step::Send { to, .. } => *to,
                            Step::Multicast { to, .. } => Rank(to.first.0 + (to.count - 1) * to.stride),
                            Step::Add { at, .. } | Step::Count { at, .. } => *at,
                            _ => rank,
                        };
                        assert!(to.0 < ranks, "{} {ranks} {rank:?} {step:?}", algorithm.name);
                    }
                }
                assert!(
                    (1..=200).contains(&steps),
                    "{} of {ranks}: rank {} has {steps} steps",
                    algorithm.name,
                    rank.0
                );
            }
        }
    }
}

#[test]
fn dissemination_with_a_million_ranks_has_forty_million_steps() {
    let schedule =
        Schedule::new(algorithms::find("dissemination").unwrap(), Problem::new(1 << 20), &[]).unwrap();
    assert_eq!((schedule.algorithm.collective, schedule.rounds()), (Collective::Barrier, 20));
    let mut round = Round::new();
    let mut steps = 0;
    for rank in (0..1 << 20).step_by(64).map(Rank) {
        for number in 0..20 {
            schedule.round(rank, number, &mut round);
            steps += round.steps.len();
        }
    }
    assert_eq!(steps * 64, 40 << 20);
    assert_eq!(round.steps.capacity(), 4, "one list is reused for all rounds");
}

//! The checker finds mistakes: each step of each algorithm is left out once, and some steps are changed.

use evenkeel_schedule::check::{CheckError, Execution, Interleaving, drive};
use evenkeel_schedule::{
    Algorithm, Collective, CombiningOrder, Place, Problem, Rank, Schedule, Step, algorithms,
};

const EPOCHS: u64 = 5;

type Programs = Vec<Vec<(u32, Step)>>;

fn programs(schedule: &Schedule) -> Programs {
    (0..schedule.problem.ranks).map(|rank| schedule.program(Rank(rank))).collect()
}

fn outcome(schedule: &Schedule, programs: Programs) -> Result<(), CheckError> {
    drive(Execution::with_programs(schedule, EPOCHS, programs), Interleaving::Prompt).map(|_| ())
}

fn schedule(algorithm: &'static Algorithm, ranks: u32) -> Schedule {
    let elements = if algorithm.collective == Collective::Barrier { 0 } else { ranks + 1 };
    Schedule::new(algorithm, Problem::new(ranks).with_elements(elements), &[]).unwrap()
}

/// The steps that can each be left out of an algorithm without harm, and the number of all steps.
fn redundant(algorithm: &'static Algorithm, ranks: u32) -> (Vec<String>, usize) {
    let schedule = schedule(algorithm, ranks);
    let whole = programs(&schedule);
    let (mut found, mut all) = (Vec::new(), 0);
    for rank in 0..whole.len() {
        for at in 0..whole[rank].len() {
            all += 1;
            let mut less = whole.clone();
            let (_, step) = less[rank].remove(at);
            if outcome(&schedule, less).is_ok() {
                found.push(format!("rank {rank}: {step:?}"));
            }
        }
    }
    (found, all)
}

#[test]
fn no_step_can_be_left_out() {
    for algorithm in algorithms::ALL {
        let (found, all) = redundant(algorithm, 4);
        let expected = match algorithm.name {
            // With four ranks and n = 2 each rank hears from the rank below it again in the second round.
            "n-way-dissemination" => 4,
            // In its one group the other members read all flags too and then wait for the release, as the
            // authors describe it.
            "flag-groups" => 12,
            // The root is signalled by its neighbour in every round; the last signal would be enough.
            "bcast-scatter-allgather" => 1,
            _ => 0,
        };
        assert_eq!(found.len(), expected, "{}, of {all} steps: {found:#?}", algorithm.name);
    }
}

/// The claim of `check`: a mistake is visible in every order, not only in one in which it does harm.
#[test]
fn a_mistake_is_found_in_every_order() {
    let drivers = [
        Interleaving::LastFirst,
        Interleaving::Late(Rank(0)),
        Interleaving::Late(Rank(3)),
        Interleaving::Random(1),
        Interleaving::Random(2),
        Interleaving::Random(3),
    ];
    for algorithm in algorithms::ALL
        .iter()
        .filter(|a| !["central-counter", "climbing-tree", "allreduce-central-counter"].contains(&a.name))
    {
        let schedule = schedule(algorithm, 4);
        let whole = programs(&schedule);
        for (rank, at) in (0..4).flat_map(|rank| (0..whole[rank].len()).map(move |at| (rank, at))) {
            let mut less = whole.clone();
            let (_, step) = less[rank].remove(at);
            let found = outcome(&schedule, less.clone());
            for driver in drivers {
                let other =
                    drive(Execution::with_programs(&schedule, EPOCHS, less.clone()), driver).map(|_| ());
                assert_eq!(
                    other.is_err(),
                    found.is_err(),
                    "{} without {step:?} of rank {rank}, {driver:?}: {other:?} and {found:?}",
                    algorithm.name
                );
            }
        }
    }
}

#[test]
fn operands_cannot_be_exchanged() {
    for algorithm in algorithms::ALL.iter().filter(|a| a.order != CombiningOrder::Nothing) {
        // Where the last rank combines: no more ranks than epochs, so that each rank is last once.
        let ranks = if algorithm.name == "allreduce-central-counter" { 4 } else { 6 };
        let schedule = schedule(algorithm, ranks);
        let whole = programs(&schedule);
        let mut tried = 0;
        for (rank, at) in
            (0..ranks as usize).flat_map(|rank| (0..whole[rank].len()).map(move |at| (rank, at)))
        {
            let Step::Combine { into, first, second, length } = whole[rank][at].1 else { continue };
            tried += 1;
            let mut other = whole.clone();
            other[rank][at].1 = Step::Combine { into, first: second, second: first, length };
            let found = outcome(&schedule, other);
            match algorithm.order {
                // Each part is combined once, so no rank sees the difference.
                CombiningOrder::Any => assert_eq!(found, Ok(()), "{}", algorithm.name),
                _ => assert!(
                    matches!(found, Err(CheckError::WrongData { .. } | CheckError::UnequalGrouping { .. })),
                    "{}: {found:?}",
                    algorithm.name
                ),
            }
        }
        assert!(tried > 0);
    }
}

#[test]
fn one_bank_is_not_enough_where_messages_are_not_acknowledged() {
    // Their last messages are read by ranks that may not be asked again before the next message to them.
    let found: Vec<&str> = algorithms::ALL
        .iter()
        .filter(|algorithm| {
            [4, 5].into_iter().any(|ranks| {
                let mut schedule = schedule(algorithm, ranks);
                schedule.resources.banks = 1;
                matches!(
                    outcome(&schedule, programs(&schedule)),
                    Err(CheckError::WriteRace { .. }
                        | CheckError::ReadRace { .. }
                        | CheckError::Overrun { .. })
                )
            })
        })
        .map(|algorithm| algorithm.name)
        .collect();
    assert_eq!(found, NEED_TWO_BANKS);
}

const NEED_TWO_BANKS: &[&str] = &[
    "bcast-scatter-allgather",
    "allreduce-simultaneous-broadcast",
    "allreduce-recursive-doubling",
    "allreduce-central-counter",
    "allgather-flat",
    "allgather-ring",
    "allgather-bruck",
    "allgather-recursive-doubling",
    "alltoall-flat",
    "alltoall-pairwise",
    "alltoall-bruck",
    "reduce-scatter-flat",
    "reduce-scatter-pairwise",
    "reduce-scatter-halving",
];

#[test]
fn an_output_is_not_written_before_its_owner_has_entered() {
    let schedule = schedule(algorithms::find("bcast-flat").unwrap(), 3);
    let mut direct = programs(&schedule);
    for (_, step) in &mut direct[0] {
        if let Step::Send { at, .. } = step {
            *at = Place::output(0);
        }
    }
    direct.iter_mut().for_each(|p| p.retain(|(_, step)| !matches!(step, Step::Copy { .. })));
    assert!(matches!(outcome(&schedule, direct), Err(CheckError::WriteRace { .. })));
}

/// For some number of ranks and some root. For others a little may be left over.
#[test]
fn no_algorithm_states_more_resources_than_it_uses() {
    for algorithm in algorithms::ALL {
        for less in [0, 1, 2] {
            let mut stated = false;
            let tight = [(4, 0), (5, 4), (8, 0), (9, 8)].into_iter().any(|(ranks, root)| {
                let schedule = Schedule::new(
                    algorithm,
                    Problem::new(ranks).with_elements(ranks + 1).with_root(Rank(root)),
                    &[],
                )
                .unwrap();
                let mut resources = schedule.resources;
                let any = match less {
                    0 => resources.flags.checked_sub(1).map(|n| resources.flags = n),
                    1 => resources.counters.checked_sub(1).map(|n| resources.counters = n),
                    _ => resources.scratch.checked_sub(1).map(|n| resources.scratch = n),
                };
                stated |= any.is_some();
                let found = outcome(&Schedule { resources, ..schedule.clone() }, programs(&schedule));
                any.is_some() && matches!(found, Err(CheckError::BeyondResources { .. }))
            });
            assert_eq!(tight, stated, "{}: {}", algorithm.name, ["flags", "counters", "scratch"][less]);
        }
    }
}

//! In the algorithms made of deposits a missing rank holds exactly those ranks that need it, as
//! `deposits::participation` says.

use evenkeel_schedule::check::Execution;
use evenkeel_schedule::deposits::{Sources, participation};
use evenkeel_schedule::{Collective, Problem, Rank, Schedule};

/// The listed algorithms that are made of deposits, for a number of ranks.
fn made_of_deposits(ranks: u32) -> Vec<String> {
    let names = [
        "bcast-flat",
        "reduce-flat",
        "gather-flat",
        "scatter-flat",
        "allgather-flat",
        "alltoall-flat",
        "reduce-scatter-flat",
        "scan-flat",
        "exscan-flat",
        "allreduce-simultaneous-broadcast",
        "allreduce-central-counter",
        "allreduce-parts",
        "central-counter",
    ];
    names.into_iter().map(String::from).chain([format!("bcast-flag-tree:r={}", ranks.max(2) - 1)]).collect()
}

/// The ranks that complete an epoch that one rank never enters.
fn complete_without(schedule: &Schedule, missing: Rank) -> Vec<Rank> {
    let all = || (0..schedule.problem.ranks).map(Rank).filter(|rank| *rank != missing);
    let mut execution = Execution::new(schedule, 1);
    loop {
        while let Some(last) = execution.in_flight.len().checked_sub(1) {
            execution.deliver(last);
        }
        let moved = all()
            .filter(|rank| execution.advance(*rank).unwrap_or_else(|e| panic!("{}: {e}", schedule.name())))
            .count();
        if moved == 0 && execution.in_flight.is_empty() {
            return all().filter(|rank| execution.is_done(*rank)).collect();
        }
    }
}

/// How a schedule differs from what `participation` says. None if it agrees.
fn difference(schedule: &Schedule) -> Option<String> {
    let (ranks, root, collective) =
        (schedule.problem.ranks, schedule.problem.root, schedule.algorithm.collective);
    (0..ranks).map(Rank).find_map(|missing| {
        let needs_it = |me| participation(collective, ranks, root, me).needs.includes(me, missing);
        let others = (0..ranks).map(Rank).filter(|me| *me != missing);
        let expected: Vec<Rank> = others.filter(|me| !needs_it(*me)).collect();
        let found = complete_without(schedule, missing);
        (found != expected).then(|| {
            let name = schedule.name();
            format!("{name}, {ranks} ranks, {root:?}, without {missing:?}: {found:?}, not {expected:?}")
        })
    })
}

#[test]
fn a_missing_rank_holds_exactly_the_ranks_that_need_it() {
    for ranks in 1..=9 {
        for name in made_of_deposits(ranks) {
            for root in (0..ranks).map(Rank) {
                let schedule =
                    Schedule::parse(&name, Problem::new(ranks).with_root(root).with_elements(11)).unwrap();
                assert_eq!(difference(&schedule), None);
            }
        }
    }
}

#[test]
fn every_collective_has_an_algorithm_made_of_deposits() {
    let has = |collective| {
        made_of_deposits(4)
            .iter()
            .any(|name| Schedule::parse(name, Problem::new(4)).unwrap().algorithm.collective == collective)
    };
    assert!(Collective::ALL.into_iter().all(has));
}

#[test]
fn trees_hold_other_ranks_too() {
    for name in ["reduce-binomial", "bcast-binomial", "scatter-binomial", "scan-linear"] {
        let schedule = Schedule::parse(name, Problem::new(8)).unwrap();
        // In a chain of scans a rank waits only for ranks that it needs. In a tree it waits for others
        // too.
        assert_eq!(difference(&schedule).is_some(), name != "scan-linear", "{name}");
    }
}

#[test]
fn no_rank_needs_its_own_deposit() {
    assert!(!Sources::AllOthers.includes(Rank(1), Rank(1)) && Sources::AllOthers.includes(Rank(1), Rank(0)));
    assert!(
        Sources::Below(Rank(2)).includes(Rank(2), Rank(1))
            && !Sources::Below(Rank(2)).includes(Rank(2), Rank(2))
    );
}

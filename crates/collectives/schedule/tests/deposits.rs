//! The schedules made of deposits hold exactly those ranks that `deposits::participation` says need the one
//! that does not come.

use evenkeel_schedule::check::Execution;
use evenkeel_schedule::deposits::{Sources, participation};
use evenkeel_schedule::{Collective, Problem, Rank, Schedule};

/// The listed schedules that are made of deposits, for a number of ranks.
fn family(ranks: u32) -> Vec<String> {
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

/// Who comes through an epoch that one rank never enters.
fn through(schedule: &Schedule, missing: Rank) -> Vec<Rank> {
    let all = || (0..schedule.problem.ranks).map(Rank).filter(|rank| *rank != missing);
    let mut machine = Execution::new(schedule, 1);
    loop {
        while let Some(last) = machine.in_flight.len().checked_sub(1) {
            machine.deliver(last);
        }
        let moved = all()
            .filter(|rank| machine.advance(*rank).unwrap_or_else(|e| panic!("{}: {e}", schedule.name())))
            .count();
        if moved == 0 && machine.in_flight.is_empty() {
            return all().filter(|rank| machine.is_done(*rank)).collect();
        }
    }
}

/// What is wrong with a schedule as one of deposits.
fn wrong(schedule: &Schedule) -> Option<String> {
    let (ranks, root, collective) =
        (schedule.problem.ranks, schedule.problem.root, schedule.algorithm.collective);
    (0..ranks).map(Rank).find_map(|missing| {
        let needs_it = |me: Rank| participation(collective, ranks, root, me).needs.includes(me, missing);
        let expected: Vec<Rank> = (0..ranks).map(Rank).filter(|me| *me != missing && !needs_it(*me)).collect();
        let found = through(schedule, missing);
        (found != expected).then(|| format!("{}, {ranks} ranks, root {root:?}, without {missing:?}: {found:?} come through, not {expected:?}", schedule.name()))
    })
}

#[test]
fn a_rank_that_does_not_come_holds_those_that_need_it_and_nobody_else() {
    for ranks in 1..=9 {
        for name in family(ranks) {
            for root in (0..ranks).map(Rank) {
                let schedule =
                    Schedule::parse(&name, Problem::new(ranks).with_root(root).with_elements(11)).unwrap();
                assert_eq!(wrong(&schedule), None);
            }
        }
    }
}

#[test]
fn every_operation_is_in_the_family() {
    let has = |collective| {
        family(4)
            .iter()
            .any(|name| Schedule::parse(name, Problem::new(4)).unwrap().algorithm.collective == collective)
    };
    assert!(Collective::ALL.into_iter().all(has));
}

#[test]
fn trees_and_chains_hold_others_too() {
    for name in ["reduce-binomial", "bcast-binomial", "scatter-binomial", "scan-linear"] {
        let schedule = Schedule::parse(name, Problem::new(8)).unwrap();
        // In a chain of scans whom a rank waits for is whom it needs; in a tree it is not.
        assert_eq!(wrong(&schedule).is_some(), name != "scan-linear", "{name}");
    }
}

#[test]
fn nobody_is_owed_what_it_has() {
    assert!(!Sources::AllOthers.includes(Rank(1), Rank(1)) && Sources::AllOthers.includes(Rank(1), Rank(0)));
    assert!(
        Sources::Below(Rank(2)).includes(Rank(2), Rank(1))
            && !Sources::Below(Rank(2)).includes(Rank(2), Rank(2))
    );
}

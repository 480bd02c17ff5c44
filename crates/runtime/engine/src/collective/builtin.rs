//! What the engine does within a node, in the list of algorithms.
//!
//! Who hands in what, who needs whose and in which order that is combined is said once, in
//! [`evenkeel_schedule::deposits`]: the schedules named here are made of it, and the engine asks it at
//! every call. What the engine adds is how deposits travel ([`crate::collective::deposit`], [`crate::collective::plan`]), and
//! what schedules know nothing of: it counts, keeps the window of operations under way, leaves barriers
//! pending ([`crate::barrier::blocking`]), and lets others combine for whoever is overdue. Each schedule is
//! proved where it is listed, and tests compare who is held by a late rank with it.
//!
//! A long call is cut into instances ([`crate::collective::plan`]): each is one epoch of the schedule, with a slice
//! of the vector as its vector.

use crate::collective::allreduce::SHARED_RESULT;
use crate::collective::call::Kind;
use evenkeel_schedule::{Operation, Problem, Rank, Schedule};

/// The schedule that one instance of a blocking call comes to, for vectors of `bytes`. `root` counts
/// where the operation has one.
pub fn builtin(kind: Kind, ranks: u32, root: Rank, bytes: usize) -> Schedule {
    let pair = ranks == 2;
    let operation = kind.operation();
    let name = match operation {
        // Two exchange flags; more count at one place, and the last tells all.
        Operation::Barrier if pair => "pairwise-exchange".into(),
        Operation::Barrier => "central-counter".into(),
        // One copy that all read, and one flag.
        Operation::Bcast => format!("bcast-flag-tree:r={}", ranks.saturating_sub(1).max(1)),
        Operation::Reduce => "reduce-flat".into(),
        // Two combine for themselves; of more, whoever comes last combines for all, or if it is much, each
        // takes parts.
        Operation::Allreduce if pair => "allreduce-simultaneous-broadcast".into(),
        Operation::Allreduce if bytes <= SHARED_RESULT => "allreduce-central-counter".into(),
        Operation::Allreduce => "allreduce-parts".into(),
        Operation::Gather => "gather-flat".into(),
        Operation::Scatter => "scatter-flat".into(),
        Operation::Allgather => "allgather-flat".into(),
        Operation::Alltoall => "alltoall-flat".into(),
        Operation::ReduceScatter => "reduce-scatter-flat".into(),
        Operation::Scan => "scan-flat".into(),
        Operation::Exscan => "exscan-flat".into(),
    };
    let rooted =
        matches!(operation, Operation::Bcast | Operation::Reduce | Operation::Gather | Operation::Scatter);
    let problem = Problem::new(ranks).with_root(if rooted { root } else { Rank(0) });
    Schedule::named(&name, problem).expect("all are listed, for any number of ranks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_schedule::Order;
    use evenkeel_schedule::check::{Driver, figures, run};

    #[test]
    fn all_are_right_combine_in_the_engines_order_and_hold_nobody_that_is_owed_nothing() {
        for ranks in [1, 2, 3, 5, 16] {
            for root in [0, ranks - 1].map(Rank) {
                for (kind, bytes) in Kind::ALL.into_iter().flat_map(|kind| [(kind, 8), (kind, 1 << 20)]) {
                    let schedule = builtin(kind, ranks, root, bytes);
                    let of = format!("{kind:?} by {}, {ranks} ranks, root {root:?}", schedule.name());
                    run(&schedule, 5, Driver::Prompt).unwrap();
                    let algorithm = schedule.algorithm;
                    assert_eq!(algorithm.operation, kind.operation(), "{of}");
                    let combines = matches!(
                        algorithm.operation,
                        Operation::Reduce
                            | Operation::Allreduce
                            | Operation::ReduceScatter
                            | Operation::Scan
                            | Operation::Exscan
                    );
                    assert_eq!(algorithm.order, if combines { Order::Fold } else { Order::Nothing }, "{of}");
                    let all = || (0..ranks as usize);
                    let needed = |me| {
                        let needs = kind.handing(ranks as usize, root.0 as usize, me).needs;
                        all().filter(|other| needs.includes(Rank(me as u32), Rank(*other as u32))).count()
                    };
                    let found = figures(&schedule).unwrap();
                    let expected = (all().map(needed).min().unwrap(), all().map(needed).max().unwrap());
                    assert_eq!(
                        (found.least_responders as usize, found.responders as usize),
                        expected,
                        "{of}"
                    );
                }
            }
        }
    }
}
